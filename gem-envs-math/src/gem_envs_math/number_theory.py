"""Number theory: divisors, primes, remainders, bases, Diophantine equations."""

import random
from collections import Counter
from collections.abc import Mapping
from math import gcd, isqrt, lcm, prod
from typing import ClassVar

from gem_envs_math.counted import Number, counted, like
from gem_envs_math.notation import total
from gem_envs_math.problem import Levels, Problem, ProblemEnv, in_order, integer, numbers

_PRIMES = [n for n in range(2, 200) if all(n % d for d in range(2, isqrt(n) + 1))]
_DIGITS = "0123456789ABCDEF"


def _divisor(a: Number, b: Number) -> Number:
    """Euclid's algorithm."""
    while b:
        a, b = b, a % b
    return a


def _multiple(a: Number, b: Number) -> Number:
    return a // _divisor(a, b) * b


def _inverse(a: Number, modulus: Number) -> Number:
    """The inverse by Euclid's extended algorithm."""
    rows: list[tuple[Number, Number]] = [(modulus, 0), (a % modulus, 1)]
    while rows[-1][0] != 1:
        (before, one), (last, other) = rows[-2:]
        quotient, rest = divmod(before, last)
        rows.append((rest, one - quotient * other))
    return rows[-1][1] % modulus


def _power(base: Number, exponent: int, modulus: Number) -> Number:
    """A power modulo a number, by squaring."""
    result = base % modulus
    for bit in f"{exponent:b}"[1:]:
        result = result * result % modulus
        if bit == "1":
            result = result * base % modulus
    return result


def _factors(n: Number) -> list[Number]:
    """The prime factors from the smallest, each as often as it occurs, by trying primes."""
    found: list[Number] = []
    for p in _PRIMES:
        while int(n) >= p * p:
            quotient, rest = divmod(n, p)
            if rest:
                break
            found.append(p)
            n = quotient
    return [*found, n]


def _powers(n: Number) -> Mapping[int, int]:
    """The exponent of each prime factor."""
    return Counter(map(int, _factors(n)))


def greatest_common_divisor(rng: random.Random, level: int) -> Problem:
    """gcd(a, b)."""
    common, (least, most) = (rng.randint(3, 40), (2, 9)) if level == 0 else (rng.randint(6, 80), (11, 60))
    while True:
        first, second = (rng.randint(least, most) for _ in range(2))
        if gcd(first, second) == 1 and max(first, second) % min(first, second):
            break
    a, b = counted(common * first, common * second)
    question = rng.choice(
        (
            f"What is the greatest common divisor of {a} and {b}?",
            f"A floor of {a} by {b} centimetres is covered with equal square tiles, as large as possible. How many "
            "centimetres long is the side of a tile?",
            f"There are {a} apples and {b} pears. What is the largest number of baskets that can be filled alike, with "
            "nothing left over?",
        )
    )
    return integer(question, _divisor(a, b))


def remainder_of_product(rng: random.Random, level: int) -> Problem:
    """The remainder of a product."""
    while True:
        modulus, first, second = rng.randint(11, 60), rng.randint(61, 199), rng.randint(61, 199)
        if first * second % modulus:
            break
    a, b, m = counted(first, second, modulus)
    return integer(f"What is the remainder of {a} * {b} divided by {m}?", (a % m) * (b % m) % m)


