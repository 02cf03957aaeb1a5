"""Random replies."""

from collections.abc import Iterator

from gem.audit.chance import wins_above
from gem.audit.finding import Finding
from gem.audit.task import Task, first_won, won

CHANCE = 0.6
"""What random replies may win: one of two options, one of which may be more frequent."""


def probe(task: Task) -> Iterator[Finding]:
    """Random play does not win so often that a success rate says little of an agent."""
    episodes = task.at_random
    if wins_above(won(episodes), len(episodes), CHANCE):
        yield Finding.of(
            first_won(episodes),
            f"Random play wins {won(episodes)} of {len(episodes)} episodes.",
            "Make it harder: more options, fewer turns, a higher target; or let `sample_action` be less clever.",
        )
