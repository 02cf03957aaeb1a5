"""JSON schemas of the arguments of typed functions, and checks of arguments in JSON."""

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from textwrap import dedent
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from gem.errors import BadArguments, ConfigError, did_you_mean

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Return|Raises|Yields|Examples?|Notes?):\s*$", re.MULTILINE)
_ENTRY = re.compile(r"^(\S[^:\n]*):?(.*(?:\n(?:[ \t].*)?$)*)", re.MULTILINE)
"""`name: text` without indentation; deeper lines continue the text."""
_MOST_PROBLEMS = 5


class _NoTitles(GenerateJsonSchema):
    """pydantic's schema without the titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class Signature:
    """The arguments of a function, as JSON sees them.

    Args:
        function: typed; every argument can be given by name. The arguments' descriptions are read from the section
            "Args:" of its docstring.
        skip: how many of its first arguments the caller does not give.

    Raises:
        ConfigError: an argument has no type or cannot be given by name.
    """

    def __init__(self, function: Callable[..., Any], *, skip: int = 0) -> None:
        name = getattr(function, "__name__", repr(function))
        text, described = read_docstring(inspect.getdoc(function) or "")
        self.description = text
        types = get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters.values())[skip:]
        fields: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        for number, parameter in enumerate(parameters):
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise ConfigError(f"the tool {name}: the argument {parameter.name!r} cannot be given by name")
            if parameter.name not in types:
                raise ConfigError(f"the tool {name}: the argument {parameter.name!r} has no type")
            default = ... if parameter.default is parameter.empty else parameter.default
            # Under a field's own name, an argument called `json` or `copy` would hide a method of the model.
            field = f"argument_{number}"
            # Given as None, it would hide the description of an annotation such as Annotated[int, Field(…)].
            about: dict[str, Any] = {"description": described[parameter.name]} if parameter.name in described else {}
            fields[field] = types[parameter.name], Field(default, alias=parameter.name, **about)
            self._names[field] = parameter.name
        self._model: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        self.parameters = self._model.model_json_schema(schema_generator=_NoTitles)
        self.parameters.pop("title", None)
        self.parameters.pop("description", None)
        self.parameters.setdefault("properties", {})

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, converted to the types of the function: `"5"` is 5 where a number is expected. Raises
        `BadArguments`, which names each that is not valid."""
        try:
            checked = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False, include_input=False)
            raise BadArguments(_message(problems, list(self._names.values()))) from None
        return {self._names[field]: getattr(checked, field) for field in checked.model_fields_set}


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The text of a docstring before its first section, and the descriptions of its section "Args:" by name."""
    before, *sections = _SECTION.split(text)
    described: dict[str, str] = {}
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if title in ("Args", "Arguments", "Parameters"):
            described = {
                head.partition("(")[0].strip().lstrip("*"): re.sub(r"\s*\n\s*", " ", about).strip()
                for head, about in _ENTRY.findall(dedent(body))
            }
    return before.strip(), described


def unknown_argument(name: str, known: Collection[str]) -> str:
    """The answer to a call with an argument that does not exist."""
    takes = ", ".join(known) or "none"
    return f"there is no argument {name!r}.{did_you_mean(name, known)} The arguments are: {takes}"


def _message(problems: Sequence[Any], known: Sequence[str]) -> str:
    messages = [_problem(problem, known) for problem in problems[:_MOST_PROBLEMS]]
    more = len(problems) - len(messages)
    return "; ".join([*messages, f"and {more} more"] if more else messages)


def _problem(problem: Any, known: Sequence[str]) -> str:
    path = [str(part) for part in problem["loc"]]
    where = ".".join(path)
    if problem["type"] == "missing":
        return f"the argument {where!r} is missing"
    if problem["type"] == "extra_forbidden" and len(path) == 1:
        return unknown_argument(where, known)
    message = problem["msg"]
    return f"the argument {where!r}: {message[:1].lower()}{message[1:]}"
