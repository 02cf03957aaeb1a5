"""Short answers as text: exact match and F1, as question answering is evaluated.

Source: the evaluation script of P. Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text",
arXiv 1606.05250: upper and lower case, punctuation and the articles do not count. That script also deletes what makes
another number (it takes 12.5 for 125, -5 for 5, and 3-2 for 32), and all of an answer such as "A". Here

- the sign of a number and its decimal point are kept, and what stands between digits, but for the comma of thousands,
  counts as a space;
- numbers are the same if their values are, however they are written (`gem.answers.number`): 5.0 and 5, 1 234 and 1,234;
- an answer that consists of articles or of punctuation alone is kept as it is;
- the compatibility forms and the quotation marks of Unicode count as what they stand for.

An answer of more than 1,000 characters matches nothing, so that grading takes milliseconds.
"""

import re
import string
import unicodedata
from collections import Counter

from gem.answers.number import read_number

_ARTICLES = frozenset(("a", "an", "the"))
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_PUNCTUATION = frozenset(string.punctuation)
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[^\w\s.]+(?=[0-9])")
_OF_A_NUMBER = re.compile(r"(?<![^\W_])-(?=\.?[0-9])|(?<![^\W\d_])\.(?=[0-9])")
_LONGEST = 1000
_CHOICES = frozenset(("yes", "no", "noanswer"))


def normalized(answer: str) -> str:
    """Lower case, without punctuation and articles, words one space apart.

    >>> normalized("The  River Tessel.")
    'river tessel'
    >>> normalized("about -12.5 km, or 1,200 yards")
    'about -12.5 km or 1200 yards'
    >>> normalized("The The"), normalized("?")
    ('the the', '?')
    """
    text = unicodedata.normalize("NFKC", answer).lower().translate(_DASHES)
    text = _BETWEEN_DIGITS.sub(" ", _THOUSANDS.sub("", text))
    kept = {match.start() for match in _OF_A_NUMBER.finditer(text)}
    words = "".join(
        character for place, character in enumerate(text) if place in kept or not _is_punctuation(character)
    ).split()
    return " ".join([word for word in words if word not in _ARTICLES] or words) or text.strip()


def exact_match(answer: str, gold: str) -> bool:
    """Whether two answers are the same once they are normalised, or are the same number.

    >>> exact_match("an Eiffel tower!", "The Eiffel Tower"), exact_match("5", "5.0"), exact_match("125", "12.5")
    (True, True, False)
    """
    if len(answer) > _LONGEST:
        return False
    if normalized(answer) == normalized(gold):
        return True
    number = read_number(gold)
    return number is not None and read_number(answer) == number


def f1(answer: str, gold: str) -> float:
    """The harmonic mean of precision and recall of the words of `answer`, from 0 to 1; 1 for an exact match.

    As in the evaluation script of HotpotQA (Z. Yang et al., arXiv 1809.09600), a yes or a no that is not matched
    earns 0.

    >>> f1("the tall Eiffel tower", "Eiffel Tower")
    0.8
    """
    if exact_match(answer, gold):
        return 1.0
    if len(answer) > _LONGEST:
        return 0.0
    said, right = normalized(answer), normalized(gold)
    if said in _CHOICES or right in _CHOICES:
        return 0.0
    words, expected = said.split(), right.split()
    common = (Counter(words) & Counter(expected)).total()
    return 2 * common / (len(words) + len(expected))


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return character in _PUNCTUATION
    return unicodedata.category(character).startswith("P")
