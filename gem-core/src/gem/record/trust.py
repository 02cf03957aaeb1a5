"""What a recording that somebody else wrote may have built: what is on a list, and nothing else.

On the list are the spec that is registered today under the recorded id, with its own kwargs and wrappers, and those
settings, wrappers and tools that installed packs call safe with data (the hook `gem_safe_settings`). Looking it up
imports plugin modules of installed packs, and nothing that a file names.
"""

import json
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from gem.errors import RecordError, SpecError
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.lookup import find_offer
from gem.packs.registry import Kind, RegistryEntry, registry
from gem.record.format import EpisodeRecord

_MOST_NAMED = 3

_MULTIPLIES = {
    "gem.wrappers.concat:Concat": "history",
    "gem.wrappers.concat:ConcatWithAction": "history",
    "gem.wrappers.chat:ConcatChat": "history",
    "gem.wrappers.chat:ConcatChatOnReset": "history",
    "gem.wrappers.curriculum:Curriculum": "curriculum",
}
"""What costs a multiple around another of its kind: few lines of a file would use up the machine's memory."""

Refusals = Iterator[str]
"""What is not on the list, in words."""

SettingCheck = Callable[[str, Any], Refusals]
"""From a setting, in words, and its value to what of it is not on the list."""


def check_trusted(record: EpisodeRecord) -> None:
    """Check that everything that a replay would build is on the list.

    Raises:
        RecordError: something is not; the message says what.
    """
    try:
        refused = list(_of_record(record))
    except RecursionError:  # brackets in brackets, just few enough to be read
        refused = ["settings in settings in settings, and so on"]
    if refused:
        more = f"; and {len(refused) - _MOST_NAMED} more" if len(refused) > _MOST_NAMED else ""
        raise RecordError(
            f"the recording of {reprlib.repr(record.id)} asks for what only a trusted file may have: "
            f"{'; '.join(refused[:_MOST_NAMED])}{more}. If you trust whoever wrote it, say so: trust=True, or --trust"
        )


def _of_record(record: EpisodeRecord) -> Refusals:
    entry = registry().registered(record.id)
    if entry is None:
        # Without an entry point, and of a pack that does not have the id, nothing is built at all.
        if record.entry_point is not None and record.pack is None:
            yield f"the environment at {reprlib.repr(record.entry_point)}, which no installed pack registers"
        return
    spec = entry.spec
    yield from _of_kwargs(entry, record.kwargs)
    # The class's default takes the place of what is missing.
    for name in spec.kwargs.keys() - {*record.kwargs, *_safe_kwargs(entry)}:
        yield f"{spec.id!r} without its setting {name!r}"
    own = len(spec.wrappers)
    if not _same(record.wrappers[:own], spec.wrappers):
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
    given = {name: value for name, value in kwargs.items() if name not in own or not _same(value, own[name])}
    return _of_settings(repr(entry.spec.id), dict.fromkeys(_safe_kwargs(entry), _of_plain), given)


def _safe_kwargs(entry: RegistryEntry) -> set[str]:
    declared = entry.pack.safe_settings.get(entry.spec.entry_point, ()) if entry.pack else ()
    return {*declared, "max_turns"}


def _of_component(entry: RegistryEntry, kind: Kind, component: ComponentRef) -> Refusals:
    """What is not on the list of a wrapper, or a tool, around the environment of `entry`."""
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
        yield f"the {kind} {name!r}, which {offer.pack.distribution} does not call safe with data"
        return
    safe: dict[str, SettingCheck] = dict.fromkeys(declared, _of_plain)
    # The core's own two whose settings hold settings of others.
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
            yield f"{shown}, which its pack does not call safe with data"
        else:
            yield from safe[name](shown, value)


def _of_plain(shown: str, value: Any) -> Refusals:
    for each in cast("list[object]", value) if isinstance(value, list) else [value]:
        if not (each is None or isinstance(each, str | int | float)):
            yield f"{shown} with {reprlib.repr(each)}, which is not a plain value"


def _same(one: object, other: object) -> bool:
    """Whether two values are the same as JSON: a recorded list is the tuple that a pack registered."""
    return json.dumps(one, sort_keys=True, default=repr) == json.dumps(other, sort_keys=True, default=repr)
