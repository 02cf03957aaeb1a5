r"""Detection of answers that only repeat a formula of their question.

`\sqrt{48}` equals $4\sqrt{3}$, so a grader that looks at values gives full marks to whoever copies the formula after
"Simplify" or "Factorise" into the box, perhaps with `+0`. In training, that is soon found.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from gem_envs_math.grading import grade
from gem_envs_math.grading.answers import read
from gem_envs_math.grading.asked import asked_by
from gem_envs_math.grading.formulas import formulas_in, without_money
from gem_envs_math.grading.letters import VARIABLES
from gem_envs_math.grading.named import is_calculation, is_name
from gem_envs_math.grading.nodes import Node
from gem_envs_math.grading.rewriting import Form, Forms, contains, forms, is_numeral

_PERCENTAGE = re.compile(r"\d+(?:\.\d+)?\s?(?:\\?%|percent)")
_WORD = re.compile(r"(?!(?:sqrt|sin|cos|tan|ln|log|exp|pi|e)\b)(?:[A-Za-z]{2,}|a|I)[,.;:?!]*")
_OPERATOR = re.compile(r"[-+*/^<>=]|sqrt|\(|\d[a-z]")
_NOTHING = re.compile(r"\s|\\[,;:!]|\\(left|right|displaystyle)(?![a-zA-Z])|~|\$")
_FRACTION = re.compile(r"\\[dt]?frac(?:\{([0-9]+)\}\{([0-9]+)\}|([0-9])([0-9]))")
_SMALL = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_BRACKETS = re.compile(r"\(([^()]*)\)|\{([^{}]*)\}")
_GIVEN = re.compile(r"[+-]?[0-9]+|[a-zA-Z]")
"""Integers and letters: they may well be the answer to a question in which they stand."""
_NAME = re.compile(r"\\?[A-Za-z]+(?:_\w|_\{\w+\})?(?:\([A-Za-z]\))?")
"""The name of what is asked for, as in `2 t + 3 = Q(t)`."""
_SCIENTIFIC = re.compile(r"(?<=\d)[eE]([-+]?\d{1,4})(?![\w.])")
_TO_CARRY_OUT = re.compile(r"\\(?:i{0,2}int|oint|sum|prod|lim|limsup|liminf|det|begin\s*\{vmatrix\})(?![A-Za-z])")
_VARIABLE = re.compile(r"(?<![A-Za-z\\])[A-Za-z]")
_TRANSFORM = re.compile(
    r"\b(?:add|calculate|change|compute|convert|evaluate|express|find|reduce|rewrite|round|simplify|what is|work out"
    r"|write)\b[^.?!$]{0,40}$",
    re.IGNORECASE,
)


class _Formula(NamedTuple):
    """A formula, of a question or of an answer."""

    text: str
    texts: frozenset[str]
    """The text without what does not count, and the part of it that a name or a calculation equals."""
    forms: tuple[Forms, ...]
    """Those of all of it, and of that part; none if it is not readable."""
    is_numeral: bool


def is_copied(answer: str, question: str, golds: Iterable[str]) -> bool:
    r"""Tell whether the right `answer` is a formula of `question` in another writing, and not written like a gold.

    Such are the formula itself, up to trivial rewriting (see `gem_envs_math.grading.rewriting`), and what still
    contains a formula equal to the gold, or an integral or a sum that the question asks for. Integers and letters are
    never copies; other numbers only after a word such as "write". Formulas stand in `$…$`, `\(…\)` or `\[…\]`, or else
    in plain text.
    """
    ours = _formula(answer)
    if any(map(_is_given, _parts(ours))) or any(map(_GIVEN.fullmatch, ours.texts)):
        return False
    rights = [_formula(gold) for gold in golds]
    if any(ours.texts & right.texts for right in rights) or any(_same(ours, right, 0) for right in rights):
        return False
    return any(_is_copy(ours, formula, rights) for formula in formulas(question))


def _is_copy(ours: _Formula, formula: _Formula, rights: list[_Formula]) -> bool:
    if ours.texts & formula.texts or _same(ours, formula, 0):
        return True
    if not ours.forms:
        left = set(_TO_CARRY_OUT.findall(ours.text)) & set(_TO_CARRY_OUT.findall(formula.text))
        return bool(left.difference(*(_TO_CARRY_OUT.findall(right.text) for right in rights)))
    if any(_same(ours, formula, which) and not any(_same(ours, right, which) for right in rights) for which in (1, 2)):
        return True
    if not _contains(ours, formula) or any(_contains(right, formula) for right in rights):
        return False
    return grade(formula.text, [right.text for right in rights]).right


def _same(one: _Formula, other: _Formula, which: int) -> bool:
    return bool({each[which] for each in one.forms} & {each[which] for each in other.forms})


def _contains(whole: _Formula, part: _Formula) -> bool:
    parts = [each for each in _parts(part) if not _is_given(each)]
    return any(contains(outer, inner) for outer in _parts(whole) for inner in parts)


def _parts(formula: _Formula) -> list[Form]:
    return [each.shallow for each in formula.forms]


def _is_given(form: Form) -> bool:
    if form[0] == "mul":
        return form[1] == -1 and len(form[2]) == 1 and form[2][0][1] == 1 and _is_given(form[2][0][0])
    return (form[0] == "number" and form[1].denominator == 1) or (form[0] == "name" and len(form[1]) == 1)


@lru_cache(maxsize=512)
def formulas(question: str) -> tuple[_Formula, ...]:
    """The formulas of a question that may be copied."""
    question = without_money(question)
    found = formulas_in(question) or list(_in_plain_text(question))
    if not (asks_percent := asked_by(question).percent):
        found += [(match.start(), match[0]) for match in _PERCENTAGE.finditer(question)]
    read = [(question[:start], _formula(text)) for start, text in found]
    return tuple(
        formula
        for before, formula in read
        if not formula.is_numeral or (_TRANSFORM.search(before) and not (asks_percent and "%" in formula.text))
    )


def _in_plain_text(question: str) -> Iterator[tuple[int, str]]:
    """The formulas that stand between words, each after the place where it begins."""
    begin = end = 0
    for match in (*re.finditer(r"\S+", question), None):
        if match is not None and not _WORD.fullmatch(match[0]):
            begin = match.start() if begin == end else begin
            end = match.end()
            if match[0][-1] not in ",;:?.":
                continue
        run = question[begin:end].strip(" ,.;:?=")
        if _OPERATOR.search(run, 1):
            yield begin, run
        begin = end = match.end() if match is not None else 0


def _formula(text: str) -> _Formula:
    text = text.strip().rstrip(".,;:?")
    nodes = read(_SCIENTIFIC.sub(r"\\cdot 10^{\1}", text), VARIABLES).readings
    parts = [part for node in nodes for part in (node, *_result(node))]
    return _Formula(text, _texts(text), tuple(map(forms, parts)), bool(nodes) and all(map(is_numeral, nodes)))


def _result(node: Node) -> tuple[Node, ...]:
    """The right-hand side of `y = 2` and `1 + 1 = 2`, but not of `2x = 4`, which is an equation to solve."""
    if node.op != "relation" or set(node.name.split()) != {"="}:
        return ()
    return node.args[-1:] if is_name(node.args[0]) or is_calculation(node) else ()


def _texts(formula: str) -> frozenset[str]:
    """The formula without what does not count, and the part that a name or a calculation equals."""
    text = _NOTHING.sub("", formula).rstrip(".,;:?")
    text = _SMALL.sub(r"\\frac", _FRACTION.sub(r"\1\3/\2\4", text))
    first, _, last = text.rpartition("=")
    texts = {text}
    if first and _NAME.fullmatch(last):
        texts.add(first)
    elif _NAME.fullmatch(left := first.partition("=")[0]) or _TO_CARRY_OUT.search(left) or not _VARIABLE.search(left):
        texts.add(last)
    return frozenset((match[1] or match[2] or "") if (match := _BRACKETS.fullmatch(each)) else each for each in texts)
