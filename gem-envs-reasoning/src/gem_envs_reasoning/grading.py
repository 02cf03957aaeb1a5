"""Grades: reasoning-gym's score of an answer, where that is safe to ask for and can be believed.

An answer is untrusted text. Some scorers would run it as a program, take for ever over it, or be fooled by it; those
are replaced here, or asked only what they can read. None of this needs more than milliseconds but the integrals,
which are graded in another process (see `graders`).
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from reasoning_gym.games import rush_hour

from gem_envs_reasoning import expressions, graders, right

Item = Mapping[str, Any]

MOST_CHARACTERS = 10_000
"""The longest answer that is read; longer where the stored one is longer than a quarter of it."""
_MOST_LOGIC = 500
_MOST_TURNS = 2000
_MOST_CELLS = 5
_SIMILAR = 60_000
"""The most characters of two JSON texts, multiplied, that reasoning-gym compares node by node."""

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
    """Whether an answer is malformed: too long to be one, or an expression that is not plain arithmetic.

    An unevaluated `Integral(…)` is refused too: its derivative is the integrand, so it would earn full marks for
    repeating the question. So is "nan" as a complex number, whose distance to anything passes for 0.
    """
    if len(answer) > max(MOST_CHARACTERS, 4 * len(item["answer"] or "")):
        return True
    if dataset in EXPRESSIONS:
        return expressions.parsed(answer) is None
    return dataset == "complex_arithmetic" and "nan" in answer.lower()


def grade(env: Any, scorer: Any, answer: str, item: Item) -> float:
    """The score of an answer that is not refused, from 0 to 1.

    Args:
        env: who asks; it keeps the grader processes until it leaves.
        scorer: the dataset of reasoning-gym that made the item.
        answer: what was answered.
        item: what was asked.
    """
    dataset = item["metadata"]["source_dataset"]
    if dataset in _INTEGRALS:
        return float(graders.is_right(env, answer, item["metadata"]["integrand"], item["metadata"]["variable"]))
    # knight_swap writes into the metadata, which is kept for the next episode with this item.
    own = {**item, "metadata": {**item["metadata"]}}
    score = _OURS[dataset](scorer, answer, own) if dataset in _OURS else scorer.score_answer(answer, own)
    if score >= 1 and not right.is_right(dataset, answer, own):
        return 0.0
    return min(1.0, max(0.0, float(score)))


def _calculation(target: Any, answer: str, item: Item, readable: float) -> float:
    tree = expressions.parsed(answer)
    if tree is None or not expressions.uses_each_once(tree, item["metadata"]["numbers"]):
        return readable
    try:
        return 1.0 if expressions.value(tree) == target else readable
    except (ZeroDivisionError, RecursionError):
        return readable


def _countdown(scorer: Any, answer: str, item: Item) -> float:
    return _calculation(item["metadata"]["target"], answer, item, 0.05)


def _puzzle24(scorer: Any, answer: str, item: Item) -> float:
    return _calculation(24, answer, item, 0.01)


def _polynomial(scorer: Any, answer: str, item: Item) -> float:
    given, stored = expressions.parsed(answer), expressions.parsed(item["answer"])
    assert stored is not None
    try:
        return float(given is not None and expressions.polynomial(given) == expressions.polynomial(stored))
    except (ValueError, ZeroDivisionError, RecursionError):
        return 0.0


def _halting(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym asks whether the texts are empty, and none is."""
    return float(answer.strip().lower() == str(item["answer"]).lower())


def _rush_hour(scorer: Any, answer: str, item: Item) -> float:
    """As reasoning-gym moves, but a move that is not possible ends it: it skips those, and goes on."""
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
    """Four turns of a side are none."""
    turns = [_TURN.fullmatch(word) for word in answer.split()]
    few = [(turn[1], int(turn[2] or 1) % 4) for turn in turns if turn is not None]
    if len(few) < len(turns) or len(few) > _MOST_TURNS:
        return 0.01
    return scorer.score_answer(" ".join(side for side, times in few for _ in range(times)) or " ", item)


def _logic(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym takes whatever stands between operators for a variable, and tries all values of all of them."""
    if len(answer) > _MOST_LOGIC or not _LOGIC.fullmatch(answer) or _JOINED.search(answer):
        return 0.0
    open_brackets = 0
    for character in answer:
        open_brackets += (character == "(") - (character == ")")
        if open_brackets < 0:
            return 0.0
    return 0.0 if open_brackets else scorer.score_answer(answer, item)


def _number(scorer: Any, answer: str, item: Item) -> float:
    """reasoning-gym takes the first digits that it finds, without their sign, for the answer."""
    if right.is_number(answer, item):
        return 1.0
    return min(0.01, scorer.score_answer(answer, item))


def _coin(scorer: Any, answer: str, item: Item) -> float:
    """A fraction writes out what an exponent says."""
    return 0.0 if _HUGE.search(answer) else scorer.score_answer(answer, item)


def _json(scorer: Any, answer: str, item: Item) -> float:
    """Partial credit is a distance between trees, which takes the product of their sizes."""
    if len(answer) * len(item["answer"]) > _SIMILAR:
        return float(
            json.dumps(_json_of(answer), sort_keys=True) == json.dumps(_json_of(item["answer"]), sort_keys=True)
        )
    return scorer.score_answer(answer, item)


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


_OURS: dict[str, Callable[[Any, str, Item], float]] = {
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
