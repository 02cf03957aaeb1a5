"""Rewards of turns less a penalty for replies that are nearly too long."""

from collections.abc import Iterable
from statistics import fmean

from gem.episode import Episode, Trace


def shaped_rewards(trace: Trace, longest: int, last: int) -> list[float]:
    """The reward of each turn, less the `overlong_penalty` of its reply."""
    return [turn.reward - overlong_penalty(len(turn.completion.ids), longest, last) for turn in trace.turns]


def penalty_metrics(episodes: Iterable[Episode], longest: int, last: int) -> dict[str, float]:
    """The mean `overlong_penalty` of a reply, if there is one."""
    lengths = [len(turn.completion.ids) for episode in episodes for turn in episode.turns]
    return {"overlong_penalty": fmean(overlong_penalty(each, longest, last) for each in lengths or [0])} if last else {}


def overlong_penalty(tokens: int, longest: int, last: int) -> float:
    """DAPO's soft punishment of the length of a reply: 0 until the last tokens before the limit, then linearly up to 1.

    It is ``-R_length`` of *DAPO*, arXiv 2503.14476, equation 13: ``(tokens - (longest - last)) / last`` where that is
    between 0 and 1. (Its third case, above `longest`, does not occur: replies are cut there.)

    Args:
        tokens: in the reply.
        longest: the limit on them.
        last: how many tokens before the limit the penalty begins; with 0 there is none.
    """
    return max(0.0, (tokens - longest + last) / last) if last else 0.0
