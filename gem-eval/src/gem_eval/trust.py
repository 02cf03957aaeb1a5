"""The check of an untrusted recording: a replay builds registered specs only, as they are registered.

The check imports plugin modules of installed packs, and nothing that the file names.
"""

import reprlib
from collections.abc import Iterator

from gem.episode import Episode
from gem.episode.codec import same_json
from gem.errors import RecordError
from gem.packs.registry import registry

_MOST_NAMED = 3
_LONGEST_NAME = 300


def check_trusted(record: Episode) -> None:
    """Check that a replay would build what is registered under the recorded id, and nothing else.

    Raises:
        RecordError: the env, its settings or its wrappers are others; the message names the differences.
    """
    try:
        found = list(_differences(record))
    except RecursionError:  # nested brackets, just few enough to be parsed
        found = ["deeply nested settings"]
    if found:
        more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise RecordError(
            f"the recording of {reprlib.repr(record.id)} has what only a trusted file may have: "
            f"{'; '.join(found[:_MOST_NAMED])}{more}. If it is yours, or you trust its author, pass --trust "
            "(in Python trust=True)"
        )


def _differences(record: Episode) -> Iterator[str]:
    """Descriptions of what differs from the registered spec."""
    source = registry().source_of(record.id)
    if source is not None and not source.safe:
        # An address in full, because that is what is trusted or not.
        yield f"the environment {record.id!r:.{_LONGEST_NAME}}, whose name would be used as it is ({source.form})"
        return
    entry, given = registry().registered(record.id), record.spec
    if entry is None or given is None:
        # Of a pack that is not installed, nothing is built.
        if given is not None and record.pack is None:
            yield f"the environment at {reprlib.repr(given.entry_point)}, which no installed pack registers"
        return
    spec = entry.spec
    for name, value in given.kwargs.items():
        if name not in spec.kwargs or not same_json(value, spec.kwargs[name]):
            yield f"the setting {reprlib.repr(name)}, {reprlib.repr(value)}, with which it is not registered"
    # The default of the class would replace a missing setting.
    for name in spec.kwargs.keys() - given.kwargs.keys():
        yield f"the lack of the setting {name!r}"
    if given.max_turns != spec.max_turns:
        yield f"a limit of {given.max_turns} turns, where the registered one is {spec.max_turns}"
    if not same_json(given.wrappers, spec.wrappers):
        yield f"the wrappers {reprlib.repr(list(given.wrappers))}, where the registered ones are {list(spec.wrappers)}"
    # A number chooses a row or a level. A text may name a file.
    for name, value in (record.options or {}).items():
        if not (value is None or isinstance(value, int | float)):
            yield f"the option {reprlib.repr(name)} of its reset, which is not a number"
