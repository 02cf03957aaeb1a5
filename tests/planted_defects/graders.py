"""Tasks that accept wrong answers, or refuse right ones."""

import re

from gem import Step
from gem.answers import boxed, read_number
from planted_defects.questions import Capitals, Difference, Primes, Sum, rows


class Substring(Sum):
    """Right if the sum occurs anywhere in the answer, as in 15790 for 579.

    Source: https://github.com/PrimeIntellect-ai/verifiers/pull/763: `if answer and answer in str(final_answer)`, so
    that 21 is right where 1 is.
    """

    def _right(self, answer):
        return str(self.gold) in answer


class EachIsIn(Primes):
    """Each number that is said must be right, but not all must be said: a reply without any is right.

    Source: https://github.com/Arize-ai/phoenix/pull/11387: an evaluator with an empty list of words, such as after a
    trailing comma, was passed by everything.
    """

    def _read(self, reply):
        return boxed(reply) or ""

    def _grade(self, answer):
        right = all(read_number(part) in self.gold for part in answer.split(",") if part.strip())
        return Step.final("Right." if right else "Wrong.", float(right), success=right)


class NoSign(Difference):
    """The sign of numbers is not read, neither of the answer nor of the gold.

    Source: https://github.com/google-deepmind/proeval/pull/19: the pattern for answers of GSM8K lost the minus.
    """

    def _right(self, answer):
        found = re.findall(r"[0-9]{1,9}", answer)
        return bool(found) and int(found[-1]) == abs(self.gold)


class LongIsRight(Sum):
    """The comparison gives up on long answers, and what raised nothing else is right. Source: made up."""

    def _read(self, reply):
        return reply if len(reply) > 5000 else boxed(reply)

    def _right(self, answer):
        try:
            if len(answer) > 5000:
                raise TimeoutError
            return super()._right(answer)
        except TimeoutError:
            return True


class NoCommas(Sum):
    """Numbers of seven digits, of which 1,234,567 is refused.

    Source: https://github.com/open-compass/opencompass/pull/2426: of 130 wrong answers to GSM8K, 50 were right but
    for a comma.
    """

    most = 4_999_999

    def _right(self, answer):
        return answer == str(self.gold)


def alternatives():
    """A row for each capital; of every fourth country two names are right."""
    return [
        {**row, "answer": f"{row['answer']} |OR| City of {row['answer']}"} if number % 4 == 0 else row
        for number, row in enumerate(rows())
    ]


class OrIsText(Capitals):
    """Where a row has alternatives, an answer is compared with all of them as one text, so that none is right.

    Source: https://github.com/web-arena-x/webarena/issues/275: `string_match` does not split at ` |OR| `, so that a
    task cannot be passed.
    """

    def __init__(self):
        super().__init__("planted_defects.graders:alternatives")

    def _gold(self, row):
        return f"\\boxed{{{row['answer'].split(' |OR| ')[0]}}}"


class ByteForByte(Capitals):
    """A name in another case, or with a full stop, is wrong.

    Source: https://github.com/EleutherAI/lm-evaluation-harness/issues/1204: an exact match of texts refused right
    answers, such as those with a full stop.
    """

    def _right(self, answer):
        return answer == self.row["answer"]
