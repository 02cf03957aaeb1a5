"""Number theory: divisors, primes, remainders, bases, Diophantine equations."""

import random
from collections import Counter
from math import gcd, isqrt, lcm, prod
from typing import ClassVar

from gem_envs_math.notation import total
from gem_envs_math.problem import Levels, Problem, ProblemEnv, in_order, integer, numbers

_PRIMES = [n for n in range(2, 200) if all(n % d for d in range(2, isqrt(n) + 1))]
_DIGITS = "0123456789ABCDEF"


def greatest_common_divisor(rng: random.Random, level: int) -> Problem:
    """gcd(a, b)."""
    common, most = (rng.randint(1, 9), 9) if level == 0 else (rng.randint(2, 60), 40)
    a, b = common * rng.randint(1, most), common * rng.randint(1, most)
    return integer(
        rng.choice((f"What is gcd({a}, {b})?", f"What is the greatest common divisor of {a} and {b}?")), gcd(a, b)
    )


def division(rng: random.Random, level: int) -> Problem:
    """The remainder of a division."""
    divisor = rng.randint(2, 9)
    dividend = rng.randint(divisor, 99)
    return integer(
        rng.choice(
            (f"What is {dividend} mod {divisor}?", f"What is the remainder of {dividend} divided by {divisor}?")
        ),
        dividend % divisor,
    )


def digit_sum(rng: random.Random, level: int) -> Problem:
    """The sum of decimal digits."""
    shown = rng.randint(10, 9999)
    return integer(f"What is the sum of the digits of {shown}?", sum(map(int, str(shown))))


