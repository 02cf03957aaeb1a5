"""`math:NumberTheory-v0`: every answer is found again by counting and trying."""

import re
from itertools import count, product
from math import factorial, gcd, prod

import pytest
from drawn_problems import cases, draws, formula, ids, integers, numbers

from gem_envs_math.number_theory import NumberTheory


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


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
    tried = count(bound + 1) if "smallest" in text else range(bound - 1, 0, -1)
    return next(n for n in tried if n % divisor == 0)


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


def multiples_between(text):
    divisor, start, end = integers(text)
    return sum(n % divisor == 0 for n in range(start, end + 1))


def clock(text):
    _, last, shown, hours = integers(text)
    hand = list(range(last + 1))
    turned = hours if "will" in text else -hours
    for _ in range(abs(turned)):
        hand = hand[1:] + hand[:1] if turned > 0 else hand[-1:] + hand[:-1]
    return hand[shown]


def exponent(n, p):
    """The exponent of p in n!, factor by factor."""
    return sum(next(power for power in count() if factor % p ** (power + 1)) for factor in range(1, n + 1))


def power_in_factorial(text):
    p, n = (int(number) for number in re.search(r"(\d+)\^k divides (\d+)!", text).groups())
    found = exponent(n, p)
    assert factorial(n) % p**found == 0 != factorial(n) % p ** (found + 1)
    return found


def zeros_in_base(text):
    """The factorial itself is divided."""
    n, base = integers(text)[0], integers(text)[-1]
    left, zeros = factorial(n), 0
    while left % base == 0:
        left, zeros = left // base, zeros + 1
    return zeros


def square_divisors(text):
    """Divisors by trying the exponents of the primes up to 7."""
    shown, what = re.search(r"divisors of (.*) are (squares|cubes)", text).groups()
    n, k = eval(shown.replace("^", "**")), 2 if what == "squares" else 3
    exponents = [next(power for power in count() if n % p ** (power + 1)) for p in (2, 3, 5, 7)]
    assert prod(p**e for p, e in zip((2, 3, 5, 7), exponents, strict=True)) == n
    return sum(all(e % k == 0 for e in chosen) for chosen in product(*(range(e + 1) for e in exponents)))


def power_tower(text):
    """Multiplied out, by the cycle of the powers."""
    a, b, c, p = (int(number) for number in re.search(r"of (\d+)\^\((\d+)\^(\d+)\) divided by (\d+)", text).groups())
    powers = [1]
    while len(powers) == 1 or powers[-1] != 1:
        powers.append(powers[-1] * a % p)
    return powers[b**c % (len(powers) - 1)]


def linear_congruence(text):
    most, shown, m = re.search(r"0 to (\d+) for which (.*) is divisible by (\d+)", text).groups()
    return [x for x in range(int(most) + 1) if formula(shown)(x) % int(m) == 0]


def coprime_up_to(text):
    _, bound, n, _ = integers(text)
    return sum(gcd(k, n) == 1 for k in range(1, bound + 1))


def order(text):
    a, p = (int(number) for number in re.search(r"(\d+)\^k has the remainder 1 modulo (\d+)", text).groups())
    return next(k for k in count(1) if a**k % p == 1)


def coins(text):
    a, b, c = (int(number) for number in re.search(r"satisfy (\d+)x \+ (\d+)y = (\d+)", text).groups())
    return sum(a * x + b * y == c for x in range(c // a + 1) for y in range(c // b + 1))


def unreachable(text):
    common, a, b = integers(text)
    paid = {a * x + b * y for x in range(b // common) for y in range(a // common)}
    return max(n for n in range(common, a * b, common) if n not in paid and n < a * b // common)


SOLVERS = {
    "prime_sum": lambda text: sum(prime_factors(integers(text)[0])),
    "remainder_of_product": lambda text: eval(re.search("remainder of (.*) divided", text)[1]) % integers(text)[-1],
    "factorisation": lambda text: prime_factors(integers(text)[0]),
    "divisors": lambda text: (len if "many" in text else sum)(divisors(integers(text)[0])),
    "quadratic_congruence": linear_congruence,
}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(NumberTheory), ids=ids)
def test_the_answer_is_what_trying_gives(kind, level):
    for problem in draws(kind, level):
        answer = solver_of(kind)(problem.question)
        assert (answer if isinstance(answer, list) else [answer]) == numbers(problem.answer), problem


def test_a_number_is_the_product_of_the_primes_that_are_asked_for():
    for problem in draws(NumberTheory.levels["medium"][2], 1):
        assert prod(map(int, numbers(problem.answer))) == integers(problem.question)[0]
