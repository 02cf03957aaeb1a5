"""Replies without content: they must not win."""

from collections.abc import Iterator

from gem.audit.finding import Finding
from gem.audit.task import Task, won

REPLIES = {"An empty reply": "", "White space": " \n", "A full stop": "."}


def probe(task: Task) -> Iterator[Finding]:
    """Silence wins no episode.

    Of the airline tasks of tau-bench, doing nothing passes many.
    """
    for name, reply in REPLIES.items():
        episodes = task.repeat([reply])
        if winning := [episode for episode in episodes if episode.won]:
            yield Finding.of(
                winning[0],
                f"{name}, in every turn, wins {won(episodes)} of {len(episodes)} episodes.",
                "Ask for something that the agent must do, and leave out starts that are solved already.",
            )
