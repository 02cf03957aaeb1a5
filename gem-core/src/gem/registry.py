"""The registry: from an id to a spec, from a spec to an environment.

Resolving an id loads the plugin modules of the packs that declare its namespace, and no others, except that a pack
that offers commands, tools, wrappers or policies is loaded after the packs that come before it: their names have no
namespace, so anybody may have taken one. Resolving installs and downloads nothing.
"""

import copy
import functools
import importlib.util
import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gem import plugins
from gem.component import Component, listed, name_and_settings
from gem.core import Env
from gem.errors import DuplicateId, MissingExtra, PackError, SpecError, UnknownId, did_you_mean
from gem.importing import LOCK, check_arguments, import_direct, import_object, is_direct, module_of_file
from gem.plugins import KNOWN_PACKS, Pack, how_to_install
from gem.spec import EnvId, EnvSpec

WrapperLike = Component | Callable[[Env], Env]
"""A wrapper's name, or `{"name": …}` with its settings, or anything that takes an env and returns one."""
Wrappers = Component | Sequence[WrapperLike]
"""Wrappers, one alone, or names with commas between; the last is outermost."""

Kind = Literal["tool", "wrapper", "policy"]
"""What packs offer by a name alone, without a namespace."""

Claim = tuple[str, str]
"""A kind of thing, such as "id" or "wrapper", and a name that a pack claims for one of its own."""


class Entry(NamedTuple):
    """A registered spec and the pack it comes from (None for `gem.register`)."""

    spec: EnvSpec
    pack: Pack | None


class Registry:
    """The ids of one process. Programs use the module's functions, which share one instance. Threads may share it."""

    def __init__(self, packs: Iterable[Pack] | None = None) -> None:
        self._packs = None if packs is None else list(packs)
        self._entries: dict[str, Entry] = {}
        self._owners: dict[Claim, str] = {}

    @property
    def packs(self) -> list[Pack]:
        """Every installed pack, loaded or not."""
        with LOCK:
            if self._packs is None:
                self._packs = plugins.find_packs()
            return self._packs

    def load(self, namespace: str | None = None) -> list[Pack]:
        """Load the packs that declare `namespace` (all packs without one), and return them."""
        chosen = [pack for pack in self.packs if namespace is None or namespace in pack.namespaces]
        with LOCK:
            for pack in chosen:
                self._load(pack)
        return chosen

    def _load(self, pack: Pack) -> None:
        if pack.state != "found":
            return
        plugins.load(pack)
        # Who owns a name must not depend on what was asked for first: packs that come before this one and could
        # claim the same are entered before it.
        shared = {spec.namespace for spec in pack.envs}
        names = any(kind != "id" for kind, _ in _claims(pack))
        for earlier in itertools.takewhile(lambda other: other is not pack, self.packs):
            if names or shared.intersection(earlier.namespaces):
                self._load(earlier)
        self._enter(pack)

    def _enter(self, pack: Pack) -> None:
        claims = _claims(pack)
        fault = self._fault(claims)
        if fault is not None:
            pack.fail(fault)
            return
        self._owners.update(dict.fromkeys(claims, pack.distribution))
        self._entries.update({spec.id: Entry(spec, pack) for spec in pack.envs})

    def _fault(self, claims: Sequence[Claim]) -> str | None:
        """Why these claims of one pack cannot stand, if they cannot."""
        seen: set[Claim] = set()
        for claim in claims:
            kind, name = claim
            if claim in self._owners:
                return f"it claims the {kind} {name!r}, which belongs to {self._owners[claim]}"
            # Within one pack this is a slip in its table; the first would silently win.
            if claim in seen:
                return f"it lists the {kind} {name!r} twice"
            seen.add(claim)
        return None

    def add(self, spec: EnvSpec) -> None:
        """Register `spec` by hand.

        Raises:
            DuplicateId: the id is taken.
        """
        self.load(spec.namespace)
        with LOCK:
            taken = self._entries.get(spec.id)
            if taken is not None:
                owner = taken.pack.distribution if taken.pack else "an earlier gem.register()"
                raise DuplicateId(f"{spec.id!r} is already registered by {owner}; choose another name")
            self._entries[spec.id] = Entry(spec, None)
            self._owners["id", spec.id] = "gem.register()"

    def entries(self) -> list[Entry]:
        """Everything registered, all packs loaded, sorted by id."""
        self.load()
        return [self._entries[id] for id in sorted(self._entries)]

    def registered(self, id: str) -> Entry | None:
        """The entry of an id that an installed pack or `add` has entered; None for any other, `"module:Class"` too.

        Imports nothing but plugin modules of packs that declare the namespace.
        """
        if id not in self._entries:
            try:
                self.load(EnvId.parse(id).namespace)
            except SpecError:
                return None
        return self._entries.get(id)

    def find(self, id: str) -> Entry:
        """The entry of `id`.

        Raises:
            SpecError: it is not an id.
            UnknownId: nobody provides it; the message names near ids, or the pack to install.
            PackError: the pack that should provide it is installed, but broken or disabled.
        """
        if id in self._entries:
            return self._entries[id]
        direct = _direct_spec(id)
        owned = {*KNOWN_PACKS, *(name for pack in self.packs for name in pack.namespaces)}
        if direct is not None and id.partition(":")[0] not in owned:
            return Entry(direct, None)
        namespace = EnvId.parse(id).namespace
        declaring = self.load(namespace)
        if id in self._entries:
            return self._entries[id]
        unusable = [pack for pack in declaring if pack.state in ("failed", "disabled")]
        if unusable and len(unusable) == len(declaring):
            pack = unusable[0]
            raise PackError(
                f"{id!r} is not available: the pack {pack.distribution} is {pack.state} ({pack.reason}). "
                "Run `gemx doctor` for the whole story."
            )
        owner = KNOWN_PACKS.get(namespace)
        if owner is not None and not declaring:
            raise UnknownId(f"{id!r} is provided by {owner}, which is not installed: {how_to_install(owner)}")
        message = f"no installed pack provides {id!r}.{did_you_mean(id, (entry.spec.id for entry in self.entries()))}"
        for pack in unusable:
            message += f" The pack {pack.distribution}, which has {namespace!r} ids too, is {pack.state}."
        if owner is not None and owner not in {pack.distribution for pack in self.packs}:
            message += f" {owner}, which has {namespace!r} ids too, is not installed: {how_to_install(owner)}."
        raise UnknownId(f"{message} `gemx list` shows every id.")


