"""The interface of the samplers of starts."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from gem.episode import Episode, Start


class StartSampler(ABC):
    """A choice of tasks: which env of a vector plays each seed, and with which options of the reset, such as a row.

    A choice depends on the seeds and on the episodes that the sampler was told of, both in order, and on nothing else.
    """

    @abstractmethod
    def start(self, seed: int) -> Start:
        """The next start, with this seed."""

    def again(self, start: Start, seed: int) -> Start:
        """A start with this seed in place of one that was chosen before and is played no more.

        It changes no state: of several processes that choose alike, one alone may ask. The default is the same env.
        """
        return replace(start, seed=seed)

    def ended(self, episodes: Iterable[Episode]) -> None:
        """Learn from episodes that were played, failed ones included; the next starts may depend on them."""

    @abstractmethod
    def state(self) -> Any:
        """The data on which the next starts depend, as JSON, which later calls leave as it is."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Continue from the `state` of a sampler with the same settings."""

    def metrics(self) -> dict[str, float]:
        """Measurements of the choice, for the metrics of a training step."""
        return {}
