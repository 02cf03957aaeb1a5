"""The question as the reply."""

from collections.abc import Iterator

from gem.audit.cheats import Cheat, winning
from gem.audit.finding import Finding
from gem.audit.task import Task


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


CHEATS: dict[str, Cheat] = {
    "The observation itself": lambda text: text,
    "The observation in a box": lambda text: f"\\boxed{{{text}}}",
    "The observation in answer tags": lambda text: f"<answer>{text}</answer>",
    "The observation in a code block": lambda text: f"```\n{text}\n```",
    "The last line of the observation": _last_line,
    "The last line of the observation in a box": lambda text: f"\\boxed{{{_last_line(text)}}}",
}


def probe(task: Task) -> Iterator[Finding]:
    """A reply that repeats the question does not win."""
    for found in winning(task, CHEATS):
        yield Finding.of(
            found.first,
            f"{found.name}, as the reply, wins {found.won} of {len(found.episodes)} episodes.",
            "Do not look for the answer anywhere in a reply: read it from a box, tags or the last line.",
        )