def _claims(pack: Pack) -> list[Claim]:
    return [
        *(("id", spec.id) for spec in pack.envs),
        *(("command", command.name) for command in pack.commands),
        *((kind, name) for kind, table in _tables(pack).items() for name in table),
    ]


def _tables(pack: Pack) -> dict[Kind, Mapping[str, str]]:
    return {"tool": pack.tools, "wrapper": pack.wrappers, "policy": pack.policies}


_registry = Registry()


def registry() -> Registry:
    """The registry of this process."""
    return _registry


def register(id: str, entry_point: str | type[Env], *, max_turns: int | None = None, **kwargs: Any) -> EnvSpec:
    """Register an environment by hand, for a notebook or a script. A pack uses the `gem_envs` hook instead.

    Args:
        id: `namespace:Name[-vN][-variant]`.
        entry_point: the class, or `"module:Class"`.
        max_turns: passed to the class with the kwargs.
        kwargs: passed to the class.

    Raises:
        SpecError: the id or the entry point is not well formed.
        DuplicateId: the id is taken.
    """
    if not isinstance(entry_point, str):
        if not (isinstance(entry_point, type) and issubclass(entry_point, Env)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError(f"register takes a class that derives from gem.Env, or 'module:Class', not {entry_point!r}")
        if "<locals>" in entry_point.__qualname__:
            raise SpecError(
                f"{entry_point.__qualname__} is defined inside a function, where other processes cannot find it; "
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
            f"an env is made by its id, by 'module:Class' or by an EnvSpec, not by {id!r}; "
            "call a class yourself, or give it an id with gem.register"
        )
    return _registry.find(id).spec


def all_specs() -> list[EnvSpec]:
    """The spec of every id that the installed packs provide, sorted by id."""
    return [entry.spec for entry in _registry.entries()]


def make(id: str | EnvSpec, /, *, wrappers: Wrappers = (), **kwargs: Any) -> Env:
    """Build an environment.

    Args:
        id: an id, `"module.path:Class"`, or a spec.
        wrappers: names (`"a,b"` or a list), `{"name": …}` with the wrapper's settings, or callables, applied in this
            order around the spec's own: the last is outermost. The env's spec then names them all, so that
            `make(env.spec)` builds the same env again.
        kwargs: override the spec's kwargs.

    Raises:
        UnknownId, PackError, SpecError: see `Registry.find`.
        SpecError: an argument that the environment, or a wrapper, does not take, or one that it lacks.
        MissingExtra: the environment needs an optional dependency that is not installed.
    """
    found = id if isinstance(id, EnvSpec) else get_spec(id)
    env_class = import_env(found)
    spec = bind(found, wrappers=wrappers, **kwargs)
    arguments = _arguments(spec)
    check_arguments(repr(spec.id), env_class, arguments)
    env = env_class(**arguments)
    env.spec = spec
    try:
        for wrapper in (*found.wrappers, *listed(wrappers)):
            wrapped = (wrapper if callable(wrapper) else _build_wrapper(wrapper))(env)
            if not isinstance(wrapped, Env):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from anywhere
                raise SpecError(f"the wrapper {_named(wrapper)!r} makes a {type(wrapped).__name__}, and no gem.Env")
            env = wrapped
    except BaseException:
        env.close()
        raise
    return env


def bind(spec: EnvSpec, /, *, wrappers: Wrappers = (), **kwargs: Any) -> EnvSpec:
    """The spec with these wrappers and kwargs in force: the one that `make` gives its env, without making the env."""
    if not kwargs and not wrappers and "max_turns" not in spec.kwargs:
        return spec
    arguments = {**_arguments(spec), **kwargs}
    # A max_turns of None ("no limit") that overrides the spec's stays among the kwargs: the field means "not given".
    max_turns = arguments.pop("max_turns") if arguments.get("max_turns") is not None else None
    named = (*spec.wrappers, *(_named(wrapper) for wrapper in listed(wrappers)))
    return spec.model_copy(update={"kwargs": arguments, "max_turns": max_turns, "wrappers": named})


def _arguments(spec: EnvSpec) -> dict[str, Any]:
    limit = {} if spec.max_turns is None else {"max_turns": spec.max_turns}
    return {**spec.kwargs, **limit}


def _named(wrapper: WrapperLike) -> Component:
    """What it can be found and built by, if it can be named at all: a lambda or a partial is only described."""
    if not callable(wrapper):
        return copy.deepcopy(wrapper)
    if hasattr(wrapper, "__qualname__"):
        return f"{wrapper.__module__}:{wrapper.__qualname__}"
    return repr(wrapper)


def find_wrapper(name: str) -> Callable[..., Env]:
    """The wrapper that a pack registered under `name`, or the callable at `"module.path:name"`.

    Raises:
        UnknownId: no installed pack has it.
        PackError: the module has no such name.
    """
    return find_named("wrapper", name)


def _build_wrapper(component: Component) -> Callable[[Env], Env]:
    name, settings = name_and_settings(component)
    wrapper = find_wrapper(name)
    check_arguments(f"the wrapper {name!r}", wrapper, settings, given=1)
    return functools.partial(wrapper, **settings)


def find_policy(name: str) -> Callable[..., Any]:
    """What makes the policy that a pack registered under `name`, or the callable at `"module.path:name"`.

    Raises:
        UnknownId: no installed pack has it.
        PackError: the module has no such name.
    """
    return find_named("policy", name)


class Offer(NamedTuple):
    """What a pack offers under a name."""

    entry_point: str
    pack: Pack


def find_offer(kind: Kind, name: str) -> Offer | None:
    """What an installed pack offers under `name`, not imported; None if it is nothing, as for `"module:name"`."""
    for namespace in ("core", None):  # the core's own names are found without loading any other pack
        for pack in _registry.load(namespace):
            entry_point = _tables(pack)[kind].get(name)
            if entry_point is not None:
                return Offer(entry_point, pack)
    return None


def find_named(kind: Kind, name: str) -> Any:
    """What a pack registered under `name`, or what is at `"module.path:name"`.

    Raises:
        UnknownId: no installed pack has it.
        PackError: it cannot be imported, or the module has no such name.
    """
    if is_direct(name):
        return import_direct(kind, name)
    if (offer := find_offer(kind, name)) is not None:
        return import_object(offer.entry_point)
    known = [each for pack in _registry.load() for each in _tables(pack)[kind]]
    hints = f"{did_you_mean(name, known)}{module_of_file(name)}"
    raise UnknownId(f"no installed pack has a {kind} {name!r}.{hints} Known: {', '.join(sorted(known))}.")


def import_env(found: EnvSpec) -> type[Env]:
    """The class that a spec names.

    Raises:
        PackError: it cannot be imported.
        MissingExtra: for an optional dependency that is not installed.
        SpecError: it is not a class of environments, or is abstract.
    """
    try:
        env_class = import_object(found.entry_point)
    except PackError as error:
        if found.extra is None or error.name is None:
            raise
        raise MissingExtra(f"{found.id!r} needs {error.name}: pip install '{found.extra}'") from error
    # Anything can stand in an id, and must not be called for that.
    if not (isinstance(env_class, type) and issubclass(env_class, Env)):
        raise SpecError(f"{found.entry_point!r} is no environment: it is no class that derives from gem.Env")
    if inspect.isabstract(env_class):
        missing = ", ".join(sorted(env_class.__abstractmethods__))
        raise SpecError(f"{found.entry_point!r} cannot be made: its class does not define {missing}")
    return env_class


def _direct_spec(id: str) -> EnvSpec | None:
    """A spec for `"module.path:Class"`, or None where `id` does not read so or no such module can be found.

    Raises:
        SpecError: the class has a name that is no name of an environment, such as `_Hidden`.
    """
    module_name, _, class_name = id.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), class_name)):
        return None
    try:
        if importlib.util.find_spec(module_name) is None:
            return None
    except (ImportError, ValueError):  # the parent is missing; `__main__` of a script has no spec
        if module_name != "__main__":
            return None
    # Dots are not part of a namespace, so the spec's own id spells the module with underscores.
    namespace = module_name.replace(".", "_").strip("_").lower()
    own_id = str(EnvId.parse(f"{namespace}:{class_name}"))
    return EnvSpec(id=own_id, entry_point=id)
