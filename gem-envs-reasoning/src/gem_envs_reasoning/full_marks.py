"""Checks of full marks, for datasets whose scorer gives them to some wrong answers too.

Such a scorer skips what it cannot read, compares only what it expects, or allows errors as large as the answer. Here
each answer that got full marks is checked again as a whole.
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

Item = Mapping[str, Any]

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_ANGLE = re.compile(rf"{_NUMBER}\s*(?:°|degrees?)?")
_PAIR = re.compile(rf"\(?\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)?")
_FRACTION = re.compile(r"\\d?frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\}|\d+\s*/\s*\d+", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"\$?\s*[+-]?\d[\d,]*(?:\.\d*)?")
_HANOI = re.compile(r"Move disk \d+ from Peg \d+ to Peg \d+")
_TIME = re.compile(r"(?:\d+ days?, *)?\d+:\d\d(?::\d\d(?:\.\d{1,6})?)?|\d+(?: days?)?")
_DIGITS = 12
"""Significant digits of decimal_arithmetic."""


def _geometry(answer: str, item: Item) -> bool:
    form = {"angle_measure": _ANGLE, "orthocenter": _PAIR}.get(item["metadata"]["task_type"])
    return form is None or form.fullmatch(answer.strip()) is not None


def _probability(answer: str, item: Item) -> bool:
    """Within 1e-4 and within 1%: a probability of 1/32768 is not 0."""
    exact = Fraction(item["metadata"]["rational"]["numerator"], item["metadata"]["rational"]["denominator"])
    return abs(Fraction(answer.replace(",", "")) - exact) <= min(Fraction(1, 10_000), exact / 100)


def _cryptarithm(answer: str, item: Item) -> bool:
    letters = set("".join((*item["metadata"]["words_letters"], item["metadata"]["result_letters"])))
    return answer.count("=") == len(letters)


def _decimal(answer: str, item: Item) -> bool:
    """The exact value; if that was rounded to twelve digits, the last digit may differ by one."""
    right = Decimal(item["answer"])
    rounded = len(right.as_tuple().digits) >= _DIGITS
    last = right.as_tuple().exponent
    return abs(Decimal(answer) - right) <= (Decimal(1).scaleb(int(last)) if rounded else 0)


def _fraction(answer: str, item: Item) -> bool:
    return _FRACTION.fullmatch(answer.strip().strip("$").strip()) is not None


def _cells(answer: str, item: Item) -> bool:
    return json.dumps(json.loads(answer)) == json.dumps(json.loads(item["answer"]))


def _coloring(answer: str, item: Item) -> bool:
    colors = json.loads(answer)
    vertices = item["metadata"]["puzzle"]["vertices"]
    return {*colors} == {*map(str, vertices)} and all(type(color) is int for color in colors.values())


def _grid(answer: str, item: Item) -> bool:
    return not set(answer) - set("01 ,[]\r\n\t")


def _roles(answer: str, item: Item) -> bool:
    words = re.findall(r"[^\s.,()]+", answer.lower())
    return {*words} <= {*re.findall(r"[^\s.,()]+", item["answer"].lower()), "is", "a", "an", "and"}


def _words(answer: str, item: Item) -> bool:
    return answer.lower().split() == item["answer"].lower().split()


def _letters(answer: str, item: Item) -> bool:
    return answer.replace(" ", "").lower() == item["answer"].replace(" ", "").lower()


def _candidate(answer: str, item: Item) -> bool:
    """The candidates have three decimals."""
    return abs(float(answer.replace(",", "")) - item["metadata"]["solution"]) < 5e-4


def _sorted(answer: str, item: Item) -> bool:
    given = [Decimal(str(number)) for number in json.loads(answer.replace("'", '"'))]
    return given == [Decimal(number) for number in json.loads(item["answer"].replace("'", '"'))]


def _partitions(answer: str, item: Item) -> bool:
    parts = json.loads(answer)
    return all(isinstance(part, list) for part in parts) and len(parts) == len(item["metadata"]["solution"])


def _solutions(answer: str, item: Item) -> bool:
    """Accept as many numbers as there are solutions, and nothing else."""
    texts = [] if answer in ("", '""') else answer.split(",")
    return len(texts) == len(item["metadata"]["real_solutions"]) and bool([float(text) for text in texts] or not texts)


def _pooled_matrix(answer: str, item: Item) -> bool:
    """Compare matrices to two decimals, in the right shape."""
    given = [[float(number) for number in line.split()] for line in answer.splitlines() if line.strip()]
    right = item["metadata"]["solution"]
    return [len(row) for row in given] == [len(row) for row in right] and all(
        abs(one - other) <= 0.00501
        for row, solved in zip(given, right, strict=True)
        for one, other in zip(row, solved, strict=True)
    )


def _buttons(answer: str, item: Item) -> bool:
    return re.fullmatch(r"[A-Ca-c\s,→>\[\]'\"-]*", answer) is not None


def _route(answer: str, item: Item) -> bool:
    return not set(answer) - set("LDUR ,\r\n\t")


def _disk_moves(answer: str, item: Item) -> bool:
    return all(_HANOI.fullmatch(line.strip()) for line in answer.splitlines() if line.strip())


def _word_list(answer: str, item: Item) -> bool:
    return re.split(r",\s*", answer.strip()) == item["metadata"]["sorted_words"]


def _duration(answer: str, item: Item) -> bool:
    return _TIME.fullmatch(answer.strip()) is not None


def _integers(answer: str, item: Item) -> bool:
    return [[int(number) for number in line.split()] for line in answer.splitlines() if line.strip()] == item[
        "metadata"
    ]["solution"]


def is_number(answer: str, item: Item) -> bool:
    """Tell whether an answer is the stored number and nothing else, in any notation."""
    if not _PLAIN_NUMBER.fullmatch(answer):
        return False
    return Decimal(answer.replace(",", "").lstrip("$ ")) == Decimal(item["answer"])


_CHECKS: dict[str, Callable[[str, Item], bool]] = {
    "advanced_geometry": _geometry,
    "coin_flip": _probability,
    "cryptarithm": _cryptarithm,
    "decimal_arithmetic": _decimal,
    "figlet_font": _letters,
    "fraction_simplification": _fraction,
    "game_of_life": _cells,
    "graph_color": _coloring,
    "kakurasu": _grid,
    "knights_knaves": _roles,
    "letter_jumble": _words,
    "number_format": _candidate,
    "number_sorting": _sorted,
    "palindrome_partitioning": _partitions,
    "polynomial_equations": _solutions,
    "pool_matrix": _pooled_matrix,
    "quantum_lock": _buttons,
    "sokoban": _route,
    "spell_backward": _letters,
    "survo": _integers,
    "time_intervals": _duration,
    "tower_of_hanoi": _disk_moves,
    "word_sorting": _word_list,
}


def are_deserved(dataset: str, answer: str, item: Item) -> bool:
    """Tell whether an answer to which the scorer of `dataset` gave full marks is right as a whole."""
    check = _CHECKS.get(dataset)
    try:
        return check is None or check(answer, item)
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return False