def next_multiple(rng: random.Random, level: int) -> Problem:
    """The smallest multiple above a bound."""
    divisor, bound = rng.randint(2, 12), rng.randint(1, 60)
    return integer(
        f"What is the smallest multiple of {divisor} that is larger than {bound}?", (bound // divisor + 1) * divisor
    )


def next_prime(rng: random.Random, level: int) -> Problem:
    """The smallest prime above a bound."""
    bound = rng.randint(1, 95)
    return integer(f"What is the smallest prime larger than {bound}?", next(p for p in _PRIMES if p > bound))


def extreme_prime_factor(rng: random.Random, level: int) -> Problem:
    """The smallest or largest prime factor."""
    n = rng.randint(4, 99)
    which, choose = rng.choice((("smallest", min), ("largest", max)))
    return integer(f"What is the {which} prime factor of {n}?", choose(factors(n)))


def least_common_multiple(rng: random.Random, level: int) -> Problem:
    """lcm(a, b), or of three numbers at the medium level."""
    given = [rng.randint(2, 9 if level == 0 else 60) for _ in range(2 + level)]
    *rest, last = given
    return integer(f"What is the least common multiple of {', '.join(map(str, rest))} and {last}?", lcm(*given))


def factorisation(rng: random.Random, level: int) -> Problem:
    """All prime factors, repeated."""
    drawn = sorted(rng.choice(_PRIMES[:9]) for _ in range(rng.randint(2, 5)))
    return in_order(
        f"Write {prod(drawn)} as a product of primes. Give the primes from the smallest to the largest, each as often "
        "as it occurs.",
        drawn,
    )


def divisors(rng: random.Random, level: int) -> Problem:
    """The number or the sum of the divisors."""
    n = prod(p ** rng.randint(1, 3) for p in rng.sample(_PRIMES[:6], 1 + level))
    powers = Counter(factors(n))
    if rng.random() < 0.5:
        return integer(f"How many positive divisors does {n} have?", prod(e + 1 for e in powers.values()))
    return integer(
        f"What is the sum of all positive divisors of {n}, {n} included?",
        prod((p ** (e + 1) - 1) // (p - 1) for p, e in powers.items()),
    )


def power_remainder(rng: random.Random, level: int) -> Problem:
    """A power modulo a number."""
    base, modulus = rng.randint(2, 30), rng.randint(3, 60 if level == 1 else 500)
    exponent = rng.randint(5, 60) if level == 1 else rng.randint(200, 5000)
    return integer(f"What is the remainder of {base}^{exponent} divided by {modulus}?", pow(base, exponent, modulus))


def base_conversion(rng: random.Random, level: int) -> Problem:
    """A number of another base in base ten."""
    base = rng.choice((2, 3, 5, 7, 8, 9, 12, 16))
    n, shown = (rest := rng.randint(30, 3000)), ""
    while rest:
        rest, digit = divmod(rest, base)
        shown = _DIGITS[digit] + shown
    return integer(f"What is the number {shown} of base {base} in base ten?", n)


def inverse(rng: random.Random, level: int) -> Problem:
    """The inverse modulo a number."""
    modulus = rng.randint(7, 60 if level == 1 else 600)
    a = rng.choice([a for a in range(2, modulus) if gcd(a, modulus) == 1])
    return integer(
        f"For which x from 0 to {modulus - 1} has {a}x the remainder 1 modulo {modulus}?", pow(a, -1, modulus)
    )


def remainders(rng: random.Random, level: int) -> Problem:
    """The smallest number with given remainders: the Chinese remainder theorem."""
    moduli = rng.sample(_PRIMES[1:6] if level == 1 else _PRIMES[2:9], 1 + level)
    answer = rng.randrange(prod(moduli))
    given = [f"{answer % modulus} modulo {modulus}" for modulus in moduli]
    return integer(
        f"What is the smallest non-negative integer that is {', '.join(given[:-1])} and {given[-1]}?", answer
    )


def multiples(rng: random.Random, level: int) -> Problem:
    """The count of numbers divisible by a but not by b."""
    n, (a, b) = rng.randint(100, 2000), rng.sample(range(2, 16), 2)
    return integer(
        f"How many of the integers from 1 to {n} are divisible by {a}, but not by {b}?", n // a - n // lcm(a, b)
    )


def trailing_zeros(rng: random.Random, level: int) -> Problem:
    """The exponent of a prime in a factorial."""
    p = rng.choice((2, 3, 5, 7))
    rest = n = rng.randint(10, 300 if level == 1 else 5000)
    answer = 0
    while rest := rest // p:
        answer += rest
    return integer(f"What is the largest k for which {p}^k divides {n}! (the factorial of {n})?", answer)


def totient(rng: random.Random, level: int) -> Problem:
    """Euler's function."""
    n = rng.randint(60, 1500)
    answer = n
    for p in set(factors(n)):
        answer -= answer // p
    return integer(f"How many of the integers from 1 to {n} have no common divisor with {n} except 1?", answer)


def order(rng: random.Random, level: int) -> Problem:
    """The multiplicative order modulo a prime."""
    p = rng.choice(_PRIMES[5:40])
    a = rng.randint(2, p - 1)
    power, answer = a, 1
    while power != 1:
        power, answer = power * a % p, answer + 1
    return integer(f"What is the smallest k > 0 for which {a}^k has the remainder 1 modulo {p}?", answer)


def congruence(rng: random.Random, level: int) -> Problem:
    """All solutions of a quadratic congruence modulo a prime."""
    p = rng.choice(_PRIMES[3:18])
    r, s = rng.randrange(p), rng.randrange(p)
    b, c = -(r + s) % p, r * s % p
    return numbers(
        f"Find all x from 0 to {p - 1} for which {total([(1, 'x^2'), (b, 'x'), (c, '')])} is divisible by {p}.",
        sorted({r, s}),
    )


def coins(rng: random.Random, level: int) -> Problem:
    """The number of solutions of a x + b y = c with x and y not negative."""
    a, b = rng.randint(2, 12), rng.randint(13, 25)
    c = a * rng.randint(3, 30) + b * rng.randint(0, 15)
    answer = sum((c - b * y) % a == 0 for y in range(c // b + 1))
    return integer(f"How many pairs of integers x >= 0 and y >= 0 satisfy {a}x + {b}y = {c}?", answer)


def unreachable(rng: random.Random, level: int) -> Problem:
    """The largest sum that coins of two values cannot make: Sylvester's formula."""
    while True:
        a, b = rng.sample(range(3, 40), 2)
        if gcd(a, b) == 1:
            break
    return integer(f"What is the largest amount that coins of {a} and of {b} cannot pay exactly?", a * b - a - b)


def factors(n: int) -> list[int]:
    """The prime factors, each as often as it occurs."""
    found, divisor = list[int](), 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            found.append(divisor)
            n //= divisor
        divisor += 1
    return found + [n] * (n > 1)


class NumberTheory(ProblemEnv):
    r"""Divisors, primes, remainders, bases, Diophantine equations.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (
            greatest_common_divisor, division, digit_sum, next_multiple, next_prime, extreme_prime_factor,
            least_common_multiple,
        ),
        "medium": (
            greatest_common_divisor, least_common_multiple, factorisation, divisors, power_remainder, base_conversion,
            inverse, remainders, multiples, trailing_zeros,
        ),
        "hard": (
            divisors, power_remainder, inverse, remainders, trailing_zeros, totient, order, congruence, coins,
            unreachable,
        ),
    }  # fmt: skip
