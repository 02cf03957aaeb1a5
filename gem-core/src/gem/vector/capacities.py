"""What the envs of a vector share that there are only so many of: which settings could wait forever."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gem.errors import ConfigError


def exceeded(capacities: Sequence[Mapping[str, int]], *, everywhere: bool) -> dict[str, int]:
    """The capacities, by name, that are smaller than the number of envs that may use them.

    Args:
        capacities: those of each env.
        everywhere: any slot may play any env.

    Raises:
        ConfigError: one name has two capacities.
    """
    found: dict[str, int] = {}
    users = Counter(name for each in capacities for name in each)
    for each in capacities:
        for name, capacity in each.items():
            if found.setdefault(name, capacity) != capacity:
                raise ConfigError(
                    f"two resources have the name {name!r}, one with a capacity of {found[name]} and one of "
                    f"{capacity}: give each a name of its own, or the same capacity"
                )
    return {name: n for name, n in found.items() if n < (len(capacities) if everywhere else users[name])}


def refusal(short: Mapping[str, int], slots: int) -> ConfigError:
    """The error of a backend in which an env that waits keeps another from going on."""
    name, capacity = min(short.items(), key=lambda item: item[1])
    return ConfigError(
        f"{slots} envs share {capacity} of {name!r}, and here an env that waits for one would keep another, which may "
        f'have it, from going on: use backend="thread", or "process" with num_workers={slots}, so that each env has a '
        f"worker of its own; or at most {capacity} envs"
    )


def barrier_refusal(short: Mapping[str, int]) -> ConfigError:
    """The error of a step that waits for all envs."""
    name, capacity = min(short.items(), key=lambda item: item[1])
    return ConfigError(
        f"step() waits for all envs, and one that waits for {name!r}, of which there are {capacity}, for the next step "
        f"of another: use gem.rollout.rollout, or send() and recv(); or at most {capacity} envs"
    )
