"""The answers True, False and Unknown."""

from typing import Literal

from gem.answers.matching import normalized

Truth = Literal["True", "False", "Unknown"]
"""The value of a statement."""

_REPLIES: dict[str, Truth] = {
    "true": "True", "yes": "True",
    "false": "False", "no": "False",
    "unknown": "Unknown", "uncertain": "Unknown",
}  # fmt: skip
_LABELS: dict[str, Truth] = {**_REPLIES, "1": "True", "0": "False", "entailment": "True", "not entailment": "False"}


def read_truth(answer: str) -> Truth | None:
    """The value that an answer names; None for other words.

    >>> read_truth("TRUE."), read_truth("no"), read_truth("True or False")
    ('True', 'False', None)
    """
    return _REPLIES.get(normalized(answer))


def truth_of_label(label: str) -> Truth | None:
    """The value that a label of a data set means; None for other labels."""
    return _LABELS.get(normalized(label))
