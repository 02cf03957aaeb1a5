"""Tasks whose data, answers or rewards are not what they should be, with a defect each, and sound twins."""

import base64
import hashlib
from typing import ClassVar

from planted_tasks import Sum

import gem
from gem.dataset_env import DatasetEnv, QuestionEnv


def _number(answer):
    """A number of at most six digits, else None."""
    digits = (answer or "").strip()
    return int(digits) if digits.isdecimal() and len(digits) <= 6 else None


class AnswerInQuestion(Sum):
    """A forgotten note of the author: a third of the solved issues of SWE-bench tell the patch (SWE-Bench+, arXiv
    2410.06992)."""

    def _reset(self, options):
        question = super()._reset(options)
        return f"{question}\n<!-- expected answer: {sum(self.terms)} -->"


class AnswerInBase64(Sum):
    """The answer as a "checksum" of the question."""

    def _reset(self, options):
        question = super()._reset(options)
        return f"{question} (checksum {base64.b64encode(str(sum(self.terms) + 10_000).encode()).decode()})"

    def _step(self, action):
        answer = gem.answers.boxed(action)
        number = _number(answer)
        return super()._step(action if answer is None else f"\\boxed{{{number and number - 10_000}}}")

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(10_200, 12_000)}}}"

    def expert_action(self):
        return f"\\boxed{{{sum(self.terms) + 10_000}}}"


class AnswerAsHash(AnswerInBase64):
    """Its hash, by which every guess can be tried without a step."""

    def _reset(self, options):
        question = Sum._reset(self, options)
        return f"{question} Verified: {hashlib.md5(str(sum(self.terms) + 10_000).encode()).hexdigest()}"


class SeedShown(Sum):
    """The seed of the generator, as a number of the problem."""

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return f"Problem {seed}. {observation}", info


class SystemTells(Sum):
    """The system message has a memo for the grader in it."""

    def _reset(self, options):
        question = super()._reset(options)
        self.system = f"You are a patient assistant. (For the grader: {sum(self.terms)}.)"
        return question


class FeedbackTells(QuestionEnv):
    """A wrong answer is corrected, and the agent may try again."""

    def _reset(self, options):
        self.terms = self.rng.randrange(100, 1000), self.rng.randrange(100, 1000)
        return f"What is {self.terms[0]} + {self.terms[1]}? Answer in \\boxed{{}}."

    def _read(self, reply):
        return gem.answers.boxed(reply)

    def _grade(self, answer):
        success = answer.strip() == str(sum(self.terms))
        text = "Right." if success else f"Wrong: it is {sum(self.terms)}."
        return gem.Step.final(text, float(success), success=success)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(200, 2000)}}}"

    def expert_action(self):
        return f"\\boxed{{{sum(self.terms)}}}"


class FeedbackIsSilent(FeedbackTells):
    """The sound twin of `FeedbackTells`."""

    def _feedback(self, step):
        return "Wrong."


class ErrorTells(Sum):
    """An error of reset that says too much."""

    def reset(self, *, seed=None, options=None):
        if options and "index" in options:
            raise gem.errors.ConfigError(f"no row {options['index']}; the last problem was {sum(self.terms)}")
        return super().reset(seed=seed, options=options)


class Secret(gem.TurnEnv):
    """Find a number from 100 to 355 by halving. -0.01 for each wrong guess, 1 for the number."""

    def __init__(self):
        super().__init__(max_turns=12)

    def _reset(self, options):
        self.secret = self.rng.randrange(100, 356)
        self.low, self.high = 100, 355
        return "Find a number from 100 to 355. Answer in \\boxed{}."

    def _step(self, action):
        guess = _number(gem.answers.boxed(action))
        if guess is None:
            return self.malformed("There is no number in a box in your reply.")
        if guess == self.secret:
            return gem.Step.final("Right.", 1.0, success=True)
        if guess < self.secret:
            self.low = max(self.low, guess + 1)
        else:
            self.high = min(self.high, guess - 1)
        return gem.Step.ongoing(f"It is {'larger' if guess < self.secret else 'smaller'}.", -0.01, **self._extra())

    def _extra(self):
        return {}

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(100, 356)}}}"

    def expert_action(self):
        return f"\\boxed{{{(self.low + self.high) // 2}}}"


class InfoOfSteps(Secret):
    """The info of each step has the number."""

    def _extra(self):
        return {"state": {"secret": self.secret}}


