"""Resuming a run: the episodes that its recording already contains."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from msgspec.structs import replace

from gem.episode import Episode, PackVersion, Start
from gem.episode.codec import same_json
from gem.packs.component_ref import ComponentRef
from gem.packs.spec import EnvSpec
from gem.record.file import pack_of, policy_of
from gem.rollout.running import turn_limit


class RecordedEpisodes(NamedTuple):
    """The episodes of a run that a file contains."""

    episodes: dict[Start, Episode]
    """The complete ones by their starts. A failed or incomplete one is played again."""
    others: int
    """The number of episodes with another policy, seed, setting or version of the pack."""


def load_recorded(
    recording: Iterable[Episode],
    specs: Iterable[EnvSpec],
    starts: Collection[Start],
    policy: ComponentRef | Mapping[str, ComponentRef],
    max_turns: int | None,
    since: datetime | None = None,
) -> RecordedEpisodes:
    """The episodes of a run that a recording contains.

    Args:
        recording: what `gem.record.read` yields.
        specs: the envs, with all kwargs and wrappers.
        starts: of the episodes of the run, with ids.
        policy: the policy of the run; of a game, player → policy.
        max_turns: the turn limit of the rollout; None for its default.
        since: earlier episodes are ignored, because the weights of the policy have changed.
    """
    found: dict[Start, Episode] = {}
    others = 0
    by_id = {spec.id: spec for spec in specs}
    wanted = {id: _settings(spec, pack_of(id)) for id, spec in by_id.items()}
    asked = set(starts)
    for record in recording:
        if (
            (start := record.start) not in asked
            or _settings(record.spec, record.pack) != wanted[record.id]
            or not all(same_json(trace.policy, policy_of(trace.player, policy)) for trace in record.traces)
            or not _within(record, turn_limit(by_id[record.id], max_turns))
            or (since is not None and (record.started is None or record.started < since))
        ):
            others += 1
        elif (
            record.failure is None
            and (record.turns or record.out_of_context)
            and (record.terminated or record.truncated)
        ):
            found[start] = replace(record, spec=by_id[record.id])
    return RecordedEpisodes(found, others)


def _settings(spec: EnvSpec | None, pack: PackVersion | None) -> str:
    """Everything of an env that an episode depends on, as JSON, where lists and tuples are equal."""
    env = spec and (spec.entry_point, spec.kwargs, spec.max_turns, spec.wrappers)
    named: tuple[Any, ...] = (env, pack and (pack.distribution, pack.version))
    return json.dumps(named, sort_keys=True, default=_plain)


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _within(record: Episode, limit: int) -> bool:
    """Whether the episode would be the same with this turn limit."""
    turns = len(record.turns)
    return turns == limit if record.cut_off and not record.out_of_context else turns <= limit
