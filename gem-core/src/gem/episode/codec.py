"""The codec of episodes: a line of JSON in a recording, and plain data for a page.

The types say which fields there are; this module adds what JSON cannot say by itself. msgspec was chosen by measuring
(episodes of seven turns, µs a turn): it writes in 0.20 and reads in 0.38; pydantic takes 0.73 and 1.58, and filling
dicts by hand for the standard library 2.5 to write.
"""

import json
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
from msgspec import structs

from gem.core import Observation
from gem.episode.episode import Episode
from gem.episode.turn import Turn
from gem.errors import RecordError
from gem.packs.component_ref import ComponentRef

VERSIONS = (1, 2)
"""The versions of the format that this gem-core reads; it writes the last one."""

PREFIXES = tuple(f'{{"gem_record":{space}{version},'.encode() for version in VERSIONS for space in ("", " "))
"""The beginnings of a line."""

SUGGESTIONS = frozenset({"sample_action", "expert_action"})
"""Keys of an `info` that are not recorded: results of `info_methods`."""


class _Built(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The fields of an `EnvSpec` from which an env is built: those that are recorded."""

    id: str
    entry_point: str
    kwargs: dict[str, Any] = {}
    max_turns: int | None = None
    wrappers: tuple[ComponentRef, ...] = ()


def encode(episode: Episode) -> bytes:
    """A line of ASCII or UTF-8 with its end: NaN and Infinity as in Python's `json`.

    Values in an `info` that are not JSON are left out.

    Raises:
        RecordError: the kwargs of the env, its options, the labels or an observation are not JSON.
    """
    _check(episode)
    episode = _built(episode)
    try:
        line = _ENCODER.encode(episode)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return _encoded_slowly(episode)
    # msgspec writes null for NaN as well as for None.
    return _encoded_slowly(episode) if b"null" in line else line + b"\n"


def decode(line: bytes, where: str) -> Episode:
    """The episode in a line.

    Raises:
        RecordError: there is none, or one of another version; the message begins with `where`.
    """
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass  # another version, or what only Python's `json` reads, such as NaN; or it is said below what is wrong
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:  # the latter for thousands of nested brackets
        raise RecordError(f"{where}: this is not JSON: {error}") from error
    return from_json(content, where)


def to_json(episode: Episode) -> dict[str, Any]:
    """The episode as plain data; NaN and Infinity stay numbers."""
    return msgspec.to_builtins(_jsonable(_built(episode)), enc_hook=_to_plain, str_keys=True)


def from_json(content: object, where: str) -> Episode:
    """The episode in plain data, of any version.

    Raises:
        RecordError: see `decode`.
    """
    if not isinstance(content, dict) or "gem_record" not in content:
        raise RecordError(f"{where}: this is not an episode that gem-core recorded")
    fields = cast("dict[str, Any]", content)
    if fields["gem_record"] not in VERSIONS:
        raise RecordError(
            f"{where}: this episode has version {fields['gem_record']!r} of the format, and this gem-core reads the "
            f"versions {' and '.join(map(str, VERSIONS))}: upgrade gem-core"
        )
    try:
        if fields["gem_record"] == 1:
            fields = _from_version_1(fields)
        return msgspec.convert(fields, Episode)
    except (msgspec.ValidationError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise RecordError(f"{where}: {' '.join(str(error).split())}") from error


def content_of(observation: object) -> Observation:
    """An observation as it is recorded.

    Raises:
        RecordError: it is neither text nor a list of content parts, or it is not JSON.
    """
    if isinstance(observation, str):
        return observation
    if isinstance(observation, list):
        parts = cast("list[object]", observation)
        content = [dict(cast("Mapping[str, Any]", part)) for part in parts if isinstance(part, Mapping)]
        if len(content) == len(parts) and _is_json(content):
            return cast("Observation", content)
    shown = reprlib.repr(cast("object", observation))
    raise RecordError(f"an observation must be text or a list of content parts in JSON, not {shown}")


def same_json(one: object, other: object) -> bool:
    """Whether two values are equal as JSON: a list equals a tuple, 0.0 is not -0.0, and NaN equals NaN."""
    return json.dumps(one, sort_keys=True, default=repr) == json.dumps(other, sort_keys=True, default=repr)


def _to_plain(value: Any) -> Any:
    """A value that msgspec does not know, in types that it does."""
    for plain in (str, int, float, list, dict):  # a number of NumPy is a float
        if isinstance(value, plain):
            return cast("Callable[[Any], Any]", plain)(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _encoded_slowly(episode: Episode) -> bytes:
    return json.dumps(to_json(episode), separators=(",", ":")).encode() + b"\n"


def _check(episode: Episode) -> None:
    """Refuse what cannot be read back as it is; msgspec would write a set as a list."""
    if episode.spec and episode.spec.kwargs and not _is_json(kwargs := dict(episode.spec.kwargs)):
        raise RecordError(
            f"{episode.id!r} cannot be recorded, because it could not be rebuilt: its kwargs are not JSON: {kwargs!r}"
        )
    if episode.labels and not _is_json(episode.labels):
        raise RecordError(f"labels of an episode must be JSON, not {episode.labels!r}")
    if episode.options and not _is_json(episode.options):
        raise RecordError(f"{episode.id!r} cannot be recorded: its reset has options that are not JSON")


def _built(episode: Episode) -> Episode:
    """The episode with what its env is built from. Settings of wrappers that are not JSON are only described."""
    if (spec := episode.spec) is None:
        return episode
    wrappers = tuple(each if _is_json(each) else repr(each) for each in spec.wrappers)
    built: Any = _Built(spec.id, spec.entry_point, dict(spec.kwargs), spec.max_turns, wrappers)
    return structs.replace(episode, spec=built)


def _jsonable(episode: Episode) -> Episode:
    """The episode without what is not JSON in its infos."""
    shown = structs.replace(episode, observation=content_of(episode.observation))
    return shown.each_trace(lambda trace: structs.replace(trace, turns=tuple(map(_jsonable_turn, trace.turns))))


def _jsonable_turn(turn: Turn) -> Turn:
    info = {name: json.loads(json.dumps(value)) for name, value in turn.info.items() if _is_json(value)}
    return structs.replace(turn, observation=content_of(turn.observation), reward=float(turn.reward), info=info)


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _from_version_1(old: dict[str, Any]) -> dict[str, Any]:
    """The fields of an episode of version 1, which had one player and no `traces`."""
    new = {name: value for name, value in old.items() if value is not None}
    turns = [_turn_from_version_1(dict(turn)) for turn in new.pop("turns")]
    trace = {"turns": turns, **({"policy": new.pop("policy")} if "policy" in new else {})}
    spec = {"id": old["id"], **{name: new.pop(name) for name in _Built.__struct_fields__[1:] if name in new}}
    if failure := new.pop("failure", None):
        action = failure.pop("action")
        new |= {"failure": failure, **({} if action is None else {"failed_on": {"text": action}})}
    if "entry_point" in spec:
        new["spec"] = spec
    return {**new, "gem_record": VERSIONS[-1], "traces": [trace]}


def _turn_from_version_1(turn: dict[str, Any]) -> dict[str, Any]:
    kept = {name: turn.pop(name) for name in ("observation", "reward", "info")}
    return {**kept, "completion": {"text": turn.pop("action"), **turn}}  # all else told of the reply


_ENCODER = msgspec.json.Encoder(enc_hook=_to_plain)
_DECODER = msgspec.json.Decoder(Episode)