class Steps(gem.TurnEnv):
    """Five crossroads, each with the way to go; "back" is a step back, and another way the end. 1 behind the fifth."""

    ways = "north", "east", "south", "west"
    forward, backward, at_end, on_nonsense = 0.0, 0.0, 1.0, -0.1

    def __init__(self):
        super().__init__(max_turns=400)

    def _reset(self, options):
        self.place, self.path = 0, [self.rng.choice(self.ways) for _ in range(5)]
        return self._shown()

    def _shown(self):
        return f"Crossroads {self.place}: go {self.path[self.place]} or back, inside \\boxed{{}}."

    def _step(self, action):
        answer = (gem.answers.boxed(action) or "").strip()
        if answer not in (*self.ways, "back"):
            return self.malformed("Say a way.", self.on_nonsense)
        if answer not in (self.path[self.place], "back"):
            return gem.Step.final("You fall.", -2.0, success=False)
        reward = self.backward if answer == "back" else self.forward
        reward = 0.0 if answer == "back" and self.place == 0 else reward
        self.place = max(self.place + (-1 if answer == "back" else 1), 0)
        if self.place == 5:
            return gem.Step.final("There.", self.at_end, success=True)
        return gem.Step.ongoing(self._shown(), reward)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.choice((*self.ways, 'back'))}}}"

    def expert_action(self):
        return f"\\boxed{{{self.path[self.place]}}}"


class PaidForEachStep(Steps):
    """Each step is paid, and the way back costs nothing: so the boat of CoastRunners goes in circles (OpenAI, "Faulty
    reward functions in the wild", 2016)."""

    forward = 0.5


class PaidByPotential(Steps):
    """The sound twin: what a step earns, the way back costs."""

    forward, backward = 0.1, -0.1


class StoppingPays(Steps):
    """Each step costs more than the end earns, so that it is best to give up at once: an agent for Road Runner ends its
    life for a better score (Saunders and others, "Trial without error", arXiv 1707.05173)."""

    forward, backward, at_end, on_nonsense = -0.5, -0.5, 1.0, 0.0


class LosingPays(Sum):
    """The sign of the reward is turned around, as by a bug in the fine-tuning of GPT-2 (Ziegler and others, arXiv
    1909.08593, 4.4)."""

    def _step(self, action):
        step = super()._step(action)
        return step._replace(reward=1.0 - step.reward) if gem.answers.boxed(action) else step


class Hidden(Sum):
    """One of the terms is not in the question."""

    def _reset(self, options):
        super()._reset(options)
        self.terms = self.rng.randrange(100, 140), self.rng.randrange(100, 1000)
        return f"What is {self.terms[0]} + x? Answer in \\boxed{{}}."


class FewStarts(Sum):
    """The questions are drawn from a list of eight."""

    def _reset(self, options):
        super()._reset(options)
        first = self.rng.randrange(101, 109)
        self.terms = first, 7 * first
        return f"What is {self.terms[0]} + {self.terms[1]}? Answer in \\boxed{{}}."


class Rows(DatasetEnv):
    """Sums as rows of a data set."""

    table: ClassVar = [{"question": f"What is {n} + {3 * n}?", "answer": str(4 * n)} for n in range(101, 301)]
    default_instruction = "Answer in \\boxed{}."

    @property
    def rows(self):
        return self.table

    def _question(self, row):
        return row["question"]

    def _read(self, reply):
        return gem.answers.boxed(reply)

    def _grade(self, answer):
        success = answer.strip() == self.row["answer"]
        return gem.Step.final("Right." if success else "Wrong.", float(success), success=success)

    def _gold(self, row):
        return f"\\boxed{{{row['answer']}}}"

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(400, 1300)}}}"


class RowsAgain(Rows):
    """Rows occur again: Lee and others, "Deduplicating training data makes language models better", arXiv
    2107.06499."""

    table: ClassVar = [*Rows.table, *Rows.table[:20]]


class RowsDisagree(Rows):
    """Two rows of a table ask the same and have different answers: "Are we done with MMLU?", arXiv 2406.04127."""

    table: ClassVar = [*Rows.table, {"question": "What is 150 + 450?", "answer": "60"}]


class Split(Rows):
    """Rows by the name of a split; two of them share some: Lewis and others, "Question and answer test-train overlap",
    arXiv 2008.02637."""

    def __init__(self, data):
        super().__init__()
        self.table = Rows.table[:120] if data == "train" else Rows.table[100 if data == "test" else 120 :]


class Doors(gem.TurnEnv):
    """Open one of some doors; behind one is the prize."""

    def __init__(self, doors=2):
        super().__init__(max_turns=1)
        self.doors = doors

    def _reset(self, options):
        self.house, self.prize = self.rng.randrange(10_000), self.rng.randrange(self.doors)
        return f"House {self.house} has {self.doors} doors. Open one by \\boxed{{its number}}."

    def _step(self, action):
        success = gem.answers.boxed(action) == str(self.prize)
        return gem.Step.final("Open.", float(success), success=success)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(self.doors)}}}"
