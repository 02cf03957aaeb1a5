"""The rule for data that may come from somebody else: it names registered things, with their registered settings.

Nothing is downloaded for it either: rows that registered things ask are on this machine already.

Anything else needs the user's word: `--trust`, or, for the model of an evaluation, its settings in the command.
The checks import plugin modules of installed packs, and nothing that the data names.
"""

import reprlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from gem.data.place import is_missing
from gem.data.source import source_of
from gem.episode import Episode
from gem.episode.codec import same_json
from gem.errors import RecordError
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.packs.importing import is_file_path, is_import_path
from gem.packs.lookup import find_offer
from gem.packs.registry import get_spec, registry
from gem.packs.spec import EnvSpec
from gem_eval.plan import expand, is_pattern
from gem_eval.settings import Group, Settings

_MOST_NAMED = 3
_LONGEST_NAME = 300
_PLAIN_TEXTS = {("openai", "model"), ("openai", "system")}
"""Settings of policies, by policy and name, whose text names no file, address or variable."""


def check_episode(record: Episode) -> None:
    """Check that a replay would build what is registered under the recorded id, and nothing else.

    Raises:
        RecordError: the env, its settings or its wrappers are others; the message names the differences.
    """
    _refuse(f"the recording of {reprlib.repr(record.id)}", _of_episode(record))


def check_settings(settings: Settings, folder: Path, named: Collection[str] = ()) -> None:
    """Check that the evaluation in a folder would build what is registered, and asks no address that nobody named.

    Args:
        settings: those of the folder.
        folder: for the message.
        named: settings of the model that the user gave, `"model"` if the model itself was given, `"--reward"`,
            `"--backend"` and `"--cache"`, and `"--role"` if every role was.

    Raises:
        RecordError: something else is named; the message says what.
    """
    advice = "give the model and its settings in this command too (--model, --base-url, --model-arg); or, "
    _refuse(str(folder), _of_model(settings.model, named), advice)
    _refuse(
        str(folder), _of_roles(settings, named), "give the models of roles in this command too (--role, --cache); or, "
    )
    _refuse(str(folder), _of_backend(settings, named), "give the backend in this command too (--backend); or, ")
    _refuse(str(folder), _of_reward(settings, named), "give the reward in this command too (--reward); or, ")
    _refuse(str(folder), _of_groups(settings.groups))


def needs_trust(settings: Settings) -> bool:
    """Tell whether a folder with these settings is resumed only with `--trust`, or with the model in the command."""
    found = (
        _of_model(settings.model, ()),
        _of_roles(settings, ()),
        _of_backend(settings, ()),
        _of_reward(settings, ()),
        _of_groups(settings.groups),
    )
    return any(any(each) for each in found)


def names_in(configuration: Any) -> list[str]:
    """The modules, commands and addresses in a configuration (plain data), which are used as they are.

    A file of configuration is code: these are printed before anything starts.
    """
    found: dict[str, None] = {}

    def look(value: Any, key: str) -> None:
        if isinstance(value, Mapping):
            for name, each in cast("Mapping[str, Any]", value).items():
                look(each, name)
        elif isinstance(value, list | tuple):
            for each in cast("Sequence[Any]", value):
                look(each, key)
        elif isinstance(value, str):
            if key == "command":
                found[f"the command {reprlib.repr(value)}"] = None
            elif "://" in value:
                found[f"the address {value!r:.{_LONGEST_NAME}}"] = None
            elif is_file_path(value):
                found[f"the code in {reprlib.repr(value)}"] = None
            elif is_import_path(value) and registry().registered(value) is None:
                found[f"the code at {reprlib.repr(value)}"] = None

    look(configuration, "")
    return list(found)


def _refuse(what: str, differences: Iterable[str], advice: str = "") -> None:
    try:
        found = list(differences)
    except RecursionError:  # nested brackets, just few enough to be parsed
        found = ["deeply nested settings"]
    if found:
        more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        condition = f"{advice}if it is yours, or you trust its author, pass --trust (in Python trust=True)"
        raise RecordError(
            f"{what} has what only a trusted file may have: {'; '.join(found[:_MOST_NAMED])}{more}. "
            f"{condition[0].upper()}{condition[1:]}"
        )


