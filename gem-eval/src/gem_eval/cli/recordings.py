"""Shared code of the commands that replay recordings."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from gem.cli.output import echo
from gem.episode import Episode
from gem.errors import RecordError
from gem.record import read, torn_bytes
from gem.rewards import has_ended
from gem_eval.replay import outdated

MOST_LISTED = 10
"""The most episodes listed without `--json`."""


trust = click.option("--trust", is_flag=True, help="Build everything that FILE names: trust it like your own.")


class Replayed:
    """Iterates over a recording, and collects statistics of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.episodes = 0
        self.failed = 0
        """Episodes that failed when they were recorded, which cannot be compared."""
        self._outdated: Counter[tuple[str, str, str | None]] = Counter()

    def of(
        self, records: Iterable[tuple[int, Episode]], *, failed_rewards: bool = False
    ) -> Iterator[tuple[int, Episode]]:
        """The numbered episodes that did not fail, or, with `failed_rewards`, of which only a reward failed."""
        for number, record in records:
            self.episodes += 1
            self._outdated.update((name, *versions) for name, versions in outdated(record).items())
            if record.failure and not (failed_rewards and has_ended(record)):
                self.failed += 1
            else:
                yield number, record

    def as_json(self) -> dict[str, Any]:
        """The statistics as part of the JSON object of a command."""
        versions = [
            {"distribution": name, "recorded": recorded, "installed": installed, "episodes": count}
            for (name, recorded, installed), count in self._outdated.items()
        ]
        return {
            "file": str(self.path),
            "episodes": self.episodes,
            "failed_when_recorded": self.failed,
            "torn_bytes": torn_bytes(self.path),
            "versions": versions,
        }

    def print_notes(self) -> None:
        """Print the statistics on standard error."""
        if self.failed:
            note(f"{count(self.failed)} failed when recorded, and were left out.")
        if torn := torn_bytes(self.path):
            note(f"The last line was cut off in the middle ({torn} bytes), and was left out.")
        for (name, recorded, installed), episodes in self._outdated.items():
            now = f"is {installed}" if installed else "is not installed"
            note(f"{count(episodes)} recorded with {name} {recorded}; today it {now}.")


def numbered(path: Path, only: int | None = None) -> Iterator[tuple[int, Episode]]:
    """The episodes of a recording with their numbers from 1, or just one of them.

    Raises:
        RecordError: the file does not contain an episode, or not that one.
    """
    number = 0
    for number, record in enumerate(read(path), start=1):
        if only in (None, number):
            yield number, record
        if number == only:
            return
    if number == 0:
        raise RecordError(f"{path} has no episodes")
    if only is not None:
        raise RecordError(f"{path} has no episode {only}; it holds {number}")


def title(number: int, record: Episode) -> str:
    """A short description of an episode."""
    return f"episode {number} ({' '.join(record.id.split())}, seed {record.seed})"


def count(episodes: int) -> str:
    """`1 episode`, `2 episodes`."""
    return "1 episode" if episodes == 1 else f"{episodes} episodes"


def note(text: str) -> None:
    """One line on standard error."""
    echo(" ".join(text.split()), fg="yellow", err=True)
