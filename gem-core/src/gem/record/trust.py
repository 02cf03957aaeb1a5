"""The allow-list for replaying an untrusted recording.

Allowed are the spec that is registered under the recorded id, with its kwargs and wrappers, and the settings, wrappers
and tools that installed packs declare safe (the hook `gem_safe_settings`). The check imports plugin modules of
installed packs, and nothing that the file names.
"""

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from gem.errors import RecordError, SpecError
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.lookup import find_offer
from gem.packs.registry import Kind, RegistryEntry, registry
from gem.record.format import EpisodeRecord, same_json

_MOST_NAMED = 3

_MULTIPLIES = {
    "gem.wrappers.concat:Concat": "history",
    "gem.wrappers.concat:ConcatWithAction": "history",
    "gem.wrappers.chat:ConcatChat": "history",
    "gem.wrappers.chat:ConcatChatOnReset": "history",
    "gem.wrappers.curriculum:Curriculum": "curriculum",
}
"""Wrappers whose memory multiplies when they are nested: only one of each kind is allowed."""

_LONGEST_NAME = 300

Refusals = Iterator[str]
"""Descriptions of what is not allowed."""

SettingCheck = Callable[[str, Any], Refusals]
"""Checks the value of a setting, given a description of the setting."""


def check_trusted(record: EpisodeRecord) -> None:
    """Check that everything that a replay would build is allowed.

    Raises:
        RecordError: something is not; the message says what.
    """
    try:
        refused = list(_of_record(record))
    except RecursionError:  # nested brackets, just few enough to be parsed
        refused = ["deeply nested settings"]
    if refused:
        more = f"; and {len(refused) - _MOST_NAMED} more" if len(refused) > _MOST_NAMED else ""
        raise RecordError(
            f"the recording of {reprlib.repr(record.id)} contains what only a trusted file may contain: "
            f"{'; '.join(refused[:_MOST_NAMED])}{more}. If you trust its author, pass trust=True, or --trust"
        )


def _of_record(record: EpisodeRecord) -> Refusals:
    source = registry().source_of(record.id)
    if source is not None and not source.safe:
        # An address in full, because that is what is trusted or not.
        yield f"the environment {record.id!r:.{_LONGEST_NAME}}, whose name would be used as it is ({source.form})"
        return
    entry = registry().registered(record.id)
    if entry is None:
        # Otherwise nothing is built.
        if record.entry_point is not None and record.pack is None:
            yield f"the environment at {reprlib.repr(record.entry_point)}, which no installed pack registers"
        return
    spec = entry.spec
    yield from _of_kwargs(entry, record.kwargs)
    # A number chooses a row or a level. A text may name a file.
    for name, value in (record.options or {}).items():
        if not (value is None or isinstance(value, int | float)):
            yield f"the option {reprlib.repr(name)} of its reset, which is not a number"
    # The default of the class would replace a missing setting.
    for name in spec.kwargs.keys() - {*record.kwargs, *_safe_kwargs(entry)}:
        yield f"{spec.id!r} without its setting {name!r}"
    own = len(spec.wrappers)
    if not same_json(record.wrappers[:own], spec.wrappers):
        yield f"{spec.id!r} without the wrappers that its pack puts around it"
    alone = [each for wrapper in record.wrappers[own:] for each in _of_component(entry, "wrapper", wrapper)]
    yield from alone or _of_kinds(record.wrappers)


def _of_kinds(wrappers: Sequence[ComponentRef]) -> Refusals:
    seen: set[str] = set()
    for wrapper in wrappers:
        offer = find_offer("wrapper", name_and_settings(wrapper)[0])
        kind = _MULTIPLIES.get(offer.entry_point) if offer else None
        if kind in seen:
            yield f"a {kind} around another {kind}"
        elif kind:
            seen.add(kind)


def _of_kwargs(entry: RegistryEntry, kwargs: Mapping[str, Any]) -> Refusals:
    own = entry.spec.kwargs
    given = {name: value for name, value in kwargs.items() if name not in own or not same_json(value, own[name])}
    return _of_settings(repr(entry.spec.id), dict.fromkeys(_safe_kwargs(entry), _of_plain), given)


def _safe_kwargs(entry: RegistryEntry) -> set[str]:
    declared = entry.pack.safe_settings.get(entry.spec.entry_point, ()) if entry.pack else ()
    return {*declared, "max_turns"}


def _of_component(entry: RegistryEntry, kind: Kind, component: ComponentRef) -> Refusals:
    """What is not allowed of a wrapper or a tool for the environment of `entry`."""
    try:
        name, settings = name_and_settings(component)
    except SpecError:
        yield f"the {kind} {reprlib.repr(component)}, which has no name"
        return
    offer = find_offer(kind, name)
    if offer is None:
        yield f"the {kind} {reprlib.repr(name)}, which no installed pack offers by that name"
        return
    declared = offer.pack.safe_settings.get(offer.entry_point)
    if declared is None:
        yield f"the {kind} {name!r}, which {offer.pack.distribution} does not declare safe"
        return
    safe: dict[str, SettingCheck] = dict.fromkeys(declared, _of_plain)
    # The two wrappers whose settings contain settings of others.
    if offer.entry_point == "gem.wrappers.tool_env:ToolEnv":
        safe["tools"] = lambda _, tools: _of_tools(entry, tools)
    elif offer.entry_point == "gem.wrappers.curriculum:Curriculum":
        safe["levels"] = lambda _, levels: _of_levels(entry, levels)
    yield from _of_settings(f"the {kind} {name!r}", safe, settings)


def _of_tools(entry: RegistryEntry, tools: Any) -> Refusals:
    try:
        components = as_list(cast("ComponentRef | list[ComponentRef]", tools))
    except SpecError:
        yield f"the tools {reprlib.repr(tools)}"
        return
    for component in components:
        yield from _of_component(entry, "tool", component)


def _of_levels(entry: RegistryEntry, levels: Any) -> Refusals:
    for level in cast("list[object]", levels) if isinstance(levels, list) else [levels]:
        if isinstance(level, Mapping):
            yield from _of_kwargs(entry, cast("Mapping[str, Any]", level))
        else:
            yield f"the level {reprlib.repr(level)}"


def _of_settings(owner: str, safe: Mapping[str, SettingCheck], settings: Mapping[str, Any]) -> Refusals:
    for name, value in settings.items():
        shown = f"the setting {reprlib.repr(name)} of {owner}"
        if name not in safe:
            yield f"{shown}, which its pack does not declare safe"
        else:
            yield from safe[name](shown, value)


def _of_plain(shown: str, value: Any) -> Refusals:
    for each in cast("list[object]", value) if isinstance(value, list) else [value]:
        if not (each is None or isinstance(each, str | int | float)):
            yield f"{shown} with {reprlib.repr(each)}, which is not a plain value"
