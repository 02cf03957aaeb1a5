"""One reply, given to every question."""

from collections.abc import Iterator

from gem.answers import read_number
from gem.audit.chance import wins_above, wins_more
from gem.audit.finding import Finding
from gem.audit.form import form_of
from gem.audit.task import Task, first_won, won
from gem.testing.subject import Inapplicable

FEW = 8
"""The most answers, other than numbers, of which each should be about as frequent."""
UNEVEN = 1.5
"""How much more often than its equal share one of several such answers may be right; one of two may be in `OF_TWO`."""
OF_TWO = 0.6
COMMON = 0.25
"""The share of questions that any other answer may have by nature, as small numbers do."""
AGAIN = 120
"""The further episodes by which a reply that seems to win too often is judged."""


def probe(task: Task) -> Iterator[Finding]:
    """The best single reply wins no more than random play does, and than the share of one of the answers there are."""
    episodes, at_random = task.constant, task.at_random
    options = answers(task)
    few = 1 < len(options) <= FEW and not any(read_number(each) is not None for each in options)
    # Where there are few, random play may draw the frequent one too, and its share says more.
    if not few and not wins_more(won(episodes), len(episodes), won(at_random), len(at_random)):
        return
    share = COMMON if not few else OF_TWO if len(options) == 2 else UNEVEN / len(options)
    if won(episodes) <= share * len(episodes):
        return
    reply = episodes[0].actions[0]
    every = [*episodes, *task.repeat([reply], task.seeds(AGAIN, "again"))]
    if not wins_above(won(every), len(every), share):
        return
    yield Finding.of(
        first_won(every),
        f"One reply, {reply!r:.60}, wins {won(every)} of {len(every)} episodes, random play {won(at_random)} of "
        f"{len(at_random)}.",
        "Draw questions so that all answers are about as frequent, or play against an opponent who adapts.",
    )


def answers(task: Task) -> set[str]:
    """The right answers to the questions, without their boxes; none if there is no single right reply."""
    try:
        return {form_of(episode.actions[0]).content for episode in task.golds}
    except Inapplicable:
        return set()
