"""`math:NumberTheory-v0`: every answer is found again by counting and trying."""

import re
from itertools import count
from math import factorial, gcd, prod

import pytest
from drawn_problems import cases, draws, formula, ids, integers, numbers

from gem_envs_math.number_theory import NumberTheory


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def is_prime(n):
    return len(divisors(n)) == 2


def prime_factors(n):
    found = []
    while n > 1:
        found.append(next(d for d in count(2) if n % d == 0))
        n //= found[-1]
    return found


def greatest_common_divisor(text):
    a, b = integers(text)
    return max(d for d in divisors(a) if b % d == 0)


def next_multiple(text):
    divisor, bound = integers(text)
    return next(n for n in count(bound + 1) if n % divisor == 0)


def least_common_multiple(text):
    given = integers(text)
    return next(n for n in count(max(given), max(given)) if all(n % number == 0 for number in given))


def power_remainder(text):
    base, exponent, modulus = (int(number) for number in re.search(r"(\d+)\^(\d+) divided by (\d+)", text).groups())
    return base**exponent % modulus


def base_conversion(text):
    shown, base = re.search(r"number (\w+) of base (\d+)", text).groups()
    return int(shown, int(base))


def inverse(text):
    most, a, modulus = re.search(r"0 to (\d+) has (\d+)x the remainder 1 modulo (\d+)", text).groups()
    return [x for x in range(int(most) + 1) if int(a) * x % int(modulus) == 1]


def remainders(text):
    wanted = [(int(rest), int(modulus)) for rest, modulus in re.findall(r"(\d+) modulo (\d+)", text)]
    return next(n for n in count() if all(n % modulus == rest for rest, modulus in wanted))


def multiples(text):
    _, n, a, b = integers(text)
    return sum(k % a == 0 and k % b != 0 for k in range(1, n + 1))


def trailing_zeros(text):
    p, n = (int(number) for number in re.search(r"(\d+)\^k divides (\d+)!", text).groups())
    # Factor by factor; the product itself only where it is short.
    powers = 0
    for factor in range(1, n + 1):
        powers += next(power for power in count() if factor % p ** (power + 1))
    assert n > 300 or (factorial(n) % p**powers == 0 and factorial(n) % p ** (powers + 1) != 0)
    return powers


def totient(text):
    n = integers(text)[1]
    return sum(gcd(k, n) == 1 for k in range(1, n + 1))


def order(text):
    a, p = (int(number) for number in re.search(r"(\d+)\^k has the remainder 1 modulo (\d+)", text).groups())
    return next(k for k in count(1) if a**k % p == 1)


def congruence(text):
    most, shown, p = re.search(r"0 to (\d+) for which (.*) is divisible by (\d+)", text).groups()
    return [x for x in range(int(most) + 1) if formula(shown)(x) % int(p) == 0]


def coins(text):
    a, b, c = (int(number) for number in re.search(r"satisfy (\d+)x \+ (\d+)y = (\d+)", text).groups())
    return sum(a * x + b * y == c for x in range(c // a + 1) for y in range(c // b + 1))


def unreachable(text):
    a, b = integers(text)
    paid = {a * x + b * y for x in range(b + 1) for y in range(a + 1)}
    return max(set(range(a * b)) - paid)


SOLVERS = {
    "division": lambda text: next(rest for rest in range(99) if (integers(text)[0] - rest) % integers(text)[1] == 0),
    "digit_sum": lambda text: sum(int(character) for character in text if character.isdigit()),
    "next_prime": lambda text: next(n for n in count(integers(text)[0] + 1) if is_prime(n)),
    "extreme_prime_factor": lambda text: (min if "smallest" in text else max)(prime_factors(integers(text)[0])),
    "factorisation": lambda text: prime_factors(integers(text)[0]),
    "divisors": lambda text: (len if "many" in text else sum)(divisors(integers(text)[0])),
}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(NumberTheory), ids=ids)
def test_the_answer_is_what_trying_gives(kind, level):
    drawn = draws(kind, level)
    if kind.__name__ == "divisors":  # tries every number up to n
        drawn = [problem for problem in drawn if integers(problem.question)[0] < 20_000]
    assert len(drawn) > 5
    for problem in drawn:
        answer = solver_of(kind)(problem.question)
        assert (answer if isinstance(answer, list) else [answer]) == numbers(problem.answer), problem


def test_a_number_is_the_product_of_the_primes_that_are_asked_for():
    for problem in draws(NumberTheory.levels["medium"][2], 1):
        assert prod(map(int, numbers(problem.answer))) == integers(problem.question)[0]
