"""`make_vec`: from ids to a vector of environments."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

from gem import roles, seeding
from gem.checks import check_int
from gem.core import Env
from gem.errors import ConfigError
from gem.packs.component_ref import as_list
from gem.packs.make import Wrappers, bind, make
from gem.packs.registry import get_spec, path_of_class
from gem.packs.spec import EnvSpec
from gem.vector.backend import Backend, EnvSet
from gem.vector.backends.sync import SyncBackend
from gem.vector.backends.thread import ThreadBackend
from gem.vector.engine import VectorEnv, slot_seed
from gem.vector.messages import Autoreset, Maker
from gem.vector.mixture import mixture_makers

BackendName = Literal["sync", "thread", "process", "ray"]
"""Name of the place where the environments of a vector run."""


@dataclass(frozen=True, slots=True)
class Share:
    """One of several envs in a vector: its `id`, and its `weight` among them.

    Its own `kwargs` override those of the vector, and the wrappers of the vector go around its own `wrappers`. Starts
    choose it by its `name`, by default the id.
    """

    id: str
    weight: float = 1.0
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    wrappers: Wrappers = ()
    name: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.weight < math.inf:
            raise ConfigError(f"weights must be above 0 and finite: that of {self.id} is {self.weight}")


@dataclass(frozen=True, slots=True)
class SpecMaker:
    """Makes the env of one slot; it is pickled for other processes."""

    spec: EnvSpec
    wrappers: Wrappers = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __call__(self) -> Env:
        return make(self.spec, wrappers=self.wrappers, **self.kwargs)

    @property
    def bound(self) -> EnvSpec:
        """The spec of the env, with all kwargs and wrappers."""
        return bind(self.spec, wrappers=self.wrappers, **self.kwargs)


def make_vec(
    ids: str | Sequence[str] | Mapping[str, float] | Sequence[Share],
    num_envs: int | None = None,
    *,
    backend: BackendName | None = None,
    wrappers: Wrappers | None = (),
    autoreset: Autoreset = "same_step",
    seed: int | None = None,
    step_timeout: float | None = None,
    num_workers: int | None = None,
    info_methods: Sequence[str] = (),
    env_kwargs: Mapping[str, Any] | None = None,
    vec_kwargs: Sequence[Mapping[str, Any]] | None = None,
    async_mode: bool = False,
) -> VectorEnv:
    """Build a vector of environments.

    Args:
        ids: one id for all slots; a list (or comma-separated ids), assigned to the slots in turn; or a mapping
            id → weight, by which the slots are divided, or a list of `Share`s, which have kwargs and wrappers of their
            own. In a rollout every slot plays every id, and the episodes are divided instead (but not with
            `vec_kwargs`).
        num_envs: the number of slots; by default one per id.
        backend: where the envs run: `"sync"` (the default) in this thread, `"thread"` in threads, `"process"` in
            worker processes, `"ray"` in actors on a Ray cluster: the connected one, or that of `RAY_ADDRESS`, or a
            local one.
        wrappers: as in `gem.make`, around every env.
        autoreset: see `Autoreset`.
        seed: seeds the vector; by default from the operating system's randomness.
        step_timeout: seconds that one `reset` or `step` of an env may take; not for `"sync"`.
        num_workers: the number of threads (by default one per slot), processes or actors (by default one per core).
        info_methods: names of env methods without arguments, such as `"expert_action"`. Their results are put into
            every `info` that needs an action, under the same name.
        env_kwargs: override the kwargs of the specs in every slot.
        vec_kwargs: as in gem-llm: kwargs for each slot, which override the others; `seed` among them seeds the slot.
        async_mode: as in gem-llm: `backend="thread"`.

    Raises:
        ConfigError: settings contradict each other, or an env refuses them.
        UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
    """
    if isinstance(ids, str):
        ids = [id.strip() for id in ids.split(",")]
    elif not isinstance(ids, Mapping | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]: people try a class
        what = f"{ids!r:.200}{path_of_class(ids)}"
        raise ConfigError(f"make_vec takes an id, a list of ids, or a mapping id → weight, not {what}")
    shares = _shares(ids)
    count = len(ids) if num_envs is None else check_int("num_envs", num_envs, 1)
    if isinstance(ids, Mapping) or isinstance(ids[0], Share):
        names = apportion({name: share.weight for name, share in shares.items()}, count)
    else:
        names = [cast("Sequence[str]", ids)[slot % len(ids)] for slot in range(count)]
    if vec_kwargs is not None and len(vec_kwargs) != count:
        raise ConfigError(f"vec_kwargs must have one entry per slot: {count}, not {len(vec_kwargs)}")
    if async_mode and backend not in (None, "thread"):
        raise ConfigError(f'async_mode=True means backend="thread", not {backend!r}; leave one of them out')
    if autoreset not in get_args(Autoreset):
        raise ConfigError(f"autoreset is one of {', '.join(get_args(Autoreset))}, not {autoreset!r}")
    own = [dict(entry) for entry in vec_kwargs or [dict[str, Any]()] * count]
    whole = seeding.fresh() if seed is None else seed
    seeds = [seeding.check_seed(entry.pop("seed", slot_seed(whole, slot))) for slot, entry in enumerate(own)]
    outer = as_list(wrappers or ())  # gem-llm passes None
    made = {
        name: SpecMaker(get_spec(share.id), (*as_list(share.wrappers), *outer), {**(env_kwargs or {}), **share.kwargs})
        for name, share in shares.items()
    }
    slots = [replace(made[name], kwargs={**made[name].kwargs, **entry}) for name, entry in zip(names, own, strict=True)]
    bound = [maker.bound for maker in slots]
    makers: Sequence[Maker] = slots
    mixture: dict[str, tuple[EnvSpec, float]] = {}
    if len(shares) > 1 and vec_kwargs is None:
        # The id of "module.path:Class" differs from what was given.
        called = {name: shares[name].name or maker.spec.id for name, maker in made.items()}
        mixture = {called[name]: (maker.bound, shares[name].weight) for name, maker in made.items()}
        makers = mixture_makers({called[name]: maker for name, maker in made.items()}, [called[name] for name in names])
    env_set = EnvSet(makers, seeds, info_methods, step_timeout, roles.current())
    opened = _open(backend or ("thread" if async_mode else "sync"), env_set, num_workers)
    return VectorEnv(opened, bound, autoreset=autoreset, mixture=mixture)


def apportion(weights: Mapping[str, float], seats: int) -> list[str]:
    """Divide `seats` by weight, by largest remainders (the first wins a tie); in blocks, in the given order.

    >>> apportion({"a": 2, "b": 1, "c": 1}, 5)
    ['a', 'a', 'a', 'b', 'c']
    """
    total = sum(weights.values())
    quotas = [seats * weight / total for weight in weights.values()]
    given = [int(quota) for quota in quotas]
    by_remainder = sorted(range(len(quotas)), key=lambda i: given[i] - quotas[i])
    for i in by_remainder[: seats - sum(given)]:
        given[i] += 1
    return [name for name, count in zip(weights, given, strict=True) for _ in range(count)]


def _shares(ids: Sequence[str] | Mapping[str, float] | Sequence[Share]) -> dict[str, Share]:
    """The shares by name."""
    if not ids:
        raise ConfigError("a vector needs at least one id")
    if isinstance(ids, Mapping):
        return {id: Share(id, weight) for id, weight in ids.items()}
    shares = [each for each in ids if isinstance(each, Share)]
    if not shares:
        return {id: Share(id, weight) for id, weight in Counter(cast("Sequence[str]", ids)).items()}
    if len(shares) < len(ids):
        raise ConfigError("make_vec takes ids or Shares, and not both in one list")
    found = {share.name or share.id: share for share in shares}
    if len(found) < len(shares):
        twice = next(name for share in shares if found[name := share.name or share.id] is not share)
        raise ConfigError(f"{twice} is in the mix twice; to play it with other settings too, give that Share a name")
    return found


def _open(name: str, env_set: EnvSet, num_workers: int | None) -> Backend:
    if env_set.step_timeout is not None and not env_set.step_timeout > 0:
        raise ConfigError(f"step_timeout must be above 0 seconds, not {env_set.step_timeout}")
    if num_workers is not None and num_workers < 1:
        raise ConfigError(f"num_workers must be at least 1, not {num_workers}")
    if name == "sync":
        if env_set.step_timeout is not None or num_workers is not None:
            raise ConfigError(
                'backend="sync" runs the envs in this thread: it cannot end one that hangs, and does not have workers. '
                'For step_timeout and num_workers use "thread", "process" or "ray"'
            )
        return SyncBackend(env_set)
    if name == "thread":
        return ThreadBackend(env_set, num_workers)
    if name == "process":
        from gem.vector.backends.process import ProcessBackend

        return ProcessBackend(env_set, num_workers)
    if name == "ray":
        from gem.vector.backends.ray import RayBackend

        return RayBackend(env_set, num_workers)
    raise ConfigError(f"backend {name!r} does not exist; the backends are {', '.join(get_args(BackendName))}")
