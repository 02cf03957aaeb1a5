"""Verdicts on mathematical answers on an idle machine and beside busy processes.

    python benchmarks/grading_load.py [--busy 30] [--verdicts 2000] [--json FILE]

The pairs are those of `gem-envs-math/tests/grading/pairs.jsonl`, a few hostile answers, integrals that only math-verify
can evaluate, and the golds of `math:Sample` as answers to the row itself and to others. They are graded twice on the
machine as it is, and once beside the busy processes. A planted verdict, which wall time decides, shows that the
comparison would find one.
"""

import json
from itertools import cycle, islice

from beside_busy import TESTS, compare  # after which the modules of the tests are found
from busy_machine import verdict
from hostile import HOSTILE

from gem.data import open_table


def pairs(count):
    """The list, with `count` pairs."""
    table = [json.loads(line) for line in (TESTS / "grading" / "pairs.jsonl").read_text().splitlines()]
    golds = [row["answer"] for row in open_table("gem_envs_math:sample.jsonl")]
    integrals = [(rf"\int_0^{{{n}}} 2x \, dx", str(n**2 + n % 2)) for n in range(1, 151)]
    found = [(pair["answer"], pair["gold"]) for pair in table]
    found += integrals + [(answer, "9") for answer in HOSTILE[::20]]
    shifts = (list(zip(golds[shift:] + golds[:shift], golds, strict=True)) for shift in range(len(golds)))
    found += islice((pair for shift in shifts for pair in shift), max(0, count - len(found)))
    return list(islice(cycle(found), count))


if __name__ == "__main__":
    compare(__doc__.splitlines()[0], pairs, verdict, 2000)
