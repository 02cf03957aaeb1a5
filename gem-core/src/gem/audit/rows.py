"""Rows of a data set, as probes look at them."""

from dataclasses import dataclass
from typing import Any, cast

from gem.core import Env
from gem.dataset_env import DatasetEnv
from gem.errors import ConfigError, Fault
from gem.testing.play import as_line

MOST = 2000
"""Rows that are looked at, from all over the data set."""


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row: its index, its question as text (images too) and its gold answer, if that is known."""

    index: int
    question: str
    gold: str | None


def rows_of(env: Env) -> tuple[AskedRow, ...]:
    """The rows that `env` can ask, at most `MOST`; none if it is not about a data set."""
    bare: Any = env.unwrapped
    if not isinstance(bare, DatasetEnv):
        return ()
    bare = cast("DatasetEnv[Any, Any]", bare)
    count = len(bare.rows)
    found: list[AskedRow] = []
    for index in range(0, count, max(1, -(-count // MOST))):
        try:
            bare.index = index
            found.append(AskedRow(index, as_line(bare.question(index)), bare.expert_action()))
        except (ConfigError, Fault):  # such a row is a fault of its episode alone: see `DatasetEnv`
            continue
    return tuple(found)
