"""Return that is had by stopping early, or by doing nothing."""

from collections.abc import Iterator

from gem.audit.chance import wins_above
from gem.audit.finding import Finding
from gem.audit.task import Task, mean_reward, won
from gem.testing.play import PlayedEpisode
from gem.testing.subject import Inapplicable

STOPS = {
    "An empty reply in every turn": "",
    "The reply 'stop' in every turn": "stop",
    "The reply '\\boxed{stop}' in every turn": "\\boxed{stop}",
    "The reply 'I give up.' in every turn": "I give up.",
}


def probe(task: Task) -> Iterator[Finding]:
    """An episode that is given up does not return more than one that is won."""
    best = _well_played(task)
    seeds = [episode.seed for episode in best]
    for name, reply in STOPS.items():
        stopped = task.repeat([reply], seeds)
        pairs = [pair for pair in zip(stopped, best, strict=True) if not pair[0].won]
        more = [stop for stop, other in pairs if stop.reward > other.reward]
        less = sum(stop.reward < other.reward for stop, other in pairs)
        if more and wins_above(len(more), len(more) + less, 0.5):
            yield Finding.of(
                more[0],
                f"{name} returns {mean_reward(stopped):.3g} on average and wins {won(stopped)} of {len(stopped)} "
                f"episodes; playing to the end and winning returns {mean_reward(best):.3g}.",
                "Give the end that the task asks for more than any other, after all that is paid on the way.",
            )
            return


def _well_played(task: Task) -> list[PlayedEpisode]:
    """Won episodes of the expert, else of random play."""
    try:
        episodes = task.by_expert
    except Inapplicable:
        episodes = task.at_random
    best = [episode for episode in episodes if episode.won]
    if not best:
        raise Inapplicable("neither an expert nor random play wins")
    if all(len(episode.actions) == 1 for episode in best):
        raise Inapplicable("the episode is over after one action anyway")
    return best
