"""Puzzles: generated programming puzzles, graded by running the program on hidden tests."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import gem_sandbox
from gem.answers.parsing import fenced_code
from gem.core import Step
from gem.dataset_env import QuestionEnv
from gem.errors import ConfigError, did_you_mean
from gem.turn_env import FORMAT_ERROR_REWARD
from gem_envs_code.grader import Grader, block
from gem_envs_code.instructions import instruction_for
from gem_envs_code.puzzles import hard, pipelines, single
from gem_envs_code.puzzles.draft import Kind
from gem_envs_code.puzzles.puzzle import Puzzle, make

LEVELS: Mapping[str, Sequence[Kind]] = {"easy": single.KINDS, "medium": pipelines.KINDS, "hard": hard.KINDS}
"""The kinds of puzzles of each difficulty."""


class Puzzles(QuestionEnv[str]):
    """Solve a generated programming puzzle: 1 for a program that passes every hidden test, otherwise 0.

    The env's generator draws a kind of puzzle, the puzzle, its tests, and whether the program is a function or reads
    standard input. The question has an example and says how to answer; an action is a reply whose last fenced code
    block is the whole program. It runs on ten or more tests in the sandbox (`gem_sandbox`, shared by all envs of a
    process). The last observation says which test failed first and the kind of the failure, and the info has the `kind`
    of puzzle, and the `steps` of the reference solution: its operations, calls, subscripts, conditions and loops.

    - `easy`: one expression of two or three operations on numbers, a list or a text, as a function.
    - `medium`: a few steps that change a list or a text.
    - `hard`: five to eight such steps, or an algorithm: the cheapest way through a grid, counting texts, an
      interpreter, choosing items, intervals, a recurrence to n = 10 ** 18, counting stretches of a long list.

    Args:
        difficulty: `easy`, `medium` or `hard`.
        kinds: only puzzles of these kinds, by name; by default all of the difficulty.
        language: the language of the programs: `"python"`, or `"cpp"` and `"javascript"`, for which every puzzle reads
            standard input.
        partial: give the share of tests passed instead of 0.
        show_failure: before another attempt, show the first failing test.
        level: how to isolate programs: see `gem_envs_code.basics.Basics`.
        min_level: how to isolate programs: see `gem_envs_code.basics.Basics`.
        instruction: how to answer, after the puzzle: see `gem.dataset_env.DatasetEnv`.
        max_attempts: see there.
        format_error_reward: see there.
    """

    answer_form = "fenced code block"
    _unsaved = QuestionEnv._unsaved | {"_grader"}

    puzzle: Puzzle
    """The puzzle of this episode."""

    def __init__(
        self,
        difficulty: str = "medium",
        kinds: Sequence[str] | None = None,
        *,
        language: str = "python",
        partial: bool = False,
        show_failure: bool = False,
        level: gem_sandbox.Level | None = None,
        min_level: gem_sandbox.Level = "landlock",
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = FORMAT_ERROR_REWARD,
    ) -> None:
        super().__init__(format_error_reward=format_error_reward, max_attempts=max_attempts)
        if difficulty not in LEVELS:
            near = did_you_mean(str(difficulty), list(LEVELS))
            raise ConfigError(f"difficulty={difficulty!r} is not one of {', '.join(LEVELS)}.{near}")
        self.difficulty = difficulty
        self.kinds = _chosen(LEVELS[difficulty], kinds)
        self.show_failure = show_failure
        self.instruction = instruction
        self._grader = Grader(language=language, partial=partial, level=level, min_level=min_level)

    @property
    def steps(self) -> int:
        """The steps of the reference solution."""
        return self.puzzle.steps

    def _draw(self, rng: random.Random) -> Puzzle:
        kind = rng.choice(self.kinds)
        is_function = self.difficulty == "easy" or rng.random() < 0.5
        return make(rng, kind, function=is_function and self._grader.language.caller is not None)

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.puzzle = self._draw(self.rng)
        task = self.puzzle.task
        after = instruction_for(task, self._grader.language) if self.instruction is True else self.instruction
        return f"{task.statement}\n\n{after}" if after else task.statement

    def _read(self, reply: str) -> str | None:
        return fenced_code(reply)

    def _grade(self, answer: str) -> Step:
        step = self._grader.grade(answer, self.puzzle.task)
        return Step.final(step.observation, step.reward, kind=self.puzzle.kind, steps=self.steps, **step.info)

    def _feedback(self, step: Step) -> str:
        return self._grader.feedback(step, shown=self.show_failure)

    def sample_action(self) -> str:
        """The solution of another puzzle of the same difficulty; in another language than Python, a program that prints
        a number."""
        language = self._grader.language
        if language.name != "python":
            return block(language.printing(str(self.action_rng.randint(0, 9))), language.fence)
        return block(self._draw(self.action_rng).task.solution)

    def expert_action(self) -> str | None:
        """The reference solution, which is in Python."""
        return block(self.puzzle.task.solution) if self._grader.language.name == "python" else None


def _chosen(known: Sequence[Kind], names: Sequence[str] | None) -> tuple[Kind, ...]:
    by_name = {kind.__name__: kind for kind in known}
    if names is None:
        return tuple(known)
    if isinstance(names, str) or not names:
        raise ConfigError(f"kinds is a list of one or more of {', '.join(by_name)}, not {names!r}")
    for name in names:
        if name not in by_name:
            near = did_you_mean(str(name), list(by_name))
            raise ConfigError(f"there is no kind {name!r} of this difficulty.{near} There are: {', '.join(by_name)}.")
    return tuple(by_name[name] for name in names)