def _of_episode(record: Episode) -> Iterator[str]:
    """Descriptions of what differs from the registered spec."""
    given = record.spec
    if (address := _address(record.id)) is not None:
        yield address
        return
    entry = registry().registered(record.id)
    if entry is None or given is None:
        # Of a pack that is not installed, nothing is built.
        if given is not None and record.pack is None:
            yield _unregistered(given.entry_point)
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
        if not _is_number(value):
            yield f"the option {reprlib.repr(name)} of its reset, which is not a number"
    yield from _of_rows(spec)


def _of_model(model: ComponentRef, named: Collection[str]) -> Iterator[str]:
    name, own = name_and_settings(model)
    if "model" not in named and find_offer("policy", name) is None:
        yield f"the model {name!r:.{_LONGEST_NAME}}, which no installed pack registers"
    for key, value in own.items():
        if key not in named and not _is_number(value) and not ((name, key) in _PLAIN_TEXTS and isinstance(value, str)):
            yield f"the setting {reprlib.repr(key)} of the model {name!r:.{_LONGEST_NAME}}, {value!r:.{_LONGEST_NAME}}"


def _of_roles(settings: Settings, named: Collection[str]) -> Iterator[str]:
    for model in settings.models.values() if "--role" not in named else ():
        name, own = name_and_settings(model)
        own.pop("prices", None)  # numbers, as settings have been checked
        yield from _of_model({"name": name, **own}, ())
    if settings.cache is not None and "--cache" not in named:
        yield f"the folder {settings.cache!r:.{_LONGEST_NAME}}, where answers would be kept"


def _of_backend(settings: Settings, named: Collection[str]) -> Iterator[str]:
    if settings.backend == "ray" and "--backend" not in named:
        yield "the backend 'ray', which starts programs, or joins those of the machine"


def _of_reward(settings: Settings, named: Collection[str]) -> Iterator[str]:
    if settings.reward is None or "--reward" in named:
        return
    name, own = name_and_settings(settings.reward)
    if find_offer("reward", name) is None:
        yield f"the reward {name!r:.{_LONGEST_NAME}}, which no installed pack registers"
    for key, value in own.items():
        if not _is_number(value):
            yield f"the setting {reprlib.repr(key)} of the reward {name!r:.{_LONGEST_NAME}}, {reprlib.repr(value)}"


def _of_groups(groups: Iterable[Group]) -> Iterator[str]:
    for group in groups:
        for id in group.ids:
            if is_pattern(id):  # it finds registered ids only
                for found in expand([id]):
                    yield from _of_rows(get_spec(found))
            elif (address := _address(id)) is not None:
                yield address
            elif (entry := registry().registered(id)) is None:
                yield _unregistered(id)
            else:
                yield from _of_rows(entry.spec)
        for key, value in group.kwargs.items():
            yield f"the setting {reprlib.repr(key)} of its environments, {reprlib.repr(value)}"
        if group.layers:
            yield f"the wrappers {reprlib.repr(group.layers)}"


def _address(id: str) -> str | None:
    """A description of an id whose source uses the name as it is; None for any other."""
    source = registry().source_of(id)
    if source is None or source.safe:
        return None
    # An address in full, because that is what is trusted or not.
    return f"the environment {id!r:.{_LONGEST_NAME}}, whose name would be used as it is ({source.form})"


def _of_rows(spec: EnvSpec) -> Iterator[str]:
    source = source_of(spec.kwargs["data"]) if spec.kwargs.get("data") else None
    if source and is_missing(source):
        yield f"the environment {spec.id!r}, whose rows would be downloaded (`gemx data {spec.id} --download` does it)"


def _unregistered(path: str) -> str:
    return f"the environment at {reprlib.repr(path)}, which no installed pack registers"


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)
