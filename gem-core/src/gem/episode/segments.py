"""What an episode's tokens are: the one place that says so, for training of ours and of others.

An episode is one sequence of ids: what the engine read, with what it sampled in between. Where a chat template changed
earlier messages, the engine read anew from the beginning, and a new segment begins.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gem.episode import Turn


@dataclass(frozen=True, slots=True)
class Segment:
    """Ids that an engine read and sampled in one context. The fields after the first have equal lengths."""

    prompt_ids: tuple[int, ...]
    """What was read before the first sampled id."""
    response_ids: tuple[int, ...]
    """What follows: sampled ids, and between two replies what was read."""
    mask: tuple[int, ...]
    """1 for each id of the response that the model sampled, 0 for those it read."""
    logprobs: tuple[float, ...]
    """Of each sampled id when it was sampled; 0 for those that were read."""
    rewards: tuple[float, ...]
    """The reward of each turn on the last id of its reply, 0 elsewhere. Those of all segments sum to the return, if
    anything was said."""
    turns: tuple[int, ...]
    """The number of the turn that each sampled id belongs to; -1 for those that were read."""


def segments_of(turns: Iterable[Turn]) -> tuple[Segment, ...]:
    """The segments of an episode whose completions have ids.

    A reply without ids, which was not even ended by one, has its reward on the id before it: on the last one of an
    earlier segment, if nothing else was said in its own. Without one before it, that is the first one after it.
    """
    parts = list(_in_segments(turns))
    segments = [_segment(part) for part in parts]
    spoken = [place for place, segment in enumerate(segments) if segment.response_ids]
    for place, part in enumerate(parts):
        if spoken and not segments[place].response_ids:
            before = [each for each in spoken if each < place]
            nearest, id = (before[-1], -1) if before else (spoken[0], 0)
            rewards = list(segments[nearest].rewards)
            rewards[id] += math.fsum(turn.reward for _, turn in part)
            segments[nearest] = replace(segments[nearest], rewards=tuple(rewards))
    return tuple(segments)


def _in_segments(turns: Iterable[Turn]) -> Iterator[list[tuple[int, Turn]]]:
    """The turns with their numbers, in one list per segment."""
    segment: list[tuple[int, Turn]] = []
    for numbered in enumerate(turns):
        if numbered[1].completion.new_segment and segment:
            yield segment
            segment = []
        segment.append(numbered)
    if segment:  # an episode may end before its first turn
        yield segment


def _segment(turns: list[tuple[int, Turn]]) -> Segment:
    prompt = turns[0][1].completion.prompt_ids
    ids: list[int] = []
    logprobs: list[float] = []
    numbers: list[int] = []
    rewards: list[tuple[int, float]] = []
    for number, turn in turns:
        said = turn.completion
        read = said.prompt_ids if turn is not turns[0][1] else ()
        ids += read
        ids += said.ids
        logprobs += [0.0] * len(read)
        logprobs += said.logprobs or [0.0] * len(said.ids)
        numbers += [-1] * len(read)
        numbers += [number] * len(said.ids)
        rewards.append((max(len(ids) - 1, 0), turn.reward))
    placed = [0.0] * len(ids)
    for place, reward in rewards:
        if ids:
            placed[place] += reward
    mask = tuple(int(number >= 0) for number in numbers)
    return Segment(prompt, tuple(ids), mask, tuple(logprobs), tuple(placed), tuple(numbers))
