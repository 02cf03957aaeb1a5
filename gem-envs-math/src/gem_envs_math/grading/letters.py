"""Letters that may be units: `m` of `10 m`, which is a variable in `2m + 3`."""

import re
from functools import lru_cache
from typing import NamedTuple

from gem_envs_math.grading.formulas import formulas_in, without_money
from gem_envs_math.grading.nodes import Node
from gem_envs_math.grading.units import UNITS

_LONGEST = 20_000
"""Characters of a question that are read."""
_UPRIGHT = re.compile(r"\\(?:text|textrm|mathrm|mbox|operatorname|rm)\s*\{[^{}]*\}|\\[A-Za-z]+")
_VARIABLE = re.compile(r"(?<![A-Za-z\\])(?<!\d[ ~])(?<!\d\\[ ,;])[A-Za-z](?![A-Za-z])")
_WORD = re.compile(
    r"(?P<marked>\d\s*\$?\s*(?:\\[ ,;:]|~)?\s*|/\s*)?"
    r"(?P<upright>\\(?:text|textrm|mathrm|mbox|rm)\s*\{\s*)?(?P<word>[A-Za-z]+)"
)
_ASKED = re.compile(r"[Hhi](?:(?<=[Hh])ow many|(?<=\Wi)n)\s+(?P<letter>[A-Za-z])(?=\s*[.,;:?)]|(?<=many\W.)\s)")
_ENGLISH = {
    "in", "unit", "units", "degree", "degrees", "bit", "bits", "mi", "pt", "person", "people", "persons",
    "piece", "dozen", "second",
}  # fmt: skip


class Letters(NamedTuple):
    """What is known about letters behind a number."""

    units: frozenset[str] = frozenset()
    """The base units that the gold or the question has, such as `m` and `s`."""
    variables: frozenset[str] = frozenset()
    """Letters that are variables of the question."""
    is_gold: bool = True
    """Whether this is the gold, where `10 m` says itself that it has a unit."""

    def of_answer(self, units: frozenset[str]) -> "Letters":
        """The same for an answer, which does not say it itself, to a gold with `units`."""
        return Letters(self.units | units, self.variables, is_gold=False) if self != _UNKNOWN or units else VARIABLES


_UNKNOWN = Letters()
VARIABLES = Letters(is_gold=False)
"""No letter is a unit."""


def base_units(node: Node) -> set[str]:
    """The base units of all quantities of `node`."""
    found = {power.partition("^")[0] for power in node.name.split()} if node.op == "quantity" else set[str]()
    for part in node.args:
        found |= base_units(part)
    return found


@lru_cache(maxsize=512)
def letters_of(question: str) -> Letters:
    """What a question says about letters: those of its formulas are variables, and it may name units."""
    text = question[-_LONGEST:]
    variables = {
        letter for _, formula in formulas_in(without_money(text))
        for letter in _VARIABLE.findall(_UPRIGHT.sub(" ", formula))
    }  # fmt: skip
    units: set[str] = set()
    for match in _ASKED.finditer(text):
        if match["letter"] in UNITS and match["letter"] not in variables:
            units |= UNITS[match["letter"]].powers.keys()
    for match in _WORD.finditer(text):
        word, marked = match["word"], match["marked"] or match["upright"]
        if (marked and word not in variables) or (len(word) > 1 and word not in _ENGLISH):
            unit = UNITS.get(word) or (UNITS.get(word.lower()) if len(word) > 2 else None)
            units |= unit.powers.keys() if unit else set()
    return Letters(frozenset(units), frozenset(variables))
