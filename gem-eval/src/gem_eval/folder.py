"""The folder of an evaluation: `eval.json` (its settings), `episodes.jsonl`, `floors.jsonl` and `summary.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gem.episode.codec import same_json
from gem.errors import ConfigError, RecordError
from gem.files import check_no_links, read_bytes, replacing
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.record import EPISODES_FILE
from gem_eval.settings import Settings
from gem_eval.trust import check_settings

SETTINGS, FLOORS, SUMMARY = "eval.json", "floors.jsonl", "summary.json"
VERSION = 1
"""The version of the settings that this gem-eval writes and reads."""
MOST_BYTES = 2**20
"""Most bytes of settings."""

OPERATIONAL = frozenset(
    {
        *("base_url", "concurrency", "key_variable", "retries", "timeout"),
        *("device", "rows", "max_num_seqs", "kv_cache_gib", "gpu_memory_utilization", "at_once"),
    }
)
"""Settings of a model that do not change what it says, so an evaluation may be resumed with others."""


def identity(model: ComponentRef) -> ComponentRef:
    """A model without the settings that do not change what it says; recordings keep this."""
    name, settings = name_and_settings(model)
    kept = {key: value for key, value in settings.items() if key not in OPERATIONAL}
    return {"name": name, **kept} if kept else name


def read_settings(folder: Path, *, trust: bool = False) -> Settings:
    """Settings of the evaluation in a folder, to continue it.

    Args:
        folder: with `eval.json`.
        trust: whether they may name anything: code, files, addresses; otherwise see `gem_eval.trust`.

    Raises:
        RecordError: there are none, this gem-eval does not read them, or they are not trusted.
    """
    settings = stored_settings(folder)
    if not trust:
        check_settings(settings, folder)
    return settings


def stored_settings(folder: Path) -> Settings:
    """Settings as a folder has them, to be compared or checked: nothing may be built from them before that."""
    path = folder / SETTINGS
    if not path.is_file():
        training = " A run of `gemx train` is resumed by its own command, with --out."
        is_run = (folder / "metrics.jsonl").is_file()
        raise RecordError(f"{folder} does not hold an evaluation: it has no {SETTINGS}.{training if is_run else ''}")
    try:
        content: dict[str, Any] = json.loads(read_bytes(path, MOST_BYTES))
        version = content.pop("gem_eval", None)
        if version != VERSION:
            raise RecordError(f"{path} has version {version!r} of the format, and this gem-eval reads {VERSION}")
        return Settings.model_validate(content)
    except (ValueError, AttributeError, TypeError, RecursionError, ValidationError) as error:
        what = str(error).splitlines()[0]
        raise RecordError(f"{path} does not hold the settings of an evaluation: {what}") from error


def claim(folder: Path, settings: Settings) -> None:
    """Make `folder` that of the evaluation, or find that it is. One that ended before anything was played is made anew.

    Raises:
        ConfigError: it holds something else, another evaluation, or a link.
        RecordError: see `read_settings`.
        OSError: it cannot be written.
    """
    check_no_links(folder)
    if (folder / SETTINGS).is_file():
        difference = _difference(stored_settings(folder), settings)
        if difference is not None and not _ended_empty(folder):
            what, before, now = difference
            raise ConfigError(f"{folder} holds another evaluation ({what}: {before}, not {now}): choose another --out")
    elif found := [each for each in _names_in(folder) if not each.startswith(f".{SETTINGS}.")]:
        raise ConfigError(f"{folder} holds something else ({found[0]}): choose another --out")
    write_json(folder / SETTINGS, {"gem_eval": VERSION, **settings.model_dump()})


def _ended_empty(folder: Path) -> bool:
    """Whether an evaluation has ended without an episode, as with a wrong name of a model: its summary comes last."""
    played = (folder / name for name in (EPISODES_FILE, FLOORS))
    return (folder / SUMMARY).is_file() and not any(each.is_file() and each.stat().st_size for each in played)


def _names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


def _difference(old: Settings, new: Settings) -> tuple[str, str, str] | None:
    """Differences of two evaluations, with both sides. More episodes, attempts or turns are none."""
    pairs: list[tuple[str, Any, Any]] = [
        ("model", identity(old.model), identity(new.model)),
        ("seed", old.seed, new.seed),
        ("groups", _names(old), _names(new)),
    ]
    for before, now in zip(old.groups, new.groups, strict=False):
        of = f" of {now.name}" if now.name else ""
        pairs += [
            (f"ids{of}", before.ids, now.ids),
            (f"wrappers{of}", before.layers, now.layers),
            (f"arguments{of}", before.kwargs, now.kwargs),
        ]
    return next(((what, _shown(one), _shown(two)) for what, one, two in pairs if not same_json(one, two)), None)


def _names(settings: Settings) -> str:
    return ", ".join(group.name for group in settings.groups) or "without names"


def _shown(value: object) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) < 100 else f"{text[:97]}…"


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object in place of what the file has; a program that is killed leaves the one or the other."""
    with replacing(path) as file:
        file.write(json.dumps(value, indent=1, default=repr).encode() + b"\n")
