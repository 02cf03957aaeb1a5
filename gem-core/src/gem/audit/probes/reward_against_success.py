"""Episodes that fail and return as much as those that succeed."""

from collections.abc import Iterator
from contextlib import suppress

from gem.audit.finding import Finding
from gem.audit.task import Task, mean_reward
from gem.testing.subject import Inapplicable

LEAST = 5
"""Episodes of each kind."""


def probe(task: Task) -> Iterator[Finding]:
    """A lost episode rarely returns as much as a won one."""
    players = {"Random play": task.at_random}
    with suppress(Inapplicable):
        players["The expert"] = task.by_expert
    best = [episode for episodes in players.values() for episode in episodes if episode.won]
    if len(best) < LEAST:
        raise Inapplicable("too few episodes are won")
    if all(len(episode.actions) == 1 for episodes in players.values() for episode in episodes):
        players["An empty reply"] = task.repeat([""])
    for name, episodes in players.items():
        lost = [episode for episode in episodes if episode.ended and not episode.won]
        pairs = [one.reward >= other.reward for one in lost for other in best]
        if len(lost) >= LEAST and 2 * sum(pairs) > len(pairs):
            most = max(lost, key=lambda episode: episode.reward)
            yield Finding.of(
                most,
                f"{name} fails {len(lost)} episodes with a return of {mean_reward(lost):.3g} on average; {len(best)} "
                f"won ones return {mean_reward(best):.3g}. In {sum(pairs) / len(pairs):.0%} of pairs the failed one "
                "returns as much.",
                "Let the reward and info['success'] say the same: trainers learn from one only.",
            )
            return
