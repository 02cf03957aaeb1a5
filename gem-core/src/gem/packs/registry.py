"""The registry: from an id to a spec.

Resolving an id loads the plugin modules of the packs that declare its namespace, and no others; but before a pack with
commands, tools, wrappers, policies, rewards, algorithms or probes, all earlier packs are loaded, because those names
have no namespace.
"""

import importlib.util
import itertools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, NamedTuple

from gem.core import Env
from gem.errors import DuplicateId, PackError, SpecError, UnknownId, did_you_mean
from gem.packs import discovery
from gem.packs.discovery import KNOWN_PACKS, Pack, how_to_install, missing_owners
from gem.packs.hookspecs import EnvSource
from gem.packs.importing import LOCK, import_object, is_import_path
from gem.packs.spec import EnvId, EnvSpec

Kind = Literal["tool", "wrapper", "policy", "reward", "algorithm", "probe"]
"""The kinds of objects that are registered by a name without a namespace."""

Claim = tuple[str, str]
"""A kind, such as "id" or "wrapper", and a name that a pack registers."""

_OWN_NAMESPACE = ("id", "source")
"""The kinds of claims that only packs with the same namespace can contest."""


class RegistryEntry(NamedTuple):
    """A registered `spec` and its `pack` (None for `gem.register`)."""

    spec: EnvSpec
    pack: Pack | None


