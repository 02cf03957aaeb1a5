"""Ways in which a text shows an answer, compared with the chance that it shows another's."""

import base64
import codecs
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from gem.audit.chance import wins_more
from gem.audit.form import form_of

SHORTEST = 4
"""Characters of an answer whose other forms do not stand in a text by chance."""
BEFORE = 12
"""Characters before an answer that say where it stands."""
AFTER = 40
"""Characters after what is asked in which a table has its answer."""
ALMOST_ALL = 0.9
"""The share of texts that have their answer in the same place, if it is put there."""

_WORD = re.compile(r"\w{2,}")

Shows = Callable[[str, str], bool]
"""Whether a text shows an answer."""

_MARK = r"\b(?:answer|solution|gold|expected|target|correct|label|key|secret|result)\w*(?:\W|is\b|was\b){1,12}"


def bare(reply: str) -> str:
    """The answer of a reply without its box, tags or fence."""
    return form_of(reply).content.strip()


def shown(shows: Shows, texts: Sequence[str], golds: Sequence[str]) -> list[int]:
    """The indices of the texts that show their own answer, if they do so more often than another's; else empty."""
    own = [index for index, pair in enumerate(zip(texts, golds, strict=True)) if shows(*pair)]
    # The next one's answer may be the same: then it is as probable as it is among all.
    by_chance = sum(shows(*pair) for pair in zip(texts, (*golds[1:], *golds[:1]), strict=True))
    return own if wins_more(len(own), len(texts), by_chance, len(texts)) else []


def holds(text: str, gold: str) -> bool:
    """Whether the answer stands in a text as a word of its own."""
    return bool(gold) and re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", text) is not None


def marked(text: str, gold: str) -> bool:
    """Whether the answer stands behind a word such as "answer" or "solution"."""
    return bool(gold) and re.search(rf"(?i:{_MARK}){re.escape(gold)}(?!\w)", text) is not None


def same_place(texts: Sequence[str], golds: Sequence[str]) -> Shows | None:
    """A test for the place at which almost all texts have their answer, behind the same characters."""
    before: Counter[str] = Counter()
    for text, gold in zip(texts, golds, strict=True):
        places = re.finditer(rf"(?<!\w){re.escape(gold)}(?!\w)", text) if gold else ()
        before.update({text[max(0, each.start() - BEFORE) : each.start()] for each in places})
    place, count = before.most_common(1)[0] if before else ("", 0)
    return partial(_behind, place) if count >= ALMOST_ALL * len(texts) else None


def beside_what_is_asked(texts: Sequence[str]) -> list[str]:
    """What follows, in the lines that all texts have, the words by which one text differs from most."""
    lines = [set(text.splitlines()) for text in texts]
    common = "\n".join(line for line in dict.fromkeys(texts[0].splitlines()) if all(line in each for each in lines))
    counts = [Counter(each[0] for each in _WORD.finditer(text)) for text in texts]
    every = {word for each in counts for word in each}
    usual = {word: sorted(each[word] for each in counts)[len(texts) // 2] for word in every}
    places: dict[str, list[str]] = {}
    for each in _WORD.finditer(common):
        places.setdefault(each[0], []).append(common[each.end() : each.end() + AFTER])
    return [
        "\n".join(after for word in each if each[word] > usual[word] for after in places.get(word, ()))
        for each in counts
    ]


def _behind(place: str, text: str, gold: str) -> bool:
    return holds(text, gold) and re.search(rf"{re.escape(place + gold)}(?!\w)", text) is not None


def _coded(encode: Callable[[str], str]) -> Shows:
    """A test for an answer that is written otherwise."""

    def shows(text: str, gold: str) -> bool:
        code = encode(gold)
        return len(gold) >= SHORTEST and code != gold and holds(text, code)

    return shows


CODES: dict[str, Shows] = {
    "in base64": _coded(lambda gold: base64.b64encode(gold.encode()).decode().rstrip("=")),
    "in hexadecimal digits": _coded(lambda gold: gold.encode().hex()),
    "from back to front": _coded(lambda gold: gold[::-1]),
    "in rot13": _coded(lambda gold: codecs.encode(gold, "rot13")),
    "as its MD5, which a guess can be compared with": _coded(lambda gold: hashlib.md5(gold.encode()).hexdigest()),
    "as its SHA-256, which a guess can be compared with": _coded(
        lambda gold: hashlib.sha256(gold.encode()).hexdigest()
    ),
}
"""Other forms of an answer."""
