"""Wrong answers that look like the right one."""

import re
from collections.abc import Callable, Iterator

from gem.audit.finding import Finding
from gem.audit.form import Form, form_of
from gem.audit.task import Task, first_won, won
from gem.audit.trials import Trial, asked
from gem.testing.subject import Inapplicable

MOST = 12
"""How many questions are asked."""
FEWEST = 4
"""Of fewer questions nothing is said: another answer may be right too."""
ACCEPTED = 0.5
"""The share of questions in which a wrong answer is accepted that says that the grader does not compare."""
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")

Change = Callable[[str], str | None]
"""From a right answer to a wrong one, or None if it cannot be changed in this way."""


def _integer(change: Callable[[int], int]) -> Change:
    return lambda gold: str(change(int(gold))) if _INTEGER.fullmatch(gold) and change(int(gold)) != int(gold) else None


def _number(change: Callable[[str], str]) -> Change:
    return lambda gold: change(gold) if _NUMBER.fullmatch(gold) else None


def _text(change: Callable[[str], str]) -> Change:
    return lambda gold: change(gold) if len(gold) >= 6 and not _NUMBER.fullmatch(gold) else None


def _without_last_digit(number: int) -> int:
    return number // 10 if number >= 10 else number


CHANGES: dict[str, Change] = {
    "one more than it": _integer(lambda n: n + 1),
    "one less than it": _integer(lambda n: n - 1),
    "it with another sign": _number(lambda n: n[1:] if n[0] == "-" else f"-{n}" if float(n) else "1"),
    "its digits and one more": _integer(lambda n: 10 * n + 7 if n > 0 else n),
    "it without its last digit": _integer(_without_last_digit),
    "it without its first digit": _integer(lambda n: int(str(n)[1:]) if n >= 10 else n),
    "1% more than it": _integer(lambda n: n + n // 100 if n >= 200 else n),
    "a tenth more than it": _number(
        lambda n: str(round(float(n) * 1.1, 6)) if abs(float(n)) >= 1 else str(float(n) + 0.5)
    ),
    "it and another number": _number(lambda n: f"{n} {float(n) + 1:g}"),
    "another number and it": _number(lambda n: f"{float(n) + 1:g} {n}"),
    "its negation": lambda gold: f"not {gold}",
    "a sentence that denies it": lambda gold: f"It is certainly not {gold}, and I do not know what it is",
    "its first half": _text(lambda gold: gold[: len(gold) // 2].rstrip()),
    "its second half": _text(lambda gold: gold[len(gold) // 2 :].lstrip()),
    "its first letter": _text(lambda gold: gold[0]),
    "it inside other words": _text(lambda gold: f"neither {gold} nor anything else that comes to mind"),
}


def probe(task: Task) -> Iterator[Finding]:
    """The grader does not accept answers that only look like the right one.

    Some questions have several right answers. So a finding is what is accepted in half of the questions, and more
    often than another question's right answer.
    """
    golds = [(episode.seed, form_of(episode.actions[0])) for episode in task.golds[:MOST]]
    golds = [(seed, form) for seed, form in golds if form.kind != "fence"]
    if len(golds) < FEWEST:
        raise Inapplicable("too few right answers are known, or they are programs")
    swapped = asked(task, _of_others(golds))
    chance = won(swapped) / len(swapped) if swapped else 0.0
    for name, change in CHANGES.items():
        trials = [
            Trial(seed, form.with_content(wrong))
            for seed, form in golds
            if (wrong := change(form.content.strip())) is not None and wrong.strip() != form.content.strip()
        ]
        if len(trials) < FEWEST:
            continue
        episodes = asked(task, trials)
        if (share := won(episodes) / len(episodes)) >= ACCEPTED and share >= chance + ACCEPTED / 2:
            first = first_won(episodes)
            yield Finding.of(
                first,
                f"Instead of the right answer {name} wins {won(episodes)} of {len(episodes)} episodes.",
                "Compare the whole answer with the right one: its value if it is a number, or its text.",
            )


def _of_others(golds: list[tuple[int, Form]]) -> list[Trial]:
    """The right answer of another question, for each."""
    return [
        Trial(seed, other.with_content(other.content))
        for (seed, own), (_, other) in zip(golds, golds[1:] + golds[:1], strict=True)
        if own.content != other.content
    ]
