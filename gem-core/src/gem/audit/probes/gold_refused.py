"""Usual spellings of the right answer that are refused."""

import re
from collections.abc import Callable, Iterator

from gem.audit.finding import Finding
from gem.audit.form import Form, form_of
from gem.audit.task import Task, won
from gem.audit.trials import Trial, asked

MOST = 12
"""How many questions are asked."""
REASONING = (
    "Let me think step by step. At first I thought of another answer, but that was wrong.\n\nSo the answer is:\n"
)

Spelling = Callable[[Form], str | None]
"""From a right reply to another spelling of it, or None if it has none."""


def _marked(change: Callable[[str], str]) -> Spelling:
    """A change of the reply, where it says where its answer is."""
    return lambda form: None if form.kind == "bare" else change(form.with_content(form.content))


def _inside(change: Callable[[str], str | None]) -> Spelling:
    def spelled(form: Form) -> str | None:
        content = None if form.kind in ("bare", "fence") else change(form.content)
        return None if content is None else form.with_content(content)

    return spelled


def _integer(change: Callable[[int], str | None]) -> Spelling:
    return _inside(lambda text: change(int(text)) if re.fullmatch("-?[0-9]{1,18}", text) else None)


USUAL: dict[str, Spelling] = {
    "with lines around it": lambda form: f"\n{form.with_content(form.content)}\n\n",
    "with white space around it": lambda form: (
        None if form.kind == "fence" else f"  {form.with_content(form.content)} "
    ),
    "after reasoning": _marked(lambda reply: REASONING + reply),
    "before a full stop": lambda form: f"{form.with_content(form.content)}." if form.kind in ("box", "tags") else None,
    "with spaces inside its box or tags": _inside(lambda text: f" {text} "),
}
"""Spellings that every grader should accept."""
_DOLLARS = _integer(lambda n: f"${n}$")
OF_NUMBERS: dict[str, Spelling] = {
    "with a comma between thousands": _integer(lambda n: f"{n:,}" if abs(n) >= 1000 else None),
    "between dollar signs, in its box": lambda form: _DOLLARS(form) if form.kind == "box" else None,
}
"""Spellings that a grader accepts that reads numbers: one that accepts 12.0 for 12."""
_SAME_VALUE = _integer(lambda n: f"{n}.0")
_OTHER_VALUE = _integer(lambda n: f"{n}.07")


def probe(task: Task) -> Iterator[Finding]:
    """The right answer is accepted in the spellings that agents use."""
    golds = [(episode.seed, form_of(episode.actions[0])) for episode in task.golds[:MOST]]
    same, other = (asked(task, _trials(golds, spelling)) for spelling in (_SAME_VALUE, _OTHER_VALUE))
    reads_numbers = bool(same) and won(same) == len(same) and not won(other)
    for name, spelling in (USUAL | OF_NUMBERS if reads_numbers else USUAL).items():
        episodes = asked(task, _trials(golds, spelling))
        refused = [episode for episode in episodes if not episode.won]
        if 4 * len(refused) > len(episodes):
            yield Finding.of(
                refused[0],
                f"The right answer {name} is refused in {len(refused)} of {len(episodes)} episodes.",
                "Read the answer with `gem.answers`, and compare numbers by their values.",
            )


def _trials(golds: list[tuple[int, Form]], spelling: Spelling) -> list[Trial]:
    return [Trial(seed, reply) for seed, form in golds if (reply := spelling(form)) is not None]
