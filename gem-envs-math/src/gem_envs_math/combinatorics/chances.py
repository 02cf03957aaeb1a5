"""Problems about probabilities and expected values."""

import random

from gem_envs_math.counted import choose, counted, like
from gem_envs_math.problem import Problem, number


def draw_balls(rng: random.Random, level: int) -> Problem:
    """A probability of drawing without putting back."""
    red, blue = rng.randint(3, 9), rng.randint(3, 9)
    drawn = rng.randint(2, 4)
    wanted = rng.randint(1, drawn - 1)
    r, b = counted(red, blue)
    how, counts = rng.choice((("exactly", [wanted]), ("at least", range(wanted, min(red, drawn) + 1))))
    ways = [choose(r, count) * choose(b, drawn - count) for count in counts if drawn - count <= blue]
    return number(
        f"A bag has {red} red and {blue} blue balls; {drawn} are drawn without putting any back. What is the "
        f"probability that {how} {wanted} of them {'is' if wanted == 1 else 'are'} red?",
        sum(ways) / choose(r + b, drawn),
    )


def dice_probability(rng: random.Random, level: int) -> Problem:
    """A probability with two dice of several sizes."""
    small, large = sorted(rng.sample(range(4, 13), 2))
    target = rng.randint(4, small + large - 2)
    a, b, t = counted(small, large, target)
    if rng.random() < 0.5:
        how, ways = "exactly", min(t - 1, a, a + b + 1 - t)
    else:
        # How many numbers of the second die are enough for each of the first.
        enough = [b + 1 - (t - first) for first in range(1, small + 1)]
        how, ways = "at least", sum(min(count, b) for count in enough if count > 0)
    return number(
        f"Two dice with the numbers 1 to {a} and 1 to {b} are thrown. What is the probability that their sum is {how} "
        f"{target}?",
        ways / (a * b),
    )


def bayes(rng: random.Random, level: int) -> Problem:
    """The probability of a cause: Bayes' theorem."""
    drawn, faces = rng.randint(1, 3), rng.randint(1, 5)
    r, b, s, c, dice, six = counted(*(rng.randint(3, 9) for _ in range(4)), faces, 6)
    first = dice / six * choose(r, drawn) / choose(r + b, drawn)
    second = (six - dice) / six * choose(s, drawn) / choose(s + c, drawn)
    balls = "A ball is drawn" if drawn == 1 else f"{drawn} balls are drawn, none put back,"
    rule = "shows 1" if faces == 1 else f"shows at most {faces}"
    return number(
        f"Box A has {r} red and {b} blue balls, box B {s} red and {c} blue ones. A die is thrown: if it {rule}, A is "
        f"taken, and else B. {balls} from that box and {'is' if drawn == 1 else 'all are'} red. What is the "
        "probability that the box is A?",
        first / (first + second),
    )


def three_colours(rng: random.Random, level: int) -> Problem:
    """A probability about the colours that occur."""
    drawn = rng.randint(3, 5)
    a, b, c = sizes = counted(*(rng.randint(3, 8) for _ in range(3)))
    every = choose(a + b + c, drawn)
    alone = sum(choose(size, drawn) for size in sizes if size >= drawn)
    two = sum(choose(one, drawn) for one in (a + b, a + c, b + c))
    what, answer = rng.choice(
        (
            ("all three colours are among them", lambda: (every - two + alone) / every),
            ("exactly two colours are among them", lambda: (two - 2 * alone) / every),
        )
    )
    return number(
        f"A bag has {a} red, {b} blue and {c} green balls; {drawn} are drawn without putting any back. What is the "
        f"probability that {what}?",
        answer(),
    )


def expected_draw(rng: random.Random, level: int) -> Problem:
    """The expected order statistics of numbers drawn without putting back."""
    n, k = counted(rng.randint(6, 60), rng.randint(3, 5))
    what, answer = rng.choice(
        (
            ("difference of the largest and the smallest", lambda: (k - 1) * (n + 1) / (k + 1)),
            ("second largest", lambda: (k - 1) * (n + 1) / (k + 1)),
            ("sum of all but the smallest", lambda: k * (n + 1) / 2 - (n + 1) / (k + 1)),
        )
    )
    return number(
        f"Of the numbers 1 to {n}, {k} different ones are drawn at random. What is the expected value of the {what}?",
        answer(),
    )


def expected_dice(rng: random.Random, level: int) -> Problem:
    """The expected larger or smaller number, or distance, of two different dice."""
    small, large = sorted(rng.sample(range(3, 21), 2))
    a, b = counted(small, large)
    below = sum(like(m, a) * (2 * m - 1) for m in range(1, small + 1))
    larger = (below + a * (b * (b + 1) - a * (a + 1)) / 2) / (a * b)
    what, answer = rng.choice(
        (
            ("larger of the two numbers", lambda: larger),
            ("smaller of the two numbers", lambda: (a + b + 2) / 2 - larger),
            ("difference of the larger and the smaller number", lambda: 2 * larger - (a + b + 2) / 2),
        )
    )
    return number(
        f"A wheel with the numbers 1 to {a} and one with 1 to {b} are spun; they may show the same. What is the "
        f"expected value of the {what}?",
        answer(),
    )
