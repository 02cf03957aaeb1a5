"""Arguments checked against the JSON schema that a server gives for them, as far as that is cheap and safe.

Schemas of servers are not trusted: a regular expression may take exponential time, references may be circular or
multiply. The server checks its arguments itself, so what cannot be checked here within limits is passed on to it;
what is checked here gives the agent a message without a request.
"""

import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from jsonschema import FormatChecker, validators
from referencing.jsonschema import EMPTY_REGISTRY

from gem.errors import BadArguments

_MOST_PROBLEMS = 5
_LONGEST_PROBLEM = 200
"""Characters: the checker's messages repeat the value in question."""
_LARGEST = 50_000
"""Characters of a schema, or of arguments, as JSON."""
_SECONDS = 0.5
"""Seconds for one check; the time is compared before each keyword."""
_LEFT_TO_SERVER = frozenset(
    ("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "uniqueItems")
)
"""Keywords with regular expressions of the schema or quadratic time; the server checks them."""

_validators: Any = validators
"""The library has types in part only."""

_Keyword = Callable[[Any, Any, Any, Any], Iterable[Any] | None]
_until: ContextVar[float] = ContextVar("_until")


def usable_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` as the schema of a tool: "properties" is an object, and "required" a list of names.

    A schema that is too large for an agent to read is replaced by an empty one.
    """
    if len(json.dumps(schema)) > _LARGEST:
        return {"type": "object", "properties": {}}
    used = {**schema}
    if not isinstance(used.get("properties"), dict):
        used["properties"] = {}
    required = used.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):  # pyright: ignore[reportUnknownVariableType]
        del used["required"]
    return used


def validator_of(schema: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that returns arguments that fit `schema`, and raises `BadArguments` for others.

    Nothing is checked, and the server decides, if the schema is not valid or too large, or if checking takes too long
    or fails, as with a reference that cannot be resolved. Nothing that a schema refers to is fetched.
    """
    if len(json.dumps(schema)) > _LARGEST:
        return dict
    try:
        kind = _validators.validator_for(schema)
        # Without formats: compiling a regular expression may take all memory.
        kind.check_schema(schema, format_checker=FormatChecker(formats=()))
        checker = _bounded(kind)(schema, registry=EMPTY_REGISTRY)  # so nothing is fetched
    except Exception:
        # Not a valid schema: neither our mistake nor the agent's.
        return dict

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = dict(arguments)
        problems: list[Any] = []
        if len(json.dumps(given)) <= _LARGEST:
            _until.set(time.monotonic() + _SECONDS)
            try:
                problems = list(itertools.islice(checker.iter_errors(given), _MOST_PROBLEMS))
            except Exception:
                return given
        if problems:
            raise BadArguments("; ".join(_say(problem.json_path, problem.message) for problem in problems))
        return given

    return validate


def _bounded(kind: Any) -> Any:
    """The same kind of checker, with a time limit and without the keywords that are left to the server."""
    keywords = {name: _timed(name, keyword) for name, keyword in kind.VALIDATORS.items()}
    return _validators.extend(kind, keywords | dict.fromkeys(_LEFT_TO_SERVER, _accept))


def _timed(name: str, keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if time.monotonic() > _until.get():
            raise TimeoutError
        # "additionalProperties" depends on the regular expressions of "patternProperties".
        if name != "additionalProperties" or "patternProperties" not in schema:
            yield from keyword(validator, value, instance, schema) or ()

    return check


def _accept(*_: object) -> None:
    """Accept anything."""


def _say(path: str, message: str) -> str:
    """`$.point.x` and what is wrong there."""
    where = path.removeprefix("$").removeprefix(".")
    short = message if len(message) <= _LONGEST_PROBLEM else f"{message[:_LONGEST_PROBLEM]}…"
    return f"the argument {where!r}: {short}" if where else short
