"""One reply, given to every question."""

from collections.abc import Iterator

from gem.audit.chance import wins_above, wins_more
from gem.audit.finding import Finding
from gem.audit.task import Task, won
from gem.testing.subject import Inapplicable

LEAST_SHARE = 0.1
"""The share of questions that one answer may have by nature, as small numbers do."""


def probe(task: Task) -> Iterator[Finding]:
    """The best single reply wins no more than random play does, and than the share of one of the answers there are."""
    episodes = task.constant
    wins, share = won(episodes), max(LEAST_SHARE, 1 / answers(task))
    if not wins_above(wins, len(episodes), share) or not wins_more(
        wins, len(episodes), won(task.at_random), len(task.at_random)
    ):
        return
    first = next(episode for episode in episodes if episode.won)
    yield Finding(
        f"One reply, {first.actions[0]!r:.60}, wins {wins} of {len(episodes)} episodes, random play "
        f"{won(task.at_random)} of {len(task.at_random)}.",
        "Draw questions so that all answers are about as frequent, or play against an opponent who adapts.",
        first.seed,
        tuple(first.actions),
    )


def answers(task: Task) -> int:
    """How many right answers there are among the questions."""
    try:
        return len({episode.actions[0] for episode in task.golds})
    except Inapplicable:
        return 1 << 30
