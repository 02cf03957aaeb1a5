"""Success of policies that ignore observations, beside random play and the expert.

    python benchmarks/floors.py [--ids game:Hangman-v0-hard,math:Arithmetic-v0] [--episodes 300] [--json FILE]

- random: `sample_action`, which may use the state (it names only possible moves, or words of the right length).
- constant: the best single reply, given in every turn.
- blind: the best list of replies that was found, given in order and then again, whatever the env answers.
- expert: `expert_action`.

Where blind play is as good as the expert, an agent does not need the observations. `gem.audit.blind_play` searches for
the lists, on its own episodes; others are reported. It finds a lower bound.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import gem
from gem import seeding
from gem.audit.blind_play import Effort, Subject, best_list, cycled
from gem.errors import ConfigError

NAMESPACES = ("game", "logic", "math", "tools")
LEFT_OUT = {"data-set", "images"}
"""Tags of ids that need a download, or ask in images what others ask in words."""
TRAINED = 40
"""Episodes on which lists are compared."""


def sampled(env: gem.Env, turn: int) -> str:
    return env.sample_action()


def expert(env: gem.Env, turn: int) -> str:
    action = env.expert_action()
    if action is None:
        raise ConfigError(f"{env.spec and env.spec.id} has no expert")
    return action


def floors(id: str, episodes: int) -> dict[str, Any]:
    """A row of the table."""
    subject = Subject(gem.make(id))
    trained = [seeding.derive(1, "floors", id, number) for number in range(TRAINED)]
    tested = [seeding.derive(2, "floors", id, number) for number in range(episodes)]
    at_random = [subject.play(seed, sampled)[2] for seed in trained]
    of_expert = [subject.play(seed, expert)[2] for seed in trained]
    constant, blind = best_list(subject, at_random, of_expert, trained, Effort(), random.Random(id))
    return {
        "id": id,
        "random": subject.success(tested, sampled),
        "constant": subject.success(tested, cycled(constant)),
        "blind": subject.success(tested, cycled(blind)),
        "expert": subject.success(tested, expert),
        "reply": constant[0],
        "replies": blind[: max(map(len, at_random))],
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| id | random | constant | blind | expert |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        shares = [f"{row[kind]:.2f}" for kind in ("random", "constant", "blind", "expert")]
        lines.append(f"| `{row['id']}` | {' | '.join(shares)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ids", type=lambda text: text.split(","), help="by default all")
    parser.add_argument("--episodes", type=int, default=200, help="episodes that the numbers are of")
    parser.add_argument("--json", help="write the rows, with the replies, to this file")
    arguments = parser.parse_args()
    ids = arguments.ids or [
        spec.id for spec in gem.all_specs() if spec.namespace in NAMESPACES and LEFT_OUT.isdisjoint(spec.tags)
    ]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for row in pool.map(floors, ids, [arguments.episodes] * len(ids)):
            rows.append(row)
            print(table([row]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(rows))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
