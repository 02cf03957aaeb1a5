"""Starts at the rows of data sets, each once per pass."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gem import seeding
from gem.episode import Episode, Start
from gem.rollout.starts.sampler import StartSampler


class EachRow(StartSampler):
    """Rows of data sets in an order drawn anew for each pass, so that every one is asked once before any is again.

    A start in place of another one has no row, so that its env or the caller draws one by the seed.

    Args:
        chosen: the sampler that chooses the env of each start. One that chooses a row, too, keeps it.
        rows: name of an env of the vector → the rows to ask; only data sets are in it, none is empty.
        seed: of the orders.
    """

    def __init__(self, chosen: StartSampler, rows: Mapping[str, Sequence[int]], *, seed: int) -> None:
        self._chosen = chosen
        self._rows = rows
        self._seed = seed
        self._begun: dict[str, int] = {}
        """Name → the number of its starts so far."""
        self._orders: dict[str, tuple[int, list[int]]] = {}
        """Name → the number of a pass, and the rows in its order."""

    def start(self, seed: int) -> Start:
        start = self._chosen.start(seed)
        # A start has no id where there is one env alone.
        name = start.id if start.id is not None else next(iter(self._rows), "")
        if name not in self._rows or start.options:
            return start
        begun = self._begun.get(name, 0)
        self._begun[name] = begun + 1
        number, place = divmod(begun, len(self._rows[name]))
        return replace(start, options={"index": self._order(name, number)[place]})

    def _order(self, name: str, number: int) -> list[int]:
        """The rows in the order of a pass."""
        if self._orders.get(name, (-1, []))[0] != number:
            drawn = random.Random(seeding.derive(self._seed, "pass", name, number))
            self._orders[name] = number, drawn.sample(self._rows[name], len(self._rows[name]))
        return self._orders[name][1]

    def again(self, start: Start, seed: int) -> Start:
        return replace(self._chosen.again(start, seed), options=None)

    def ended(self, episodes: Iterable[Episode]) -> None:
        self._chosen.ended(episodes)

    def state(self) -> dict[str, Any]:
        return {"chosen": self._chosen.state(), "begun": dict(self._begun)}

    def restore(self, state: Any) -> None:
        self._chosen.restore(state["chosen"])
        self._begun = dict(state["begun"])

    def metrics(self) -> dict[str, float]:
        passes = {f"passes/{name}": begun / len(self._rows[name]) for name, begun in self._begun.items()}
        return {**self._chosen.metrics(), **passes}
