"""The subject of a check: one registered environment, and how many episodes to play."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gem import seeding
from gem.core import Env
from gem.dataset_env import to_download
from gem.errors import ConfigError, MissingExtra, PackError, UnknownId, did_you_mean
from gem.packs.discovery import KNOWN_PACKS, OWN_PACKS, Pack, how_to_install
from gem.packs.importing import module_hint
from gem.packs.make import make
from gem.packs.registry import RegistryEntry, registry
from gem.packs.spec import EnvSpec
from gem.testing.play import PlayedEpisode
from gem.testing.spawned import NotPlayed, SpawnedProcesses, play_fresh

EPISODES = 3
"""The default number of episodes that a check plays."""
MOST_TURNS = 1000
"""The turn limit of a check."""


class Inapplicable(Exception):
    """A check does not apply to this env; the message says why."""


@dataclass(frozen=True)
class Subject:
    """An environment under test, with its `spec`. Shared episodes are cached.

    A check plays `episodes` of at most `turns` turns, here or in `processes`.
    """

    spec: EnvSpec
    pack: Pack | None
    """The pack that registered it, if any."""
    processes: SpawnedProcesses = field(repr=False)
    episodes: int = EPISODES
    turns: int = MOST_TURNS

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise ConfigError(f"a check plays at least 1 episode, not {self.episodes}")

    def make(self) -> Env:
        """A new instance."""
        return make(self.spec)

    @cached_property
    def unavailable(self) -> str | None:
        """Why it cannot be made or played on this machine, or not without a download."""
        return unavailable(self.spec)

    def seeds(self, count: int) -> list[int]:
        """The first `count` seeds, spread over the whole range as in a training run."""
        return [seeding.derive(0, "check", number) for number in range(count)]

    @cached_property
    def reference(self) -> list[PlayedEpisode]:
        """The reference episodes: random play, each in a new instance."""
        return play_fresh(self.spec, self.seeds(self.episodes), self.turns)

    @cached_property
    def spawned(self) -> list[list[PlayedEpisode] | NotPlayed]:
        """The same episodes as two spawned processes with different hash seeds play them."""
        return self.processes.play(self.spec, self.seeds(self.episodes), self.turns)

    def ended(self) -> list[PlayedEpisode]:
        """The reference episodes that ended; raises `Inapplicable` if none did."""
        ended = [play for play in self.reference if play.ended]
        if not ended:
            raise Inapplicable(f"no episode of random play ended within {self.turns} turns")
        return ended


def unavailable(spec: EnvSpec) -> str | None:
    """Why an env cannot be made or played on this machine, or not without a download; else None."""
    try:
        with make(spec) as env:
            source = to_download(env)
    except MissingExtra as error:
        return str(error)
    except Exception:  # the checks report it
        return None
    return source and f"The rows of {source} are not on this machine: see `gemx data {spec.id}`."


def find_entries(name: str) -> Sequence[RegistryEntry]:
    """The entries of an id, of `"module:Class"`, or of a pack by its distribution or namespace.

    `PackError` if the pack is broken or disabled, `ConfigError` if it has no environment, `UnknownId` or `SpecError` if
    there is no such pack or id.
    """
    chosen = [pack for pack in registry().packs if name == pack.distribution or name in pack.namespaces]
    if not chosen:
        if ":" not in name:
            raise _no_such_pack(name)
        return [registry().find(name)]
    every = registry().entries(None if registry().source_of(name) is None else name)
    for pack in chosen:
        if pack.state != "loaded":
            raise PackError(f"the pack {pack.distribution} is {pack.state} ({pack.reason})")
    found = [
        entry for entry in every if entry.pack in chosen and name in (entry.pack.distribution, entry.spec.namespace)
    ]
    if not found:
        raise ConfigError(f"{name!r} registers no environments")
    return found


def _no_such_pack(name: str) -> UnknownId:
    owners = (name,) if name in OWN_PACKS else KNOWN_PACKS.get(name, ())
    if owners:
        return UnknownId("; ".join(f"{owner} is not installed: {how_to_install(owner)}" for owner in owners))
    names = {pack.distribution for pack in registry().packs}.union(*(pack.namespaces for pack in registry().packs))
    hints = f"{did_you_mean(name, sorted(names))}{module_hint(name)}"
    return UnknownId(f"no installed pack is called {name!r}, and it is not an id.{hints}")