def next_multiple(rng: random.Random, level: int) -> Problem:
    """The multiple next to a bound."""
    divisor, bound = counted(rng.randint(6, 40), rng.randint(100, 2000))
    if rng.random() < 0.5:
        return integer(
            f"What is the smallest multiple of {divisor} that is larger than {bound}?", (bound // divisor + 1) * divisor
        )
    question = f"What is the largest multiple of {divisor} that is smaller than {bound}?"
    return integer(question, (bound - 1) // divisor * divisor)


def prime_sum(rng: random.Random, level: int) -> Problem:
    """The sum of the prime factors."""
    while True:
        n = prod(rng.choice(_PRIMES[:10]) for _ in range(rng.randint(3, 4)))
        if 50 < n < 4000:
            break
    found = _factors(counted(n)[0])
    return integer(
        f"Write {n} as a product of primes. What is the sum of these primes, each as often as it occurs?",
        sum(found[:-1], found[-1]),
    )


def least_common_multiple(rng: random.Random, level: int) -> Problem:
    """lcm(a, b), or of three numbers at the medium level."""
    while True:
        given = rng.sample(range(6, 40 if level == 0 else 60), 2 + level)
        if lcm(*given) not in given and gcd(given[0], given[1]) > 1:
            break
    first, *others = counted(*given)
    found: Number = first
    for number in others:
        found = _multiple(found, number)
    *rest, last = given
    listed = f"{', '.join(map(str, rest))} and {last}"
    lights = (
        f"{'Two' if level == 0 else 'Three'} lights flash together now, and then every {listed} seconds. After how "
    )
    return integer(
        rng.choice(
            (f"What is the least common multiple of {listed}?", f"{lights}many seconds do they next flash together?")
        ),
        found,
    )


def multiples_between(rng: random.Random, level: int) -> Problem:
    """The count of multiples in a range."""
    d, start, end = counted(rng.randint(6, 19), rng.randint(50, 400), rng.randint(500, 1500))
    question = f"How many multiples of {d} are there from {start} to {end}, both included?"
    return integer(question, end // d - (start - 1) // d)


def clock(rng: random.Random, level: int) -> Problem:
    """Hours or minutes on a clock."""
    hand, size = rng.choice((("hour", 24), ("minute", 60)))
    now, turns, every = counted(rng.randrange(size), rng.randint(size + 5, 999), size)
    text, answer = rng.choice(
        (
            (f"will it show in {turns} {hand}s", lambda: (now + turns) % every),
            (f"did it show {turns} {hand}s ago", lambda: (now - turns) % every),
        )
    )
    return integer(f"A clock with the {hand}s 0 to {size - 1} shows {now}. Which {hand} {text}?", answer())


def factorisation(rng: random.Random, level: int) -> Problem:
    """All prime factors, repeated."""
    n = prod(rng.choice(_PRIMES[:9]) for _ in range(rng.randint(3, 5)))
    found = _factors(counted(n)[0])
    return in_order(
        f"Write {n} as a product of primes. Give the primes from the smallest to the largest, each as often as it "
        "occurs.",
        [like(prime, found[-1]) for prime in found],
    )


def divisors(rng: random.Random, level: int) -> Problem:
    """The number or the sum of the divisors."""
    while True:
        n = prod(p ** rng.randint(1, 4) for p in rng.sample(_PRIMES[:7], rng.randint(2, 3)))
        if n < 4000:
            break
    (shown,) = counted(n)
    powers = _powers(shown)
    if len(powers) > 2:
        return integer(f"How many positive divisors does {n} have?", prod(like(e, shown) + 1 for e in powers.values()))
    return integer(
        f"What is the sum of all positive divisors of {n}, {n} included?",
        prod((like(p, shown) ** (e + 1) - 1) / (p - 1) for p, e in powers.items()),
    )


def power_remainder(rng: random.Random, level: int) -> Problem:
    """A power modulo a number."""
    base, modulus, exponent = rng.randint(2, 30), rng.randint(11, 99), rng.randint(5, 60)
    question = f"What is the remainder of {base}^{exponent} divided by {modulus}?"
    return integer(question, _power(counted(base)[0], exponent, modulus))


def base_conversion(rng: random.Random, level: int) -> Problem:
    """A number of another base in base ten."""
    base = rng.choice((2, 3, 5, 7, 8, 9, 12, 16))
    digits: list[int] = []
    rest = rng.randint(30, 3000)
    while rest:
        rest, digit = divmod(rest, base)
        digits.insert(0, digit)
    first, *others = counted(*digits)
    found: Number = first
    for digit in others:
        found = found * base + digit
    shown = "".join(_DIGITS[digit] for digit in digits)
    return integer(f"What is the number {shown} of base {base} in base ten?", found)


def inverse(rng: random.Random, level: int) -> Problem:
    """The inverse modulo a number."""
    modulus = rng.randint(20, 99)
    a = rng.choice([a for a in range(3, modulus - 1) if gcd(a, modulus) == 1])
    question = f"For which x from 0 to {modulus - 1} has {a}x the remainder 1 modulo {modulus}?"
    return integer(question, _inverse(*counted(a, modulus)))


def remainders(rng: random.Random, level: int) -> Problem:
    """The smallest number with given remainders: the Chinese remainder theorem."""
    moduli = rng.sample(_PRIMES[2:7] if level == 1 else _PRIMES[2:9], 1 + level)
    answer = rng.randrange(prod(moduli))
    found, *rests = counted(*(answer % modulus for modulus in moduli))
    step = moduli[0]
    for rest, modulus in zip(rests, moduli[1:], strict=True):
        found += (rest - found) * _inverse(like(step, rest), modulus) % modulus * step
        step *= modulus
    given = [f"{answer % modulus} modulo {modulus}" for modulus in moduli]
    return integer(f"What is the smallest non-negative integer that is {', '.join(given[:-1])} and {given[-1]}?", found)


def multiples(rng: random.Random, level: int) -> Problem:
    """The count of numbers divisible by a but not by b."""
    while True:
        n, a, b = rng.randint(100, 2000), rng.randint(3, 15), rng.randint(2, 15)
        if a % b and b % a:
            break
    m, p, q = counted(n, a, b)
    question = f"How many of the integers from 1 to {n} are divisible by {a}, but not by {b}?"
    return integer(question, m // p - m // _multiple(p, q))


def _legendre(n: Number, p: int) -> Number:
    """The exponent of a prime in n!."""
    found: Number = 0
    while int(n) >= p:
        n = n // p
        found += n
    return found


def power_in_factorial(rng: random.Random, level: int) -> Problem:
    """The exponent of a prime in a factorial."""
    p, n = rng.choice((2, 3, 5, 7)), rng.randint(20, 300)
    question = f"What is the largest k for which {p}^k divides {n}! (the factorial of {n})?"
    return integer(question, _legendre(counted(n)[0], p))


def zeros_in_base(rng: random.Random, level: int) -> Problem:
    """Zeros at the end of a factorial in another base: which prime runs out first?"""
    base, n = counted(rng.choice((6, 10, 12, 14, 15, 18, 20, 24, 36, 40, 45, 48, 50, 60)), rng.randint(50, 999))
    found = [_legendre(n, p) // e for p, e in _powers(base).items()]
    return integer(
        f"How many zeros does {n}! (the factorial of {n}) end with if it is written in base {base}?", min(found)
    )


def square_divisors(rng: random.Random, level: int) -> Problem:
    """Divisors that are squares or cubes."""
    bases = rng.sample((6, 10, 12, 14, 15, 18, 20, 21, 24, 28, 30, 36, 40, 45, 60), 2)
    sizes = rng.sample(range(2, 10), 2)
    one, *_ = given = counted(*bases, *sizes)
    exponents: dict[int, Number] = {}
    for base, size in zip(given[:2], given[2:], strict=True):
        for p, e in _powers(base).items():
            exponents[p] = exponents.get(p, 0) + e * size
    what, k = rng.choice((("squares", 2), ("cubes", 3)))
    shown = " * ".join(f"{base}^{size}" for base, size in zip(bases, sizes, strict=True))
    return integer(
        f"How many positive divisors of {shown} are {what} of integers?",
        prod((e // k + 1 for e in exponents.values()), start=like(1, one)),
    )


def power_tower(rng: random.Random, level: int) -> Problem:
    """A power with a power as its exponent modulo a prime: Fermat's theorem reduces the exponent."""
    p, b, c = rng.choice(_PRIMES[4:25]), rng.randint(2, 9), rng.randint(5, 40)
    a = rng.choice([a for a in range(2, 100) if a % p > 1])
    base, middle, modulus = counted(a, b, p)
    exponent = _power(middle, c, modulus - 1)
    # An exponent that is a multiple of p - 1 gives 1.
    answer = _power(base, int(exponent) or p - 1, modulus)
    return integer(f"What is the remainder of {a}^({b}^{c}) divided by {p}?", answer)


def linear_congruence(rng: random.Random, level: int) -> Problem:
    """All solutions of a linear congruence whose factor and modulus have a common divisor."""
    common, small = rng.randint(2, 4), rng.randint(11, 60)
    a = rng.choice([a for a in range(3, small) if gcd(a, small) == 1])
    p, q, m = counted(common * a, common * rng.randrange(1, small), common * small)
    shared = _divisor(m, p)
    modulus = m / shared
    first = _inverse(p / shared, modulus) * (q / shared) % modulus
    found = [first + turn * modulus for turn in range(common)]
    return numbers(f"Find all x from 0 to {m - 1} for which {p}x - {q} is divisible by {m}.", found)


def coprime_up_to(rng: random.Random, level: int) -> Problem:
    """The count of numbers up to a bound that are coprime to another: inclusion and exclusion over its primes."""
    primes = rng.sample(_PRIMES[:7], rng.randint(2, 3))
    n, bound = counted(prod(primes) * rng.choice(primes), rng.randint(100, 2000))
    products = [(like(1, n), 1)]
    for p in dict.fromkeys(_factors(n)):
        products += [(d * p, -sign) for d, sign in products]
    found = sum(sign * (bound // d) for d, sign in products)
    return integer(f"How many of the integers from 1 to {bound} have no common divisor with {n} except 1?", found)


def order(rng: random.Random, level: int) -> Problem:
    """The multiplicative order modulo a prime: it divides p - 1."""
    p = rng.choice(_PRIMES[5:40])
    a = rng.randint(2, p - 2)
    base, modulus = counted(a, p)
    answer = next(k for k in range(2, p) if (p - 1) % k == 0 and _power(base, k, modulus) == 1)
    question = f"What is the smallest k > 0 for which {a}^k has the remainder 1 modulo {p}?"
    return integer(question, like(answer, base))


def quadratic_congruence(rng: random.Random, level: int) -> Problem:
    """All solutions of a quadratic congruence modulo a prime, by completing the square and trying."""
    p = rng.choice(_PRIMES[4:16])
    r, s = rng.sample(range(p), 2)
    b, c = counted(-(r + s) % p, r * s % p)
    half = (p + 1) // 2 * b % p
    square = (half * half - c) % p
    side = next(side for side in range(1, p) if (like(side, b) ** 2 - square) % p == 0)
    return numbers(
        f"Find all x from 0 to {p - 1} for which {total([(1, 'x^2'), (b, 'x'), (c, '')])} is divisible by {p}.",
        [(side - half) % p, (-side - half) % p],
    )


def coins(rng: random.Random, level: int) -> Problem:
    """The number of solutions of a x + b y = c with x and y not negative."""
    while True:
        a, b = rng.randint(3, 12), rng.randint(13, 25)
        if gcd(a, b) == 1:
            break
    p, q, c = counted(a, b, a * rng.randint(50, 500) + b * rng.randint(5, 150))
    first = next(y for y in range(a) if (c - q * y) % p == 0)
    question = f"How many pairs of integers x >= 0 and y >= 0 satisfy {a}x + {b}y = {c}?"
    return integer(question, (c // q - first) // p + 1)


def unreachable(rng: random.Random, level: int) -> Problem:
    """The largest sum that coins of two values cannot make: Sylvester's formula, for values with a common divisor."""
    while True:
        common, a, b = rng.randint(2, 12), rng.randint(3, 25), rng.randint(3, 25)
        if gcd(a, b) == 1:
            break
    p, q = counted(common * a, common * b)
    shared = _divisor(p, q)
    one, other = p / shared, q / shared
    return integer(
        f"What is the largest multiple of {common} that is no sum of coins of {p} and of {q}?",
        (one * other - one - other) * shared,
    )


class NumberTheory(ProblemEnv):
    r"""Divisors, primes, remainders, bases, Diophantine equations.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (
            greatest_common_divisor, least_common_multiple, remainder_of_product, next_multiple, prime_sum,
            multiples_between, clock,
        ),
        "medium": (
            greatest_common_divisor, least_common_multiple, factorisation, divisors, power_remainder, base_conversion,
            inverse, remainders, multiples, power_in_factorial,
        ),
        "hard": (
            square_divisors, zeros_in_base, power_tower, linear_congruence, remainders, coprime_up_to, order,
            quadratic_congruence, coins, unreachable,
        ),
    }  # fmt: skip
