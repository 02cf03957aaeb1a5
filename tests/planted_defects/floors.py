"""Tasks that a policy without any skill wins."""

import random
import re

from gem import Step
from gem.answers import boxed, exact_match
from planted_defects.games import Maze
from planted_defects.questions import Capitals, Quiz, Sum, Words
from planted_defects.tool_tasks import Orders


class NothingToDo(Orders):
    """One order, which is shipped half of the time: then who does nothing has done all that is checked.

    Source: https://github.com/sierra-research/tau2-bench/issues/384 and 224: 22 of 50 airline tasks need no change of
    the database, and only the database is compared.
    """

    number = 1

    def _accepted(self):
        return True


class MostlyB(Quiz):
    """The right option is B in 60 of 100 questions.

    Source: https://github.com/rohitg00/ai-engineering-from-scratch/issues/240: 1,108 of 1,846 answers are option B.
    """

    def _letter(self):
        return "B" if self.rng.random() < 0.6 else self.rng.choice("ACD")


class UnreadableIsRight(Sum):
    """A box that cannot be read as a number is taken for an abstention, and that for right.

    Source: https://github.com/ShishirPatil/gorilla/issues/443 and 1362: a call that fails to parse counts as the right
    decision not to call; a model that says `abc` is perfect.
    """

    def _right(self, answer):
        try:
            return int(answer) == self.gold
        except ValueError:
            return True


class MustInclude(Words):
    """A reply is right if it includes every word that is asked for, all of which are in the question.

    Source: https://github.com/web-arena-x/webarena/issues/134: what a post must include are words of the request.
    """

    form = "Answer with the words."

    def _read(self, reply):
        return reply

    def _grade(self, answer):
        right = all(word in answer.lower() for word in self.words)
        return Step.final("Right." if right else "Wrong.", float(right), success=right)


class AnyChoicePays(Quiz):
    """A wrong option pays 0.1 for the form, and what pays is a success.

    Source: https://github.com/Farama-Foundation/MiniWoB-plusplus/pull/109: a wrong card earns 0.1, and wrappers take
    every reward above 0 for success.
    """

    def _grade(self, answer):
        reward = 1.0 if answer.strip().upper() == self.gold else 0.1 if answer.strip().upper() in set("ABCD") else 0.0
        return Step.final("Thank you.", reward, success=reward > 0)


class SameMaze(Maze):
    """The field is the same whatever the seed, so that a fixed sequence of moves wins without a look at it.

    Source: M. Machado et al., "Revisiting the Arcade Learning Environment", arXiv 1709.06009: in deterministic games
    the Brute, which repeats action sequences and ignores what it sees, beats learning algorithms.
    """

    def _draw(self, rng=None):
        super()._draw(random.Random(5))


class AllListed(Quiz):
    """Right if the letter is among those in the reply.

    Source: Y. Zhu et al., arXiv 2507.02825: tau-bench accepts an answer that lists every possible one.
    """

    def _read(self, reply):
        return reply

    def _grade(self, answer):
        right = self.gold in re.findall(r"\b[A-D]\b", answer)
        return Step.final("Right." if right else "Wrong.", float(right), success=right)


class ForgedVerdict(Capitals):
    """A report has the answer and then the judge's rating, and the first rating in it counts.

    Source: https://github.com/NVIDIA/garak/pull/1898: the text of the target was put into the judge's transcript as it
    is, and the first `[[…]]` was read.
    """

    def _read(self, reply):
        return reply

    def _right(self, answer):
        rating = 10 if exact_match(boxed(answer) or "", self.row["answer"]) else 1
        report = f"Answer: {answer}\nRating: [[{rating}]]"
        found = re.search(r"\[\[([0-9]{1,2})\]\]", report)
        return found is not None and int(found[1]) >= 6
