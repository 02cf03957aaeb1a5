"""Families of generated questions: how many are different, what guessing earns, and how the solutions grow.

    python benchmarks/families.py [--seeds 200]

- distinct: different questions among the seeds, in percent; of programming puzzles without their examples.
- constant: the share of the most frequent answer.
- steps: the operations of the solution, on average: `steps` in the info of the last step, which each family defines.
"""

import argparse
from collections import Counter
from typing import NamedTuple

import gem

NAMESPACES = ("code", "logic", "math")


class Measured(NamedTuple):
    """What the questions of an env are like."""

    distinct: float
    constant: float
    steps: float


def ids():
    """The ids of families: every difficulty of generated questions that are asked in words."""
    specs = (spec for spec in gem.all_specs() if spec.namespace in NAMESPACES)
    return [spec.id for spec in specs if "procedural" in spec.tags and "images" not in spec.tags]


def measure(env, seeds):
    """The questions of an env from the first seeds."""
    asked, answers, steps = set(), Counter(), 0
    for seed in range(seeds):
        question, _ = env.reset(seed=seed)
        puzzle = getattr(env.unwrapped, "puzzle", None)
        asked.add(puzzle.draft.words if puzzle else question)
        answers[env.expert_action()] += 1
        steps += env.unwrapped.steps
    return Measured(len(asked) / seeds, answers.most_common(1)[0][1] / seeds, steps / seeds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200, help="how many questions of each id")
    seeds = parser.parse_args().seeds
    print("| id | distinct | constant | steps |\n|---|--:|--:|--:|")
    for id in ids():
        with gem.make(id) as env:
            distinct, constant, steps = measure(env, seeds)
        print(f"| `{id}` | {distinct:.1%} | {constant:.1%} | {steps:.1f} |", flush=True)


if __name__ == "__main__":
    main()
