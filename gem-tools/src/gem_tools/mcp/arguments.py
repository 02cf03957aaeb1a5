"""Arguments held against the JSON schema that a server gives for them."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry

from gem.errors import BadArguments

_MOST_PROBLEMS = 5
_LONGEST_PROBLEM = 200
"""Characters: a message of the schema's checker repeats the value that it is about."""


def validator_of(schema: dict[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that gives back arguments that fit `schema`, and raises `BadArguments` for others.

    Where the schema itself is none, nothing is checked: what does not fit is then for the server to say. Nothing that
    a schema refers to is fetched.
    """
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError:
        return dict
    checker = kind(schema, registry=Registry())

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        problems = list(itertools.islice(checker.iter_errors(dict(arguments)), _MOST_PROBLEMS))
        if problems:
            raise BadArguments("; ".join(_say(problem.json_path, problem.message) for problem in problems))
        return dict(arguments)

    return validate


def _say(path: str, message: str) -> str:
    """`$.point.x` and what is wrong there."""
    where = path.removeprefix("$").removeprefix(".")
    short = message if len(message) <= _LONGEST_PROBLEM else f"{message[:_LONGEST_PROBLEM]}…"
    return f"the argument {where!r}: {short}" if where else short
