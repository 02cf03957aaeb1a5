"""Rules: does a statement follow from facts and rules that were drawn at random?"""

from collections.abc import Mapping
from typing import Any, get_args

from gem.checks import check_int
from gem.core import Step
from gem.dataset_env import QuestionEnv
from gem.errors import ConfigError
from gem_envs_qa.reading import FORMS, Form, check_form, read_answer, write_answer
from gem_envs_qa.rules.drawing import ANSWERS, Problem, draw
from gem_envs_qa.rules.theory import World
from gem_envs_qa.rules.wording import asked
from gem_envs_qa.truth import Truth, read_truth


class Rules(QuestionEnv[Truth]):
    r"""Say whether a statement follows from facts and rules. One turn, or as many as `max_attempts`.

    The env's generator draws four people or animals, facts about them, and rules: "If someone is kind and they are not
    big then they are quiet". The answer is `depth` rules away, see `gem_envs_qa.rules.theory.Decided`. In a closed
    world what does not follow is false, and an answer is True or False. In an open world, where facts and conclusions
    may deny something, it is True, False or Unknown. Answers are equally frequent, whether or not the statement has a
    "not".

    The question says how to answer: in `\boxed{}`, or between `<answer>` and `</answer>`; in a reply without that the
    other form is read, and the last answer that is not empty counts. The reward is 1 for the right answer and 0 for
    another. A reply without one of the answers earns `format_error_reward`, by default 0. The info of an answer has the
    `steps`: the depth.

    After P. Clark, O. Tafjord and K. Richardson, "Transformers as Soft Reasoners over Language", arXiv 2002.05867.

    Args:
        depth: how many rules lie between the facts and the answer, from 0 to 5.
        world: "closed" or "open".
        distractors: how many other rules there are, from 0 to 20.
        form: "box" or "tags": which form of answer is asked for.
        max_attempts: see `gem.dataset_env.QuestionEnv`.
        format_error_reward: see `gem.dataset_env.QuestionEnv`.
    """

    problem: Problem
    """The statement that is asked about, with its answer."""

    def __init__(
        self,
        depth: int = 3,
        world: World = "closed",
        distractors: int = 4,
        *,
        form: Form = "box",
        max_attempts: int = 1,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(format_error_reward=format_error_reward, max_attempts=max_attempts)
        self.depth = check_int("depth", depth, 0, 5)
        if world not in get_args(World):
            raise ConfigError(f"world is one of {', '.join(map(repr, get_args(World)))}, not {world!r}")
        self.world: World = world
        self.distractors = check_int("distractors", distractors, 0, 20)
        self.form: Form = check_form(form)
        self.answer_form = f"{_either(self.answers)} {FORMS[self.form]}"

    @property
    def answers(self) -> tuple[Truth, ...]:
        """The possible answers."""
        return ANSWERS[self.world]

    @property
    def steps(self) -> int:
        """The rules between the facts and the answer."""
        return self.depth

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.problem = draw(self.rng, self.depth, self.world, self.distractors)
        theory, statement, _, cast = self.problem
        return (
            f"{asked(self.rng, theory, statement, cast, self.world)}\n\n"
            f"You may think first. Then answer with {self.answer_form}; only the last answer counts."
        )

    def _read(self, reply: str) -> Truth | None:
        answer = read_answer(reply, self.form)
        value = None if answer is None else read_truth(answer)
        return value if value in self.answers else None

    def _grade(self, answer: Truth) -> Step:
        success = answer == self.problem.answer
        observation = "That is right." if success else "That is wrong."
        return Step.final(observation, float(success), success=success, steps=self.steps)

    def sample_action(self) -> str:
        """One of the possible answers."""
        return write_answer(self.action_rng.choice(self.answers), self.form)

    def expert_action(self) -> str:
        """The right answer."""
        return write_answer(self.problem.answer, self.form)


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
