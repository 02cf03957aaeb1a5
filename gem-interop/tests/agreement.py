"""What holds of every framework that trains on episodes of GEM, as assertions over at least fifty of them.

Of each framework a test collects `Trained` rows, which is what its loss is computed from, and the session's results.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import gem
from gem.episode.segments import Segment
from gem_interop.session import Result


@dataclass
class Trained:
    """What a framework trains on for an episode, as its loss gets it, without padding."""

    ids: list[int]
    """Prompt and response."""
    mask: list[int]
    """Of each id of the response, 1 if it is trained."""
    logprobs: list[float]
    """Of the same ids, recomputed by the model that is trained, before its weights change."""
    advantage: float | None = None
    """What the framework makes of the rewards, where it has one for an episode."""


def assert_what_was_read_and_said_is_trained(
    rows: Sequence[Trained], results: Sequence[Result], tolerance: float = 2e-5
) -> list[tuple[Trained, Result]]:
    """Ids read are ids trained on, the mask is what was sampled, and log-probabilities are those at sampling.

    Rows may have another order than the episodes. A row of no episode, such as that of a failed one, trains nothing.
    An episode with several segments has as many rows.

    Returns:
        The rows with their episodes.
    """
    waiting = [(segment, result) for result in results for segment in result.segments]
    pairs: list[tuple[Trained, Result]] = []
    for row in rows:
        index = next((index for index, (segment, _) in enumerate(waiting) if row.ids == all_ids(segment)), None)
        if index is None:
            assert not any(row.mask), "ids are trained that no episode has"
            continue
        segment, result = waiting.pop(index)
        assert row.mask == list(segment.mask)
        sampled = [number for number, mask in enumerate(segment.mask) if mask]
        again = [row.logprobs[number] for number in sampled]
        assert again == pytest.approx([segment.logprobs[number] for number in sampled], abs=tolerance, rel=0)
        pairs.append((row, result))
    assert not waiting, f"{len(waiting)} segments were not trained on as they were read and said"
    assert len(pairs) >= 50
    # What a segment masks in is what the policy said, turn by turn.
    for result in results:
        trained = [id for each in result.segments for id, on in zip(each.response_ids, each.mask, strict=True) if on]
        said = [id for turn in result.episode.turns for id in turn.completion.ids]
        assert result.failure is not None or trained == said
    return pairs


def all_ids(segment: Segment) -> list[int]:
    return [*segment.prompt_ids, *segment.response_ids]


def assert_returns_are_those_of_a_replay(results: Sequence[Result], id: str = "interop_envs:Talk") -> None:
    """Each episode, played again from its seed with what was said, has the same return, end and success."""
    played = [result for result in results if result.failure is None]
    assert played
    for result in played:
        env = gem.make(id)
        env.reset(seed=result.episode.seed)
        steps = [env.step(turn.action) for turn in result.episode.turns]
        assert sum(step.reward for step in steps) == pytest.approx(result.total_reward)
        assert (steps[-1].done, steps[-1].info["success"]) == (True, result.success)


def assert_failed_episodes_are_left_out_of_their_groups(pairs: Sequence[tuple[Trained, Result]]) -> None:
    """Advantages compare an episode with those of its group that did not fail: a failed one is not a 0 among them.

    For frameworks whose advantage of an episode is its return above the mean of its group, with or without a factor.
    """
    groups: dict[int, list[tuple[float, float]]] = {}
    for row, result in pairs:
        assert row.advantage is not None
        assert result.total_reward is not None
        groups.setdefault(result.episode.seed, []).append((result.total_reward, row.advantage))
    compared = 0
    for group in groups.values():
        mean = sum(reward for reward, _ in group) / len(group)
        others = [(reward, advantage) for reward, advantage in group if abs(reward - mean) > 1e-6]
        assert all((reward > mean) == (advantage > 1e-6) for reward, advantage in others)
        compared += len(others)
    assert compared >= 10