class Registry:
    """The ids of one process; safe to share between threads. Programs use the functions of this module."""

    def __init__(self, packs: Iterable[Pack] | None = None) -> None:
        self._packs = None if packs is None else list(packs)
        self._entries: dict[str, RegistryEntry] = {}
        self._owners: dict[Claim, str] = {}
        self.loading: Callable[[Pack], AbstractContextManager[object]] = lambda pack: nullcontext()
        """What each pack is loaded in, such as a watch over the time that it takes."""

    @property
    def packs(self) -> list[Pack]:
        """Every installed pack, loaded or not."""
        with LOCK:
            if self._packs is None:
                self._packs = discovery.find_packs()
            return self._packs

    def load(self, namespace: str | None = None) -> list[Pack]:
        """Load and return the packs that declare `namespace` (by default all packs)."""
        chosen = [pack for pack in self.packs if namespace is None or namespace in pack.namespaces]
        with LOCK:
            for pack in chosen:
                self._load(pack)
        return chosen

    def _load(self, pack: Pack) -> None:
        if pack.state != "found":
            return
        with self.loading(pack):
            discovery.load(pack)
        # The owner of a name must not depend on the order of requests: earlier packs that may claim it come first.
        shared = {each.namespace for each in (*pack.envs, *pack.sources)}
        names = any(kind not in _OWN_NAMESPACE for kind, _ in _claims(pack))
        for earlier in itertools.takewhile(lambda other: other is not pack, self.packs):
            if names or shared.intersection(earlier.namespaces):
                self._load(earlier)
        self._add_pack(pack)

    def _add_pack(self, pack: Pack) -> None:
        claims = _claims(pack)
        conflict = self._conflict(claims)
        if conflict is not None:
            pack.fail(conflict)
            return
        self._owners.update(dict.fromkeys(claims, pack.distribution))
        self._entries.update({spec.id: RegistryEntry(spec, pack) for spec in pack.envs})

    def _conflict(self, claims: Sequence[Claim]) -> str | None:
        """A conflict of these claims of one pack with each other or with earlier packs."""
        seen: set[Claim] = set()
        for claim in claims:
            kind, name = claim
            if claim in self._owners:
                return f"it claims the {kind} {name!r}, which belongs to {self._owners[claim]}"
            if claim in seen:
                return f"it lists the {kind} {name!r} twice"
            seen.add(claim)
        return None

    def add(self, spec: EnvSpec) -> None:
        """Register `spec`; `DuplicateId` if the id is taken."""
        self.load(spec.namespace)
        with LOCK:
            taken = self._entries.get(spec.id)
            if taken is not None:
                owner = taken.pack.distribution if taken.pack else "an earlier gem.register()"
                raise DuplicateId(f"{spec.id!r} is already registered by {owner}; choose another name")
            self._entries[spec.id] = RegistryEntry(spec, None)
            self._owners["id", spec.id] = "gem.register()"

    def entries(self, namespace: str | None = None) -> list[RegistryEntry]:
        """Everything registered, all packs loaded, sorted by id.

        With a namespace, its ids, and those that its source lists; `MissingExtra` without the library of the source.
        """
        self.load()
        if namespace is None:
            return [self._entries[id] for id in sorted(self._entries)]
        found = {id: entry for id, entry in self._entries.items() if entry.spec.namespace == namespace}
        for id in self._names(namespace):
            if id not in found and (entry := self._looked_up(id)) is not None:
                found[id] = entry
        return [found[id] for id in sorted(found)]

    def registered(self, id: str) -> RegistryEntry | None:
        """The entry of a registered id, or of one that a source has; None for any other, `"module:Class"` included.

        Imports only plugin modules of packs that declare the namespace, and for an id of a source the library behind.
        """
        if id in self._entries:
            return self._entries[id]
        try:
            self.load(EnvId.parse(id).namespace)
        except SpecError:
            return None
        return self._entries.get(id) or self._looked_up(id)

    def sources(self) -> list[tuple[EnvSource, Pack]]:
        """The sources of all packs, sorted by namespace."""
        found = [(source, pack) for pack in self.load() for source in pack.sources]
        return sorted(found, key=lambda each: each[0].namespace)

    def source_of(self, id: str) -> EnvSource | None:
        """The source that looks up `id`, or a namespace; None for an id that is registered, or of no source."""
        namespace = id.partition(":")[0]
        declaring = self.load(namespace)
        if id in self._entries:
            return None
        return next((each for pack in declaring for each in pack.sources if each.namespace == namespace), None)

    def _looked_up(self, id: str) -> RegistryEntry | None:
        source = self.source_of(id)
        if source is None:
            return None
        spec = import_object(source.resolve)(id.partition(":")[2])
        if spec is None:
            return None
        if not isinstance(spec, EnvSpec) or spec.id != id:
            raise PackError(f"{source.resolve} must return the EnvSpec of {id!r} or None, not {spec!r:.200}")
        pack = next(pack for pack in self.packs if source in pack.sources)
        return RegistryEntry(spec, pack)

    def _names(self, namespace: str) -> list[str]:
        """The ids that the source of a namespace lists."""
        source = self.source_of(namespace)
        if source is None or source.names is None:
            return []
        return [f"{namespace}:{name}" for name in import_object(source.names)()]

    def find(self, id: str) -> RegistryEntry:
        """The entry of `id`.

        Raises:
            SpecError: it is not an id.
            UnknownId: it is not registered; the message names similar ids, or the pack to install.
            PackError: the pack that should provide it is installed, but broken or disabled.
        """
        if id in self._entries:
            return self._entries[id]
        direct = _spec_of_path(id)
        owned = {*KNOWN_PACKS, *(name for pack in self.packs for name in pack.namespaces)}
        if direct is not None and id.partition(":")[0] not in owned:
            return RegistryEntry(direct, None)
        try:
            namespace = EnvId.parse(id).namespace
        except SpecError as error:
            known = (entry.spec.id for entry in self.entries())
            raise SpecError(f"{error}{did_you_mean(id, known)}") from None
        declaring = self.load(namespace)
        if (entry := self._entries.get(id) or self._looked_up(id)) is not None:
            return entry
        unusable = [pack for pack in declaring if pack.state in ("failed", "disabled")]
        if unusable and len(unusable) == len(declaring):
            pack = unusable[0]
            raise PackError(
                f"{id!r} is not available: the pack {pack.distribution} is {pack.state} ({pack.reason}). "
                "Run `gemx doctor` for details."
            )
        missing = missing_owners(namespace, self.packs)
        if len(missing) == 1 and not declaring:
            raise UnknownId(f"{id!r} is provided by {missing[0]}, which is not installed: {how_to_install(missing[0])}")
        known = self._names(namespace) or (entry.spec.id for entry in self.entries())
        message = f"no installed pack provides {id!r}.{did_you_mean(id, known)}"
        if is_import_path(id) and not declaring and not missing:
            message += f" Nor was a module {id.partition(':')[0]!r} found {_here()}, in which a class could be."
        for pack in unusable:
            message += f" The pack {pack.distribution}, which also has {namespace!r} ids, is {pack.state}."
        for owner in missing:
            message += f" {owner}, which also has {namespace!r} ids, is not installed: {how_to_install(owner)}."
        shows = f"gemx list {namespace}" if self.source_of(namespace) else "gemx list"
        raise UnknownId(f"{message} `{shows}` shows every id.")


