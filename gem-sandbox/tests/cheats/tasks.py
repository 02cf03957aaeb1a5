"""Random tasks with two possible answers, which are public: the easiest to cheat at."""

import random
from collections.abc import Callable
from typing import NamedTuple

ANSWERS = (("yes", "no"), ("true", "false"), ("odd", "even"), ("1", "0"), ("sound", "broken"), ("A", "B"))


class Task(NamedTuple):
    """Answers that may come, and cases: inputs, and the one that is right for each."""

    answers: tuple[str, str]
    cases: list[tuple[str, str]]
    predicate: str


def _prime(numbers: list[int]) -> bool:
    number = sum(numbers)
    return number > 1 and all(number % divisor for divisor in range(2, number))


PREDICATES: dict[str, Callable[[list[int]], bool]] = {
    "the sum is even": lambda numbers: sum(numbers) % 2 == 0,
    "the first is below the last": lambda numbers: numbers[0] < numbers[-1],
    "the sum is prime": _prime,
    "the largest is in the first half": lambda numbers: numbers.index(max(numbers)) < len(numbers) / 2,
    "the digits hold a 7": lambda numbers: any("7" in str(number) for number in numbers),
    "it begins to rise": lambda numbers: numbers[0] < numbers[1],
}


def task(seed: int, count: int = 12) -> Task:
    """A task with `count` cases, in random order, about half of them of each answer."""
    rng = random.Random(f"task {seed}")
    answers = rng.choice(ANSWERS)
    name = rng.choice(sorted(PREDICATES))
    wanted = {True: count - count // 2, False: count // 2}
    cases: dict[str, str] = {}
    while len(cases) < count:
        numbers = [rng.randrange(60) for _ in range(rng.randrange(2, 6))]
        given, right = " ".join(map(str, numbers)) + "\n", PREDICATES[name](numbers)
        if given not in cases and wanted[right]:
            wanted[right] -= 1
            cases[given] = f"{answers[not right]}\n"
    return Task(answers, rng.sample(sorted(cases.items()), count), name)
