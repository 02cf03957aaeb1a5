"""Generated problems: what one is, how its answer is read and graded, and the base class of the environments."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from gem.answers.number import read_number
from gem.answers.parsing import boxed
from gem.core import Observation, Step
from gem.dataset_env import QuestionEnv
from gem.errors import ConfigError, did_you_mean
from gem_envs_math.counted import Number, steps_of
from gem_envs_math.figures import Figure
from gem_envs_math.notation import in_a_box, written

DIFFICULTIES = ("easy", "medium", "hard")

Answer = Fraction | tuple[Fraction, ...] | str
"""One number, several, or the text of an expression."""


class Form(NamedTuple):
    """The form of an answer: in words, with an example."""

    words: str
    example: str


INTEGER = Form("an integer", "-7")
NUMBER = Form("an integer or a fraction", "-7/2")
NUMBERS = Form("a list of numbers in any order", "-7, 5/2")
"""All solutions; graded as a set."""
IN_ORDER = Form("a list of numbers in the order asked for", "5, -7/2")
EXPRESSION = Form("an expression", "3x^2 - 2")
"""Graded by `gem_envs_math.grading`; calculations that are left to do, such as an integral, are not read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A question, and its answer in the notation of the form. What is given may also stand in a figure."""

    question: str
    form: Form
    answer: str
    steps: int
    """The operations of its solution, as `gem_envs_math.counted` counts them."""
    given: str = ""
    """The premises of the question in words; or else the figure shows them."""
    figure: Figure | None = None


Kind = Callable[[random.Random, int], Problem]
"""Draws a problem; takes the level, from 0 (easy) to 2 (hard). Its name is the name of the kind."""

Levels = Mapping[str, Sequence[Kind]]
"""The kinds of each difficulty."""


def integer(question: str, answer: Number) -> Problem:
    """A problem whose answers are integers. Here and below, `answer` is a counted number and brings its steps along."""
    return Problem(question, INTEGER, written(answer), steps_of(answer))


def number(question: str, answer: Number) -> Problem:
    """A problem whose answers are integers or fractions."""
    return Problem(question, NUMBER, written(answer), steps_of(answer))


def numbers(question: str, answers: Sequence[Number]) -> Problem:
    """A problem with several answers, all of which are asked for."""
    return Problem(
        question, NUMBERS, ", ".join(map(written, sorted(set(map(Fraction, answers))))), steps_of(answers[0])
    )


def in_order(question: str, answers: Sequence[Number]) -> Problem:
    """A problem that asks for several numbers in an order."""
    return Problem(question, IN_ORDER, ", ".join(map(written, answers)), steps_of(answers[0]))


def expression(question: str, answer: str, steps: int) -> Problem:
    """A problem whose answers are expressions."""
    return Problem(question, EXPRESSION, answer, steps)


_NAMES = re.compile(r"\(?\s*[A-Za-z]\s*(,\s*[A-Za-z]\s*)+\)?\s*=")
_SIZES = re.compile(r"\\(?:left|right)(?![A-Za-z])")
_BETWEEN = re.compile(r"[,;]|\\(?:text|mathrm)\s*\{\s*(?:and|or)\s*\}|\b(?:and|or)\b")
_AROUND = (("$", "$"), ("\\{", "\\}"), ("\\(", "\\)"), ("(", ")"), ("[", "]"), ("{", "}"))
_CLOSED = re.compile(
    r"\\(?:[dt]?frac|cdot|times|left|right)(?![A-Za-z])|\\[,;:! ()]"
    r"|(?:\\|(?<![A-Za-z]))(?:sqrt|pi|ln|log|exp|sin|cos|tan)(?![A-Za-z])"
)
"""Parts of an expression besides numbers and the letters x and e; not `\\int`, `\\lim` or `\\frac{d}{dx}`."""
_LEFT_TO_DO = re.compile(r"[^\W\d_xe]|[\\'!]")
_LONGEST = 500
"""The most characters of a list or an expression."""


def read_numbers(text: str) -> tuple[Fraction, ...] | None:
    r"""The numbers of a list such as `-3, 1/2`, `x = 2 or x = 5`, `(x, y) = (1, -4)` or `\{1, 2\}`, or None."""
    if len(text) > _LONGEST:
        return None
    text = _SIZES.sub("", text).strip()
    text = _NAMES.sub("", text, count=1).strip()
    for opening, closing in _AROUND:
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
            text = text[len(opening) : -len(closing)].strip()
    read = [read_number(part.strip()) for part in _BETWEEN.split(text)]
    known = tuple(number for number in read if number is not None)
    return known if len(known) == len(read) else None


def read_expression(text: str) -> str | None:
    """`text`, without a label such as `f'(x) =`, if it is short and nothing in it is left to do, else None."""
    if len(text) > _LONGEST:
        return None
    text = text.rpartition("=")[2].strip()
    return text if text and _LEFT_TO_DO.search(_CLOSED.sub(" ", text)) is None else None


def read(form: Form, text: str) -> Answer | None:
    """The answer in the text of a box, or None if it has not that form."""
    if form in (INTEGER, NUMBER):
        return read_number(text)
    return read_expression(text) if form == EXPRESSION else read_numbers(text)


class ProblemEnv(QuestionEnv[Answer]):
    r"""A generated problem: subclasses give `levels`. One turn; an action has the answer in a box: `\boxed{-7/2}`.

    The env's generator draws a kind of problem, and then a problem of it. The question says how to answer. A number is
    right in any notation that `gem.answers` reads, if it is exactly equal; what is left to calculate (`2 + 3`) is not
    read. The info of the last step has the `kind`, and the `steps` of the solution.

    Rewards: 1 for the right answer, 0 for another. A reply without an answer in a box earns `format_error_reward`.

    Args:
        difficulty: `easy`, `medium` or `hard`.
        kinds: only problems of these kinds, by name; by default all of the difficulty.
        instruction: how to answer, after the question: False for nothing, True for the env's own words, or a text.
        max_attempts: how many replies the agent may give.
        format_error_reward: the reward of a reply without an answer.
    """

    levels: ClassVar[Levels] = {}
    """The kinds of problems of each difficulty."""

    problem: Problem
    """The problem of this episode."""
    kind: str
    """Kind of the problem."""

    def __init__(
        self,
        difficulty: str = "medium",
        kinds: Sequence[str] = (),
        *,
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(format_error_reward=format_error_reward, max_attempts=max_attempts)
        if difficulty not in DIFFICULTIES:
            raise ConfigError(f"difficulty is 'easy', 'medium' or 'hard', not {difficulty!r}")
        self.difficulty = difficulty
        offered = {kind.__name__: kind for kind in self.levels[difficulty]}
        chosen = tuple(kinds.split(",") if isinstance(kinds, str) else kinds)
        for name in chosen:
            if name not in offered:
                hint = did_you_mean(str(name), offered)
                raise ConfigError(f"no {difficulty} kind is called {name!r}.{hint} There are: {', '.join(offered)}")
        self.kinds = chosen or tuple(offered)
        """The names of the kinds that are drawn."""
        self.instruction = instruction

    @property
    def level(self) -> int:
        """The difficulty as a number from 0."""
        return DIFFICULTIES.index(self.difficulty)

    @property
    def steps(self) -> int:
        """The steps of the solution."""
        return self.problem.steps

    def _draw(self, rng: random.Random, name: str) -> Problem:
        kind = next(kind for kind in self.levels[self.difficulty] if kind.__name__ == name)
        return kind(rng, self.level)

    def _reset(self, options: Mapping[str, Any]) -> Observation:
        self.kind = self.rng.choice(self.kinds)
        self.problem = self._draw(self.rng, self.kind)
        self.answer_form = f"{self.problem.form.words.partition(' ')[2]} inside \\boxed{{}}"
        return self._asked()

    def _asked(self) -> Observation:
        """The first observation."""
        return self._text(f"{self.problem.given} {self.problem.question}".lstrip())

    def _text(self, question: str) -> str:
        instruction = self._instruction()
        return f"{question}\n{instruction}" if instruction else question

    def _instruction(self) -> str:
        if isinstance(self.instruction, str):
            return self.instruction
        words, example = self.problem.form
        text = f"You may think first. Give {words} inside {in_a_box('')}, for example {in_a_box(example)}; "
        return f"{text}only the last box counts." if self.instruction else ""

    def _read(self, reply: str) -> Answer | None:
        return read(self.problem.form, boxed(reply) or "")

    def _grade(self, answer: Answer) -> Step:
        success = self._is_right(answer)
        return Step.final("That is right." if success else "That is wrong.", float(success), success=success)

    def _is_right(self, answer: Answer) -> bool:
        gold = read(self.problem.form, self.problem.answer)
        if isinstance(answer, str):
            # sympy is not needed for numbers, and the grader knows where to find it
            from gem_envs_math.copied import is_copied
            from gem_envs_math.grading import grade

            question, right = f"{self.problem.given} {self.problem.question}", self.problem.answer
            return grade(answer, right).right and not is_copied(answer, question, [right])
        if isinstance(answer, tuple) and isinstance(gold, tuple) and self.problem.form == NUMBERS:
            return set(answer) == set(gold)
        return answer == gold

    def _step(self, action: str) -> Step:
        step = super()._step(action)
        if not step.done:
            return step
        return step._replace(info={**step.info, "kind": self.kind, "steps": self.steps})

    def sample_action(self) -> str:
        """The answer to another problem of the same kind."""
        return in_a_box(self._draw(self.action_rng, self.kind).answer)

    def expert_action(self) -> str:
        """The right answer."""
        return in_a_box(self.problem.answer)