def _here() -> str:
    return f"in this folder ({os.getcwd()}) or among the installed ones"


def path_of_class(given: object) -> str:
    """A hint for a class given in place of its id; `""` if other processes could not import it."""
    if not isinstance(given, type) or given.__module__ == "__main__" or "<locals>" in given.__qualname__:
        return ""
    return f": write '{given.__module__}:{given.__qualname__}'"


def _claims(pack: Pack) -> list[Claim]:
    return [
        *(("id", spec.id) for spec in pack.envs),
        *(("source", source.namespace) for source in pack.sources),
        *(("command", command.name) for command in pack.commands),
        *((kind, name) for kind, table in tables(pack).items() for name in table),
    ]


def tables(pack: Pack) -> dict[Kind, Mapping[str, str]]:
    """The named objects of a pack by kind: name → `"module:object"`."""
    return {
        "tool": pack.tools,
        "wrapper": pack.wrappers,
        "policy": pack.policies,
        "reward": pack.rewards,
        "algorithm": pack.algorithms,
        "probe": pack.probes,
    }


_registry = Registry()


def registry() -> Registry:
    """The registry of this process."""
    return _registry


def register(id: str, entry_point: str | type[Env], /, *, max_turns: int | None = None, **kwargs: Any) -> EnvSpec:
    """Register an environment in a notebook or a script. Packs use the hook `gem_envs` instead.

    Args:
        id: `namespace:Name[-vN][-variant]`.
        entry_point: the class, or `"module:Class"`.
        max_turns: the limit on turns, an argument of the class.
        kwargs: other arguments of the class.

    Raises:
        SpecError: the id or the entry point is not well formed.
        DuplicateId: the id is taken.
    """
    if not isinstance(entry_point, str):
        if not (isinstance(entry_point, type) and issubclass(entry_point, Env)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError(f"register takes a class that derives from gem.Env, or 'module:Class', not {entry_point!r}")
        if "<locals>" in entry_point.__qualname__:
            raise SpecError(
                f"{entry_point.__qualname__} is defined inside a function, so other processes cannot import it; "
                "move the class to the top level of its module"
            )
        entry_point = f"{entry_point.__module__}:{entry_point.__qualname__}"
    try:
        spec = EnvSpec(id=id, entry_point=entry_point, kwargs=kwargs, max_turns=max_turns)
    except ValueError as error:
        raise SpecError(str(error)) from error
    _registry.add(spec)
    return spec


def get_spec(id: str) -> EnvSpec:
    """The spec of an id. See `Registry.find` for what it raises."""
    if not isinstance(id, str):  # pyright: ignore[reportUnnecessaryIsInstance]: people try a class
        raise SpecError(
            f"an env is made by its id, by 'module:Class' or by an EnvSpec, not by {id!r:.200}{path_of_class(id)}; "
            "call a class yourself, or give it an id with gem.register"
        )
    return _registry.find(id).spec


def all_specs() -> list[EnvSpec]:
    """The spec of every id that the installed packs provide, sorted by id."""
    return [entry.spec for entry in _registry.entries()]


def _spec_of_path(id: str) -> EnvSpec | None:
    """A spec for `"module.path:Class"`; None if `id` does not have that form or the module does not exist.

    `SpecError` if the name of the class is not valid in an id, such as `_Hidden`.
    """
    module_name, _, class_name = id.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), class_name)):
        return None
    try:
        if importlib.util.find_spec(module_name) is None:
            return None
    except (ImportError, ValueError):  # the parent is missing; or it is `__main__` of a script
        if module_name != "__main__":
            return None
    # A namespace cannot contain dots: the id of the spec has underscores instead.
    namespace = module_name.replace(".", "_").strip("_").lower()
    own_id = str(EnvId.parse(f"{namespace}:{class_name}"))
    return EnvSpec(id=own_id, entry_point=id)
