"""The folder of an evaluation: `eval.json` (its settings), `episodes.jsonl`, `floors.jsonl` and `summary.json`.

That of a tournament has `arena.json` for `eval.json`, and no `floors.jsonl`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gem.episode.codec import same_json
from gem.errors import ConfigError, RecordError
from gem.files import check_no_links, read_bytes, replacing
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.record import EPISODES_FILE
from gem_eval.settings import Group, Settings, TournamentSettings
from gem_eval.trust import check_settings

SETTINGS, FLOORS, SUMMARY = "eval.json", "floors.jsonl", "summary.json"
TOURNAMENT = "arena.json"
VERSION = 1
"""The version of the settings that this gem-eval writes and reads."""
MOST_BYTES = 2**20
"""Most bytes of settings."""

Model = TypeVar("Model", bound=BaseModel)

OPERATIONAL = frozenset(
    {
        *("base_url", "concurrency", "key_variable", "retries", "timeout", "prices"),
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
    return _stored(path, Settings, "an evaluation")


def _stored(path: Path, kind: type[Model], what: str) -> Model:
    try:
        content: dict[str, Any] = json.loads(read_bytes(path, MOST_BYTES))
        version = content.pop("gem_eval", None)
        if version != VERSION:
            raise RecordError(f"{path} has version {version!r} of the format, and this gem-eval reads {VERSION}")
        return kind.model_validate(content)
    except (ValueError, AttributeError, TypeError, RecursionError, ValidationError) as error:
        why = str(error).splitlines()[0]
        raise RecordError(f"{path} does not hold the settings of {what}: {why}") from error


def claim(folder: Path, settings: Settings | TournamentSettings) -> None:
    """Make `folder` that of the evaluation or the tournament, or find that it is. One that ended before anything was
    played is made anew.

    Raises:
        ConfigError: it holds something else, another evaluation or tournament, or a link.
        RecordError: see `read_settings`.
        OSError: it cannot be written.
    """
    check_no_links(folder)
    is_evaluation = isinstance(settings, Settings)
    name, kind = (SETTINGS, "evaluation") if is_evaluation else (TOURNAMENT, "tournament")
    if (folder / name).is_file():
        pairs = _of_evaluations(folder, settings) if is_evaluation else _of_tournaments(folder, settings)
        difference = next(((what, old, new) for what, old, new in pairs if not same_json(old, new)), None)
        if difference is not None and not _ended_empty(folder):
            what, before, now = difference
            shown = f"{what}: {_shown(before)}, not {_shown(now)}"
            raise ConfigError(f"{folder} holds another {kind} ({shown}): choose another --out")
    elif found := [each for each in _names_in(folder) if not each.startswith(f".{name}.")]:
        raise ConfigError(f"{folder} holds something else ({found[0]}): choose another --out")
    write_json(folder / name, {"gem_eval": VERSION, **settings.model_dump()})


def _ended_empty(folder: Path) -> bool:
    """Whether an evaluation has ended without an episode, as with a wrong name of a model: its summary comes last."""
    played = (folder / name for name in (EPISODES_FILE, FLOORS))
    return (folder / SUMMARY).is_file() and not any(each.is_file() and each.stat().st_size for each in played)


def _names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


def _of_evaluations(folder: Path, new: Settings) -> Iterator[tuple[str, Any, Any]]:
    """What must be equal in that of a folder and a new one. The numbers of episodes, attempts and turns need not."""
    old = stored_settings(folder)
    yield "model", identity(old.model), identity(new.model)
    yield "reward", old.reward, new.reward
    yield "models of roles", _identities(old.models), _identities(new.models)
    yield "seed", old.seed, new.seed
    yield "groups", _names(old), _names(new)
    for before, now in zip(old.groups, new.groups, strict=False):
        yield from _of_groups(before, now)


def _of_tournaments(folder: Path, new: TournamentSettings) -> Iterator[tuple[str, Any, Any]]:
    """What must be equal, besides the number of games; further policies may be added at the end."""
    old = _stored(folder / TOURNAMENT, TournamentSettings, "a tournament")
    before, now = (list(map(identity, each.policies)) for each in (old, new))
    yield "policies", before, now[: len(before)]
    yield "seed", old.seed, new.seed
    yield from _of_groups(old.game, new.game)


def _of_groups(before: Group, now: Group) -> Iterator[tuple[str, Any, Any]]:
    of = f" of {now.name}" if now.name else ""
    yield f"ids{of}", before.ids, now.ids
    yield f"wrappers{of}", before.layers, now.layers
    yield f"arguments{of}", before.kwargs, now.kwargs


def _identities(models: Mapping[str, ComponentRef]) -> dict[str, ComponentRef]:
    return {role: identity(model) for role, model in models.items()}


def _names(settings: Settings) -> str:
    return ", ".join(group.name for group in settings.groups) or "without names"


def _shown(value: object) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) < 100 else f"{text[:97]}…"


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object in place of what the file has; a program that is killed leaves the one or the other."""
    with replacing(path) as file:
        file.write(json.dumps(value, indent=1, default=repr).encode() + b"\n")
