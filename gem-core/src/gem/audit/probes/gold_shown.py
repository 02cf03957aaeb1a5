"""The gold answer in what the agent can see before it answers."""

import re
from collections.abc import Iterator

from gem import answers
from gem.audit.finding import Finding
from gem.audit.task import Task

SHORTEST = 4
"""Characters of an answer that does not stand in its question by chance, as a number or an option may."""
OFTEN = 0.5
"""The share of questions from which it is no chance."""


def probe(task: Task) -> Iterator[Finding]:
    """The info of a reset does not hold the gold answer, and few questions do."""
    golds = [(episode, answer) for episode in task.golds if len(answer := bare(episode.actions[0])) >= SHORTEST]
    if len(golds) < len(task.golds) / 2:
        return
    in_info = [episode for episode, answer in golds if answer in repr(episode.infos[0])]
    if in_info:
        yield Finding(
            f"The info of the reset holds the gold answer of {len(in_info)} of {len(golds)} questions.",
            "Leave it out, or give it with the last step: infos are recorded, and some are shown to models.",
            in_info[0].seed,
        )


def bare(reply: str) -> str:
    """The answer of a reply without its box, tags or fence."""
    for read in (answers.boxed, answers.tagged, answers.fenced_code):
        if (found := read(reply)) is not None:
            return found.strip()
    return re.sub(r"\s+", " ", reply).strip()
