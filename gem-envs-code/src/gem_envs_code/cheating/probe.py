"""The cheats of the judge's own suite, as replies to a task about programs."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gem.answers.parsing import fenced_code
from gem.audit import Finding, Task
from gem.core import Env
from gem.testing.play import play, replay_actions
from gem.testing.subject import Inapplicable
from gem_envs_code.cheating import programs
from gem_envs_code.cheating.entry import STDIN, entry_like, example_answers

_FENCE = re.compile(r"^```(?:python|py)\s*$", re.MULTILINE)
_SHOWN = 5


class _Question(NamedTuple):
    """A question that the expert answers with a program."""

    seed: int
    entry: str
    """The end of a program that is asked as that of the expert."""
    answers: tuple[object, object]

    def reply(self, code: str) -> str:
        """The reply with a cheat."""
        return f"```python\n{programs.program(code, self.entry, self.answers)}```"


def probe(task: Task) -> Iterator[Finding]:
    """No cheat wins a question that a program which always says the same does not win.

    Cheats make comparisons true, end the process, replace what a judge uses, look for the answers, or forge verdicts:
    `gem_envs_code.cheating.programs`. Each is tried at a question on standard input and at one about functions, if the
    task has both.
    """
    with task.make() as env:
        for question in _questions(task):
            if _wins(env, question, constant := question.reply("")):
                what = "A program that always gives the answer of the question's example"
                yield _finding(what, question, constant)
                continue
            replies = {"is empty": "```python\n\n```"}
            replies |= {name: question.reply(code) for name, code in {**programs.CLASSIC, **programs.NEW}.items()}
            if winning := [name for name, reply in replies.items() if _wins(env, question, reply)]:
                some = ", one that ".join(winning[:_SHOWN]) + (", …" if len(winning) > _SHOWN else "")
                what = f"{len(winning)} of {len(replies)} programs that cheat (one that {some})"
                yield _finding(what, question, replies[winning[0]])


def _questions(task: Task) -> list[_Question]:
    """A question on standard input, one about functions or classes, or one of each."""
    found: dict[bool, _Question] = {}
    for episode in task.by_expert:
        program = fenced_code(episode.actions[-1]) if episode.won and _FENCE.search(episode.actions[-1]) else None
        if program is not None and len(episode.actions) == 1:
            entry = entry_like(program)
            answers = example_answers(episode.observations[0])
            found.setdefault(entry == STDIN, _Question(episode.seed, entry, answers))
    if not found:
        raise Inapplicable("the expert does not win with a program in Python, in a block that says so")
    return list(found.values())


def _wins(env: Env, question: _Question, reply: str) -> bool:
    return play(env, question.seed, 1, replay_actions([reply])).won


def _finding(what: str, question: _Question, reply: str) -> Finding:
    return Finding(
        f"{what} can win the question of seed {question.seed}.",
        "Keep what is expected out of the program's process, compare outside of it, count only what ends by itself, "
        "and have tests whose answers differ: `gem_envs_code.judge` does.",
        question.seed,
        (reply,),
    )
