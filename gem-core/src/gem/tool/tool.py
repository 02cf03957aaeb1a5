"""`Tool`: a function that an agent can call, and `@tool`, which makes one of a typed function."""

import importlib
import inspect
import math
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from types import MethodType
from typing import Any, Self, cast, overload

from gem.checks import check_int
from gem.errors import BadArguments, ConfigError
from gem.tool.content import Content
from gem.tool.resource import Resource
from gem.tool.schema import Signature, unknown_argument

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Function = Callable[..., Content | Awaitable[Content]]
"""The function behind a tool."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Tool:
    """A function that an agent can call, with its name, its description and a schema of its arguments.

    The function returns text or content parts. It raises `ToolError` to tell the agent that it could not do what was
    asked; any other exception is a fault. `@tool` makes one from a function; construct one directly where the schema is
    known only at run time.

    Args:
        name: letters, digits, `_` and `-`, at most 64.
        description: for the agent.
        parameters: JSON schema of an object.
        function: sync or async; gets the arguments by name, and before them the state of `resource`, if it has one.
        validator: from the agent's arguments to the function's; raises `BadArguments`. By default only the names are
            checked, against `parameters`.
        resource: state of the episode, shared by all tools with the same resource.
        method: the function is a method of a class. Read from an instance, as in `env.look`, the tool is bound to it,
            and is then not a method any more.
        pure: equal arguments always give equal results, so results are cached.
        timeout: seconds for each attempt; a call that takes longer raises `ToolTimeout`.
        max_concurrency: how many calls may run at once.
        retries: how often a call that raised one of `retry_on` is repeated, after pauses that double.
        retry_on: transient faults.

    Raises:
        ConfigError: a setting is out of range.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Function
    validator: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    resource: Resource[Any] | None = None
    method: bool = False
    pure: bool = False
    timeout: float | None = None
    max_concurrency: int | None = None
    retries: int = 0
    retry_on: tuple[type[Exception], ...] = (ConnectionError, TimeoutError)

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ConfigError(f"a tool's name is at most 64 letters, digits, '_' and '-', not {self.name!r}")
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise ConfigError(f"the tool {self.name!r}: timeout is above 0 seconds (or None), not {self.timeout}")
        if self.max_concurrency is not None:
            check_int("max_concurrency", self.max_concurrency, 1)
        check_int("retries", self.retries, 0)
        fault = None
        if (self.resource is not None or self.method) and (self.pure or self.retries):
            fault = "a call may change the state of its resource or env, so it is neither pure nor retried"
        elif self.method and self.max_concurrency is not None:
            fault = "calls of a method on one env never overlap, so max_concurrency is None"
        elif self.method and self.timeout is not None and not inspect.iscoroutinefunction(self.function):
            # A thread could change the instance after the episode has ended.
            fault = "a method with a timeout must be async, because a thread cannot be stopped"
        if fault is not None:
            raise ConfigError(f"the tool {self.name!r}: {fault}")

    @property
    def text_parameter(self) -> str | None:
        """The argument that a call can give as plain text: the only required one, if it is a string."""
        properties: Mapping[str, Any] = self.parameters.get("properties", {})
        required = self.parameters.get("required", list(properties) if len(properties) == 1 else [])
        # A schema may also be `true`, for any value.
        about = properties.get(required[0], True) if len(required) == 1 else True
        if isinstance(about, Mapping) and cast("Mapping[str, Any]", about).get("type") == "string":
            return required[0]
        return None

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function takes them. Raises `BadArguments`, which is for the agent."""
        return (self.validator or self._check_names)(arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Content | Awaitable[Content]:
        """Call the function itself, without checks and limits: after `@tool` it can be called as before."""
        return self.function(*args, **kwargs)

    def __get__(self, instance: object | None, owner: type | None = None) -> Self:
        """A method, read from an instance, is bound to it, as a function in a class is."""
        if instance is None or not self.method:
            return self
        return replace(self, function=MethodType(self.function, instance), method=False)

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        # The function's name now refers to the tool, so pickle must look the tool up by it.
        module = getattr(self.function, "__module__", "")
        name = getattr(self.function, "__qualname__", "")
        with suppress(AttributeError):
            if attrgetter(name)(sys.modules.get(module)) is self:
                return _found, (module, name)
        return super().__reduce_ex__(protocol)

    def _check_names(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        properties: Mapping[str, Any] = self.parameters.get("properties", {})
        for name in self.parameters.get("required", ()):
            if name not in arguments:
                raise BadArguments(f"the argument {name!r} is missing")
        if self.parameters.get("additionalProperties") is False:
            for name in arguments:
                if name not in properties:
                    raise BadArguments(unknown_argument(name, properties))
        return dict(arguments)


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    resource: Resource[Any] | None = None,
    pure: bool = False,
    timeout: float | None = None,
    max_concurrency: int | None = None,
    retries: int = 0,
    retry_on: tuple[type[Exception], ...] = (ConnectionError, TimeoutError),
) -> Callable[[Function], Tool]: ...
def tool(function: Function | None = None, /, **settings: Any) -> Tool | Callable[[Function], Tool]:
    '''Make a `Tool` of a typed function: `@tool`, or `@tool(timeout=5, …)` with the settings of `Tool`.

    ```python
    @tool(pure=True)
    def add(a: int, b: int) -> str:
        """Add two numbers.

        Args:
            a: the first.
            b: the second.
        """
        return str(a + b)
    ```

    The name is the function's, the description is its docstring up to the first section, and the schema comes from
    the types of its arguments and the section "Args:". With a `resource`, the first argument is its state, and the
    agent does not see it. A method of a class, whose first argument is `self`, works on the instance it is read from,
    such as an env (`gem.ToolEnv`).

    Raises:
        ConfigError: the function has no types or description, or a setting is wrong.
    '''

    def make(function: Function) -> Tool:
        if isinstance(function, type) or not callable(function):
            raise ConfigError(f"@tool makes a tool of a function, not of {function!r}: write a function that uses it")
        given = {name: value for name, value in settings.items() if value is not None}
        method = "resource" not in given and next(iter(inspect.signature(function).parameters), None) == "self"
        signature = Signature(function, skip=1 if "resource" in given or method else 0)
        read = {"name": getattr(function, "__name__", ""), "description": signature.description, "method": method}
        made: dict[str, Any] = {**read, **given}
        if not made["description"]:
            raise ConfigError(f"the tool {made['name']!r} has no description: write a docstring, or give description=")
        return Tool(function=function, parameters=signature.parameters, validator=signature.validate, **made)

    return make if function is None else make(function)


def tools_of(owner: object) -> list[Tool]:
    """The tools that are attributes of a class, those of its bases first; of an instance, bound to it."""
    classes = (owner if isinstance(owner, type) else type(owner)).__mro__
    names = {name: None for each in reversed(classes) for name, value in vars(each).items() if isinstance(value, Tool)}
    found = (getattr(owner, name) for name in names)
    return [each for each in found if isinstance(each, Tool)]  # a subclass may have put something else there


def _found(module: str, name: str) -> Tool:
    return attrgetter(name)(importlib.import_module(module))
