"""The score of an answer: reasoning-gym's own where its scorer is safe and correct, otherwise ours.

An answer is untrusted text. Some scorers would run it as a program, never return, or give full marks to wrong answers;
those are replaced here, or get only answers that they can handle. Scoring takes milliseconds, except for integrals,
which are graded in another process (see `grader_pool`).
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from reasoning_gym.games import rush_hour

from gem_envs_reasoning import expressions, full_marks, grader_pool

Item = Mapping[str, Any]

MOST_CHARACTERS = 10_000
"""The longest answer that is read, unless four times the stored answer is longer."""
_MOST_LOGIC_CHARACTERS = 500
_MOST_TURNS = 2000
_MOST_CELLS = 5
_MOST_COMPARED = 60_000
"""Two JSON texts are compared node by node up to this product of their lengths."""

_CALCULATIONS = frozenset(("countdown", "puzzle24"))
_INTEGRALS = frozenset(("intermediate_integration", "simple_integration"))
EXPRESSIONS = _CALCULATIONS | _INTEGRALS | {"polynomial_multiplication"}
"""Datasets whose answers are expressions."""

_MOVE = re.compile(r"([A-Z])([+-])(\d{1,9})")
_TURN = re.compile(r"([^\d\s]+)(\d{0,9})")
_HUGE = re.compile(r"[eE][+-]?[\d_]{4}")
_LOGIC = re.compile(r"[A-Z¬∧∨→↔()\s]+")
_JOINED = re.compile(r"[A-Z)]\s*[A-Z(¬]")


def is_refused(dataset: str, answer: str, item: Item) -> bool:
    """Tell whether an answer is malformed: too long, or not plain arithmetic where an expression is asked for.

    An unevaluated `Integral(…)` is refused too: its derivative is the integrand, so it would earn full marks for
    repeating the question. So is "nan" as a complex number, whose distance to any number is 0 to reasoning-gym.
    """
    if len(answer) > max(MOST_CHARACTERS, 4 * len(item["answer"] or "")):
        return True
    if dataset in EXPRESSIONS:
        return expressions.parse(answer) is None
    return dataset == "complex_arithmetic" and "nan" in answer.lower()


def score(scorer: Any, answer: str, item: Item) -> float:
    """The score of an answer that is not refused, from 0 to 1.

    Args:
        scorer: the dataset of reasoning-gym that made the item.
        answer: the text between the tags.
        item: the item that was asked.

    Raises:
        WorkersFailed: the processes that grade integrals keep ending.
    """
    dataset = item["metadata"]["source_dataset"]
    if dataset in _INTEGRALS:
        metadata = item["metadata"]
        return float(grader_pool.is_antiderivative(answer, metadata["integrand"], metadata["variable"]))
    # knight_swap writes into the metadata, and the next episode may use the same item.
    own = {**item, "metadata": {**item["metadata"]}}
    given = _SCORERS[dataset](scorer, answer, own) if dataset in _SCORERS else scorer.score_answer(answer, own)
    if given >= 1 and not full_marks.are_deserved(dataset, answer, own):
        return 0.0
    return min(1.0, max(0.0, float(given)))


def _calculation(target: Any, answer: str, item: Item, otherwise: float) -> float:
    tree = expressions.parse(answer)
    if tree is None or not expressions.uses_each_once(tree, item["metadata"]["numbers"]):
        return otherwise
    try:
        return 1.0 if expressions.value(tree) == target else otherwise
    except (ZeroDivisionError, RecursionError):
        return otherwise


def _countdown(scorer: Any, answer: str, item: Item) -> float:
    return _calculation(item["metadata"]["target"], answer, item, 0.05)


def _puzzle24(scorer: Any, answer: str, item: Item) -> float:
    return _calculation(24, answer, item, 0.01)


def _polynomial(scorer: Any, answer: str, item: Item) -> float:
    given, stored = expressions.parse(answer), expressions.parse(item["answer"])
    assert stored is not None
    try:
        return float(given is not None and expressions.polynomial(given) == expressions.polynomial(stored))
    except (ValueError, ZeroDivisionError, RecursionError):
        return 0.0


def _halting(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym compares the truth of two strings, and both are never empty."""
    return float(answer.strip().lower() == str(item["answer"]).lower())


def _rush_hour(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym's rules, but an impossible move ends the game; reasoning-gym skips it."""
    board: Any = rush_hour.Board(item["metadata"]["board_config"])
    words = answer.replace(",", " ").split()
    moves = [_MOVE.fullmatch(word) for word in words]
    for move in moves:
        if move is None or int(move[3]) > _MOST_CELLS:
            return 0.0
        for _ in range(int(move[3])):
            before = board.mask(), board.solved
            try:
                board.move(move[1], 1 if move[2] == "+" else -1)
            except IndexError:
                return 0.0
            if (board.mask(), board.solved) == before:
                return 0.01
    return 1.0 if board.solved else 0.01


def _cube(scorer: Any, answer: str, item: Item) -> float:
    """The number of turns of a side is taken modulo 4: reasoning-gym makes each one."""
    turns = [_TURN.fullmatch(word) for word in answer.split()]
    few = [(turn[1], int(turn[2] or 1) % 4) for turn in turns if turn is not None]
    if len(few) < len(turns) or len(few) > _MOST_TURNS:
        return 0.01
    return scorer.score_answer(" ".join(side for side, times in few for _ in range(times)) or " ", item)


def _logic(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym takes any text between operators for a variable, and tries all values of all variables."""
    if len(answer) > _MOST_LOGIC_CHARACTERS or not _LOGIC.fullmatch(answer) or _JOINED.search(answer):
        return 0.0
    open_brackets = 0
    for character in answer:
        open_brackets += (character == "(") - (character == ")")
        if open_brackets < 0:
            return 0.0
    return 0.0 if open_brackets else scorer.score_answer(answer, item)


def _number(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym takes the first digits that it finds, without their sign, as the answer."""
    if full_marks.is_number(answer, item):
        return 1.0
    return min(0.01, scorer.score_answer(answer, item))


def _coin(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym makes a fraction of the answer, which is as long as its exponent is large."""
    return 0.0 if _HUGE.search(answer) else scorer.score_answer(answer, item)


def _json(scorer: Any, answer: str, item: Item) -> float:
    """Partial credit is a tree edit distance, whose time grows with the product of the sizes."""
    if len(answer) * len(item["answer"]) > _MOST_COMPARED:
        return float(
            json.dumps(_read_json(answer), sort_keys=True) == json.dumps(_read_json(item["answer"]), sort_keys=True)
        )
    return scorer.score_answer(answer, item)


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


_SCORERS: dict[str, Callable[[Any, str, Item], float]] = {
    "codeio": _json,
    "coin_flip": _coin,
    "countdown": _countdown,
    "game_of_life_halting": _halting,
    "gsm_symbolic": _number,
    "polynomial_multiplication": _polynomial,
    "propositional_logic": _logic,
    "puzzle24": _puzzle24,
    "rubiks_cube": _cube,
    "rush_hour": _rush_hour,
}
