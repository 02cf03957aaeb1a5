"""Conversion of a reply to the JSON of an action, by a JSON schema."""

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any, cast

from gem.answers.parsing import boxed, fenced_code
from gem.errors import ConfigError

_STANDARD = ("metadata",)


class JsonActions:
    """Conversion of replies to objects of a schema.

    Args:
        schema: the JSON schema of an action.
        field: the field that the reply is; by default the only one, if it is a text or a number.
        samples: replies to draw from, if the schema does not say which there are.

    Raises:
        ConfigError: the schema does not have that field.
    """

    def __init__(self, schema: dict[str, Any], field: str | None = None, samples: Sequence[str] = ()) -> None:
        properties = cast("dict[str, dict[str, Any]]", schema.get("properties", {}))
        fields = {name: each for name, each in properties.items() if name not in _STANDARD}
        if field is None and len(fields) == 1:
            field = next(iter(fields))
        elif field is not None and field not in fields:
            raise ConfigError(f"an action has no field {field!r}; it has {', '.join(fields) or 'none'}")
        described = fields.get(field, {}) if field else {}
        self._field, self._fields, self._type = field, fields, described.get("type")
        if self._type not in ("string", "integer", "number"):
            self._field = field if field and self._type is None and described else None
        self._words = tuple(described["enum"]) if "enum" in described else ()
        self._low, self._high = described.get("minimum"), described.get("maximum")
        self._samples = tuple(samples)
        self.how = self._explain()

    def _explain(self) -> str:
        """Instructions for the answer; nothing if the whole reply is the action."""
        if self._field is None:
            needed = json.dumps(self._fields, ensure_ascii=False)
            return f"Answer with a JSON object that has these fields: {needed}"
        if self._words:
            return f"Answer with one of {', '.join(map(str, self._words))} in \\boxed{{}}."
        if self._type in ("integer", "number"):
            kind = "an integer" if self._type == "integer" else "a number"
            low = "" if self._low is None else f" from {self._low}"
            high = "" if self._high is None else f" up to {self._high}"
            return f"Answer with {kind}{low}{high} in \\boxed{{}}."
        return ""

    def of_reply(self, reply: str) -> dict[str, Any] | None:
        """The action of a reply, or None."""
        if self._field is None:
            return _last_object(reply)
        if not self.how:
            return {self._field: reply}
        found = boxed(reply, self._value)
        if found is None and "\\boxed" not in reply:
            found = self._value(reply)
        return None if found is None else {self._field: found}

    def _value(self, text: str) -> Any:
        text = text.strip()
        if self._words:
            return next((word for word in self._words if str(word).casefold() == text.casefold()), None)
        pattern = r"[+-]?\d{1,18}" if self._type == "integer" else r"[+-]?\d{1,18}(\.\d{0,18})?([eE][+-]?\d{1,2})?"
        if not re.fullmatch(pattern, text, re.ASCII):
            return None
        value = int(text) if self._type == "integer" else float(text)
        within = (self._low is None or value >= self._low) and (self._high is None or value <= self._high)
        return value if within else None

    def sample(self, rng: Random) -> str:
        """A random reply that is an action, as far as the schema or the caller says which there are."""
        if self._samples:
            return rng.choice(self._samples)
        if self._field is None:
            return json.dumps({name: _sample(each, rng) for name, each in self._fields.items()})
        value = _sample(self._fields[self._field], rng)
        return f"\\boxed{{{value}}}" if self.how else str(value)


def _sample(schema: dict[str, Any], rng: Random) -> Any:
    """A random value of a field, with what its schema says of it."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    low = int(schema.get("minimum", 0))
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return rng.randint(low, int(schema.get("maximum", low + 1)))
    return {"boolean": True, "array": [], "object": {}}.get(str(kind), "yes")


def _last_object(reply: str) -> dict[str, Any] | None:
    """The JSON object that a reply is, or that its last code block is, or its last line."""
    for text in (reply, fenced_code(reply) or "", reply.strip().rpartition("\n")[2]):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return None
