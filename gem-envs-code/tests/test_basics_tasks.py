"""The tasks of the pack, compared with independent solutions of the same statements."""

import re
from dataclasses import replace
from itertools import product

import pytest

from gem_envs_code.basics_tasks import load_tasks
from gem_envs_code.judge import judge

TASKS = load_tasks("basics.toml")


def numbers(text):
    return [int(word) for word in text.split()]


def is_palindrome(text):
    kept = re.sub(r"[^a-z0-9]", "", text.lower())
    return "yes" if all(kept[i] == kept[-1 - i] for i in range(len(kept))) else "no"


def prime_factors(text):
    """By trial with every number, which is slow and plain; numbers up to 10**12 whose factors are small or that are
    prime (which the test below checks on their own)."""
    number, factors = int(text), []
    for divisor in (2, *range(3, 10**6 + 1, 2)):
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
    return " ".join(map(str, factors + [number] * (number > 1)))


def brackets(text):
    while text != (shorter := re.sub(r"\(\)|\[\]|\{\}", "", text)):
        text = shorter
    return "broken" if text else "sound"


def of_each_line(solution):
    return lambda text: "\n".join(map(solution, text.splitlines()))


def favourite_word(text):
    words = text.lower().split()
    most = max(words.count(word) for word in words)
    return f"{sorted(word for word in words if words.count(word) == most)[0]} {most}"


def run_lengths(text):
    return re.sub(r"(.)\1*", lambda run: f"{len(run[0])}{run[1]}", text.strip())


def turned_table(text):
    rows = [line.split() for line in text.splitlines()[1:]]
    return "\n".join(" ".join(row[i] for row in rows) for i in range(len(rows[0])))


def shifted_letters(text):
    shift, line = text.splitlines()
    small = "abcdefghijklmnopqrstuvwxyz"
    turned = small[int(shift) % 26 :] + small[: int(shift) % 26]
    return line.translate(str.maketrans(small + small.upper(), turned + turned.upper()))


def roman_numbers(text):
    ones, tens, hundreds = (
        ("", a, a + a, a * 3, a + b, b, b + a, b + a * 2, b + a * 3, a + c) for a, b, c in ("IVX", "XLC", "CDM")
    )
    number = int(text)
    return "M" * (number // 1000) + hundreds[number // 100 % 10] + tens[number // 10 % 10] + ones[number % 10]


def second_largest(text):
    smaller = [n for n in numbers(text) if n != max(numbers(text))]
    return str(max(smaller)) if smaller else "none"


def fewest_coins(text):
    """Breadth first: the sums that one more coin reaches."""
    amount, *values = numbers(text)
    reached, seen, coins = {0}, {0}, 0
    while reached and amount not in reached:
        reached = {a + b for a, b in product(reached, values) if a + b <= amount} - seen
        seen |= reached
        coins += 1
    return str(coins) if reached else "impossible"


def merged_spans(text):
    _, *ends = numbers(text)
    spans = list(zip(ends[::2], ends[1::2], strict=True))
    # On a line of half steps, neighbours that share no number have a gap between them.
    covered = {2 * n for a, b in spans for n in range(a, b + 1)} | {2 * n + 1 for a, b in spans for n in range(a, b)}
    firsts = sorted(n for n in covered if n - 1 not in covered)
    lasts = sorted(n for n in covered if n + 1 not in covered)
    return "\n".join(f"{a // 2} {b // 2}" for a, b in zip(firsts, lasts, strict=True))


SECOND_SOLUTIONS = {
    "sum": lambda text: str(sum(numbers(text))),
    "mirrored-words": lambda text: " ".join(text.split()[::-1]),
    "vowels": lambda text: str(len(re.findall("[aeiouAEIOU]", text))),
    "palindrome": of_each_line(is_palindrome),
    "prime-factors": prime_factors,
    "brackets": of_each_line(brackets),
    "favourite-word": favourite_word,
    "run-lengths": run_lengths,
    "turned-table": turned_table,
    "shifted-letters": shifted_letters,
    "roman-numbers": roman_numbers,
    "second-largest": second_largest,
    "fewest-coins": fewest_coins,
    "merged-spans": merged_spans,
}


def test_there_are_enough_tasks_and_each_has_a_second_solution():
    assert 12 <= len(TASKS) == len({task.name for task in TASKS})
    assert {task.name for task in TASKS} == set(SECOND_SOLUTIONS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_outputs_are_right(task):
    for case in (task.example, *task.tests):
        assert case.output == SECOND_SOLUTIONS[task.name](case.input) + "\n"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_solution_passes_the_example_and_every_test(task, box):
    whole = replace(task, tests=(task.example, *task.tests))
    assert judge(task.solution, whole, box) == (len(whole.tests), len(whole.tests), None)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_there_are_several_hidden_tests_and_a_guess_earns_less_than_a_third(task):
    outputs = [case.output for case in task.tests]
    assert len(task.tests) >= 6
    assert len({case.input for case in (task.example, *task.tests)}) == len(task.tests) + 1
    assert max(map(outputs.count, outputs)) < len(outputs) / 3
    assert sum(case.input == case.output for case in task.tests) < len(outputs) / 3


@pytest.mark.parametrize("task", [task for task in TASKS if task.name in ("palindrome", "brackets")])
def test_a_test_of_a_task_with_two_answers_asks_for_several_and_both_occur_in_each(task):
    for case in task.tests:
        assert len(case.output.split()) >= 4
        assert len(set(case.output.split())) == 2


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_statement_describes_input_and_output(task):
    assert re.fullmatch(r"[A-Z].+\n\nInput: .+\nOutput: .+", task.statement, re.DOTALL)
