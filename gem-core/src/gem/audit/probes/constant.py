"""One reply, given to every question."""

from collections.abc import Iterator

from gem.audit.chance import wins_above, wins_more
from gem.audit.finding import Finding
from gem.audit.task import Task, won
from gem.testing.subject import Inapplicable

LEAST_SHARE = 0.1
"""The share of questions that one answer may have by nature, as small numbers do."""
FEW = 8
"""The most answers of which each should be about as frequent."""
UNEVEN = 1.5
"""How much more often than its equal share one of three or more answers may be right."""


def probe(task: Task) -> Iterator[Finding]:
    """The best single reply wins no more than random play does, and than the share of one of the answers there are."""
    episodes, at_random = task.constant, task.at_random
    options = answers(task)
    # Where there are few, random play may draw the frequent one too, and its share says more.
    if options > FEW and not wins_more(won(episodes), len(episodes), won(at_random), len(at_random)):
        return
    share = max(LEAST_SHARE, min(0.5, UNEVEN / options))
    if not wins_above(won(episodes), len(episodes), share):
        return
    reply = episodes[0].actions[0]
    again = task.repeat([reply], task.seeds(len(episodes), "again"))
    if not wins_above(won(again), len(again), share):
        return
    every = [*episodes, *again]
    first = next(episode for episode in every if episode.won)
    yield Finding(
        f"One reply, {reply!r:.60}, wins {won(every)} of {len(every)} episodes, random play {won(at_random)} of "
        f"{len(at_random)}.",
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
