"""The table of the pack's README: results of random play and of the expert on every id.

Run it with ``python -m gem_envs_games.table``; it prints Markdown, the same on every machine.
"""

from gem import seeding
from gem.rollout import rollout
from gem.rollout.policy import Policy, expert_policy, random_policy
from gem.rollout.report import Report
from gem.vector import make_vec
from gem_envs_games import plugin

EPISODES = 300
"""Episodes of each policy on each id."""

SEED = 0


def report(id: str, name: str, policy: Policy) -> Report:
    """What ``gemx eval ID --model NAME --episodes 300 --seed 0`` reports."""
    seeds = (seeding.derive(SEED, "run", episode) for episode in range(EPISODES))
    with make_vec(id, num_envs=1, info_methods=policy.info_methods) as envs:
        return Report.of(rollout(policy, envs, seeds), id=id, policy=name, seed=SEED)


def row(id: str) -> str:
    """The row of an id."""
    cells = [f"`{id}`"]
    for name, policy in (("random", random_policy()), ("expert", expert_policy())):
        result = report(id, name, policy)
        low, high = result.success_ci
        cells += [
            f"{result.success:.3f} ({low:.3f} to {high:.3f})",
            f"{result.return_mean:.3f}",
            f"{result.turns_mean:.1f}",
        ]
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """The whole table."""
    columns = [f"{policy}: {column}" for policy in ("random", "expert") for column in ("success", "return", "turns")]
    lines = [f"| {' | '.join(['id', *columns])} |", "|---" * (1 + len(columns)) + "|"]
    return "\n".join([*lines, *(row(spec.id) for spec in plugin.gem_envs())])


if __name__ == "__main__":
    print(table())
