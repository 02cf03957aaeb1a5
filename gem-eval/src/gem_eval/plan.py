"""The way from settings to episodes: the starts, and how often each is played."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from gem import seeding
from gem.episode import Start
from gem.errors import ConfigError, UnknownId
from gem.packs.preflight import check_envs
from gem.packs.registry import get_spec, registry
from gem.packs.spec import EnvSpec
from gem.rollout.rows import start_of_row
from gem_eval.settings import Group

EPISODES = 100
"""Items of an id, unless settings say otherwise."""
MOST_ROWS = 2000
"""Rows of a data set that is played whole, unless settings say otherwise."""
MOST_PLANNED = 1_000_000
"""Most episodes of a group: their starts are in memory, and the number may come from a file of somebody else."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked group: its envs, with all arguments and wrappers, and the start of every episode."""

    group: Group
    specs: dict[str, EnvSpec]
    starts: list[Start]
    notes: list[str]
    """Remarks that may surprise the user."""


def plan(group: Group, seed: int) -> Plan:
    """Check a group, and list its episodes. The k attempts at an item follow each other, and ids take turns.

    More episodes begin with the same ones.

    Args:
        group: with ids, not patterns; see `expand`.
        seed: of the evaluation.

    Raises:
        UnknownId: an id is not registered.
        PackError, SpecError, MissingExtra: see `gem.make`.
        DataUnavailable: see `gem.data.open_table`.
        ConfigError: there are too many episodes, or see `gem.data.open_table`.
    """
    asked = (group.episodes or 1) * group.k * len(group.ids)
    if asked > MOST_PLANNED:
        raise ConfigError(
            f"that would be {asked:,} episodes, and a group has at most {MOST_PLANNED:,}: lower --episodes or --k"
        )
    checked = check_envs(group.ids, group.layers, **group.kwargs).values()
    notes: list[str] = []
    items = [_items(each.spec.id, each.rows, group, seed, notes) for each in checked]
    in_turn = (start for each in itertools.zip_longest(*items) for start in each if start is not None)
    starts = [replace(start, group=attempt) for start in in_turn for attempt in range(group.k)]
    return Plan(group, {each.spec.id: each.spec for each in checked}, starts, notes)


def is_pattern(name: str) -> bool:
    """Tell whether a name is a pattern of ids, such as `game:*-easy`."""
    return ("*" in name or "?" in name) and "://" not in name


def expand(names: Iterable[str]) -> list[str]:
    """Ids and patterns as ids, or `"module.path:Class"`, each once.

    Raises:
        UnknownId: an id is not registered, or a pattern matches none.
    """
    found: dict[str, None] = {}
    for name in names:
        if is_pattern(name):
            source = registry().source_of(name)
            known = registry().entries(source and source.namespace)
            matching = [entry.spec.id for entry in known if fnmatchcase(entry.spec.id, name)]
            if not matching:
                raise UnknownId(f"no installed pack has an id that matches {name!r}; `gemx list` shows every one")
            found |= dict.fromkeys(matching)
        else:
            spec = get_spec(name)
            # The id of "module.path:Class" has underscores for its dots, and finds nothing.
            found[spec.id if registry().registered(spec.id) else spec.entry_point] = None
    return list(found)


def _items(id: str, rows: int | None, group: Group, seed: int, notes: list[str]) -> Sequence[Start]:
    """The items of one id."""
    if rows is None:
        if group.each_row:
            raise ConfigError(f"{id!r} does not ask the rows of one data set, so its rows cannot be played each")
        return [Start(seeding.derive(seed, "run", i), id) for i in range(group.episodes or EPISODES)]
    chosen = range(rows)
    if not group.each_row and (group.episodes is not None or rows > MOST_ROWS):
        wanted = group.episodes or EPISODES
        drawn = np.random.default_rng(seeding.derive(seed, "rows", id)).permutation(rows)[:wanted]
        chosen = [int(index) for index in drawn]
        if group.episodes is None:
            notes.append(f"{id} has {rows:,} rows: {wanted} of them are drawn; --each-row plays all.")
    return [start_of_row(id, index, seed) for index in chosen]
