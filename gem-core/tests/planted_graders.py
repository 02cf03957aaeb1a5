"""Tasks with a floor that is too high, or a grader that accepts or refuses the wrong replies; and sound twins."""

import re

from planted_tasks import Sum

import gem

BOX = re.compile(r"\\boxed\{([^{}]*)\}")


def verdict(right):
    return gem.Step.final("Right." if right else "Wrong.", float(right), success=right)


class Graded(Sum):
    """A sum, whose grader is `accepts`."""

    @property
    def gold(self):
        return str(sum(self.terms))

    def accepts(self, answer):
        return answer.strip() == self.gold

    def _step(self, action):
        answer = gem.answers.boxed(action)
        return self.malformed("There is no box in your reply.") if answer is None else verdict(self.accepts(answer))


class RandomWins(Graded):
    """Random play knows the answer."""

    def sample_action(self):
        return super().sample_action() if self.action_rng.random() < 0.1 else self.expert_action()


class ConstantWins(Graded):
    """Of two sums one is 777."""

    def _reset(self, options):
        question = super()._reset(options)
        if self.rng.random() < 0.5:
            return question
        self.terms = self.terms[0] % 777, 777 - self.terms[0] % 777
        return f"What is {self.terms[0]} + {self.terms[1]}? Answer in \\boxed{{}}."


class Route(gem.TurnEnv):
    """Six doors, one after the other; a sign at each says left or right. 1 for the way out."""

    def __init__(self):
        super().__init__(max_turns=6)

    def sides(self):
        return [self.rng.choice(["left", "right"]) for _ in range(6)]

    def _reset(self, options):
        self.number = self.rng.randrange(10**9)
        self.route = self.sides()
        return self.sign()

    def sign(self):
        return f"House {self.number}, door {self.turn}. The sign says {self.route[self.turn]}."

    def _step(self, action):
        if action.strip() != self.route[self.turn - 1]:
            return verdict(False)
        return verdict(True) if self.turn == 6 else gem.Step.ongoing(self.sign())

    def sample_action(self):
        return self.action_rng.choice(["left", "right"])

    def expert_action(self):
        return self.route[self.turn]


class BlindWins(Route):
    """All houses have the same doors."""

    def sides(self):
        return ["left", "left", "right", "left", "right", "right"]


class EchoWins(Graded):
    """A reply is right if the numbers of the question are in it, as in one with a complete calculation."""

    def _step(self, action):
        return verdict(True) if all(f"{term}" in action for term in self.terms) else super()._step(action)


class LastDigit(Graded):
    """The last digit of a sum."""

    def _reset(self, options):
        return super()._reset(options).replace("What is", "What is the last digit of")

    @property
    def gold(self):
        return str(sum(self.terms) % 10)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(10)}}}"

    def expert_action(self):
        return f"\\boxed{{{self.gold}}}"


class AnyBoxWins(LastDigit):
    """It is enough if one of many boxes is right, as answers are listed in tau-bench (arXiv 2507.02825)."""

    def _step(self, action):
        return verdict(True) if self.gold in BOX.findall(action) else super()._step(action)


class AnyWordWins(LastDigit):
    """It is enough if one of the words in the box is right."""

    def accepts(self, answer):
        words = answer.replace(",", " ").split()
        return self.gold in words and (len(words) == 1 or (len(words) > 6 and all(map(str.isdigit, words))))


class WishWins(Graded):
    """The grader looks for its own verdict in the whole conversation."""

    def _step(self, action):
        return verdict(True) if "<verdict>yes" in action else super()._step(action)


class ScoreWins(Graded):
    """The grader takes the first score that it finds, also one inside the answer."""

    def accepts(self, answer):
        return '"score": 1' in answer or super().accepts(answer)


class OpenerWins(Graded):
    """The judge takes the first words of a solution for one, as in arXiv 2507.08794."""

    def _step(self, action):
        return verdict(True) if action.strip().startswith(("Thought process", "Solution")) else super()._step(action)


class NotAvailableWins(Graded):
    """Every third question has the answer "N/A" as well."""

    def _step(self, action):
        return verdict(True) if action == "N/A" and sum(self.terms) % 3 == 0 else super()._step(action)


class NanWins(Graded):
    """A comparison that is False for nan."""

    def accepts(self, answer):
        try:
            return not abs(float(answer.replace(",", "").strip("$ ")) - int(self.gold)) > 0.5
        except ValueError:
            return False


class WildcardWins(Graded):
    """The answer is taken for a pattern."""

    def accepts(self, answer):
        try:
            return re.fullmatch(answer.strip(), self.gold) is not None
        except re.error:
            return False


class EmptyBoxWins(Graded):
    """An empty box is the beginning of every answer."""

    def _step(self, action):
        found = BOX.fullmatch(action.strip())
        return verdict(True) if found and not found[1].strip() else super()._step(action)


class LongReplyWins(Graded):
    """A reply that cannot be graded in time counts as right."""

    def _step(self, action):
        return verdict(True) if len(action) > 10_000 else super()._step(action)


class SubstringWins(Graded):
    """The right answer may stand anywhere in the box, as substrings are taken in tau-bench (arXiv 2507.02825)."""

    def accepts(self, answer):
        return self.gold in answer


class PrefixWins(Graded):
    """The beginning of the right answer is enough."""

    def accepts(self, answer):
        return len(answer.strip()) > 1 and self.gold.startswith(answer.strip())


class CloseWins(Graded):
    """One percent more or less is right, of an exact sum."""

    def accepts(self, answer):
        digits = answer.strip()
        return digits.isdecimal() and len(digits) < 10 and abs(int(digits) - int(self.gold)) <= 0.015 * int(self.gold)


class SignIgnored(Graded):
    """The sign does not count."""

    def accepts(self, answer):
        return answer.strip().lstrip("-") == self.gold


class SpacesRefused(Graded):
    """White space around the right answer makes it wrong."""

    def accepts(self, answer):
        return answer == self.gold


class ReasoningRefused(Graded):
    """Only a reply that begins with its box is read."""

    def _step(self, action):
        return super()._step(action if action.lstrip().startswith("\\boxed") else "")


class CommaRefused(Graded):
    """It reads decimals, but no thousands."""

    def _reset(self, options):
        self.terms = self.rng.randrange(10**5, 10**6), self.rng.randrange(10**5, 10**6)
        return f"What is {self.terms[0]} + {self.terms[1]}? Answer in \\boxed{{}}."

    def accepts(self, answer):
        try:
            return float(answer.strip("$ ")) == int(self.gold)
        except ValueError:
            return False


class ReadsNumbers(CommaRefused):
    """Sound: a grader that compares values."""

    def accepts(self, answer):
        return gem.answers.read_number(answer) == int(self.gold)
