"""Rows of data sets: a start for each, so that an evaluation asks every row once."""

from collections.abc import Mapping, Sequence
from typing import Any

from gem import seeding
from gem.core import Env
from gem.dataset_env import DatasetEnv
from gem.episode import Start
from gem.errors import ConfigError
from gem.packs.component_ref import as_list
from gem.packs.make import Wrappers, make


def each_row(
    ids: str | Sequence[str], *, seed: int = 0, wrappers: Wrappers = (), env_kwargs: Mapping[str, Any] | None = None
) -> list[Start]:
    """A start for each row of each id, in order: a `rollout` from them asks every row exactly once, on any backend.

    ```python
    starts = each_row("math:Sample")
    with gem.make_vec("math:Sample", 64, backend="process") as envs:
        episodes = list(rollout(policy, envs, starts))
    ```

    Args:
        ids: one id or several, each an environment on a data set (`gem.dataset_env.DatasetEnv`).
        seed: gives every episode its own seed.
        wrappers: those of the vector.
        env_kwargs: those of the vector, such as `data`.

    Raises:
        ConfigError: an id does not have rows; more in `gem.make` and `gem.data.open_table`.
    """
    starts: list[Start] = []
    for name in dict.fromkeys(as_list(ids)):
        with make(str(name), wrappers=wrappers, **(env_kwargs or {})) as env:
            table = table_of(env)
            if table is None or env.spec is None:
                raise ConfigError(f"{name!r} does not ask the rows of one data set, so its rows cannot be played each")
            id, rows = env.spec.id, len(table)
        starts += [start_of_row(id, index, seed) for index in range(rows)]
    return starts


def start_of_row(id: str, index: int, seed: int) -> Start:
    """The start of the episode that asks a row; `seed` is that of the evaluation."""
    return Start(seeding.derive(seed, "row", index), id, {"index": index})


def table_of(env: Env) -> Sequence[Any] | None:
    """The table of a data set, in any wrappers; None for any other env. It raises what `gem.data.open_table` does."""
    plain = env.unwrapped
    return plain.rows if isinstance(plain, DatasetEnv) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
