"""The contract: what an environment is, and what a wrapper around one is.

Read `Env` for the promises. Write your own environment on `gem.TurnEnv`, which keeps most of them for you.
"""

import inspect
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NotRequired, Self, TypedDict

from gem import seeding, snapshots
from gem.checks import check_int
from gem.errors import ConfigError, EpisodeOver, ResetNeeded
from gem.gem_llm import Renamed
from gem.packs.spec import EnvSpec
from gem.snapshots import ConstructorCall


class ContentPart(TypedDict):
    """One part of an observation that is more than text, as in chat APIs: its `type`, and `text` or `image_url`."""

    type: str
    text: NotRequired[str]
    image_url: NotRequired[dict[str, str]]


class ChatMessage(TypedDict):
    """One message as chat templates and chat APIs take it: a `role` and its `content`."""

    role: Literal["user", "assistant"]
    content: Any


Observation = str | list[ContentPart]
"""What the agent sees: text, or a list of content parts."""

Info = dict[str, Any]
"""Side information for logs and tests. The agent never needs it to act."""


new_tuple: Callable[..., Any] = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
"""Makes a named tuple in half the time, where one is made for every step: `new_tuple(Step, (…))`."""


class Step(NamedTuple):
    """The result of an action, in Gymnasium's order: `observation`, `reward`, `terminated`, `truncated`, `info`.

    `terminated`: the task itself ended (won, lost, answered). `truncated`: something outside the task ended the
    episode (a turn limit, a budget). Never both. The last step of an episode carries `info["success"]: bool`.
    """

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: Info

    @classmethod
    def ongoing(cls, observation: Observation, reward: float = 0.0, **info: Any) -> Self:
        """A step after which the episode goes on."""
        return new_tuple(cls, (observation, reward, False, False, info))

    @classmethod
    def final(cls, observation: Observation, reward: float, *, success: bool, **info: Any) -> Self:
        """A step with which the task ended."""
        return new_tuple(cls, (observation, reward, True, False, {"success": success, **info}))

    @classmethod
    def cut_off(cls, observation: Observation, reward: float = 0.0, **info: Any) -> Self:
        """A step with which something outside the task (a turn limit, a budget) ended the episode."""
        return new_tuple(cls, (observation, reward, False, True, {"success": False, **info}))

    @property
    def done(self) -> bool:
        """Whether the episode is over, for either reason."""
        return self.terminated or self.truncated


class Env(ABC):
    """One environment instance.

    - All randomness comes from the env's own generators: `rng` for the world, `action_rng` for `sample_action`
      (so that sampling an action never changes what the world does next). The same (id, kwargs, seed, actions)
      gives the same bytes in any process, thread and order.
    - The observation holds everything the agent needs to act.
    - A malformed action costs what the env's docstring says; it never raises. A fault of the env does raise: it
      never becomes reward 0.
    - Stepping a finished env raises `EpisodeOver`; stepping one that was never reset raises `ResetNeeded`.
    """

    _unsaved: ClassVar[frozenset[str]] = frozenset({"_made_with"})
    """Attributes that say how this instance was built and not where its episode stands: snapshots leave them out,
    `restore` leaves them alone. Add to them what cannot be pickled or is large, such as a function."""

    _constructor_call: ConstructorCall
    """What the constructor was called with, for `fork`."""

    _spec: EnvSpec | None = None
    _seed: int | None = None
    _rng: random.Random | None = None
    _action_rng: random.Random | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        env = super().__new__(cls)
        env._constructor_call = (args, kwargs)
        return env

    # `__new__` takes whatever `__init__` takes, so `inspect` must not read a class's arguments from it.
    __new__.__signature__ = inspect.Signature([inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)])

    def __init__(self) -> None:
        """An env takes no arguments unless its class says so."""

    @abstractmethod
    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        """Start a new episode.

        Args:
            seed: starts the env's generators anew; without it they go on from where they are (and start from
                the operating system's randomness the first time).
            options: what this env's docstring says it takes.

        Returns:
            The first observation, and side information.
        """
        if seed is not None:
            self._seed_generators(seed)
        elif self._seed is None:
            self._seed_generators(seeding.fresh())
        return "", {}

    @abstractmethod
    def step(self, action: str) -> Step:
        """Act: `action` is the text of one whole reply of the agent.

        Raises:
            EpisodeOver: the episode has ended; call `reset`.
            ResetNeeded: there was no `reset` yet.
            TypeError: the action is not text.
        """

    @abstractmethod
    def sample_action(self) -> str:
        """A random well-formed action in this state, drawn from `action_rng`."""

    def expert_action(self) -> str | None:
        """The best action that the env knows in this state, or None where it knows none."""
        return None

    def snapshot(self) -> bytes:
        """The whole state, generators included, as bytes for `restore`.

        The default pickles the instance's attributes, except those named in `_unsaved`. An env that holds a file,
        a process or a connection overrides both methods.
        """
        return snapshots.dump(self, self._constructor_call, self._attributes())

    def restore(self, state: bytes) -> None:
        """Go back to the state that `snapshot` returned, in this or in another instance that was built alike.

        A snapshot is a pickle: restore only what you or your own program made.

        Raises:
            SnapshotError: the bytes are of another class, or of an env that was built with other arguments.
        """
        self._replace_attributes(snapshots.load(self, self._constructor_call, state))

    def fork(self, n: int) -> list[Self]:
        """`n` independent copies, each in the state in which this env is now, generators included.

        Given the same actions they all go the same way, and so does this env; what one of them does changes nothing
        in the others. `sample_action` agrees too: seed `copy.action_rng` anew to have samples differ, and `copy.rng`
        for another future of a random world.

        A copy is built by the constructor call that built this env, and every env below a wrapper likewise; then it
        is restored from a snapshot. To copy or pickle the instance would fail where an env holds a process or a
        connection, or share it; so built, each copy has its own. Functions and other arguments of that call are
        shared. Close the copies when you are done with them.

        Raises:
            ConfigError: `n` is not a whole number of at least 0.
            SnapshotError: a wrapper's inner env has been exchanged since the wrapper was built.
        """
        check_int("n, the number of copies,", n, 0)
        state = self.snapshot()
        with ExitStack() as made:  # which closes them, should a restore be refused
            copies = [made.enter_context(self.rebuild()) for _ in range(n)]
            for copy in copies:
                copy.spec = self.spec
                copy.restore(state)
            made.pop_all()
        return copies

    def close(self) -> None:
        """Give back what the env holds. Closing twice is fine."""

    if not TYPE_CHECKING:  # to a type checker they are not there
        sample_random_action = Renamed("sample_action()")
        spawn = Renamed("gem.make(env.spec, …) for a new env, and fork(n) for copies in this state")

    @property
    def spec(self) -> EnvSpec | None:
        """What `gem.make` built this env from, with the kwargs that were in force; None for one built by hand."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = spec

    @property
    def unwrapped(self) -> "Env":
        """The env itself, below every wrapper."""
        return self

    @property
    def rng(self) -> random.Random:
        """The generator of the world."""
        if self._rng is None:
            self._seed_generators(seeding.fresh())
            assert self._rng is not None
        return self._rng

    @property
    def action_rng(self) -> random.Random:
        """The generator of `sample_action`, independent of `rng`."""
        if self._action_rng is None:
            if self._seed is None:
                self._seed_generators(seeding.fresh())
                assert self._seed is not None
            # Made on first use: most envs never sample, and a Mersenne Twister costs more than a step.
            self._action_rng = seeding.generator(seeding.derive(self._seed, "action"))
        return self._action_rng

    def _seed_generators(self, seed: int) -> None:
        self._seed = seeding.check_seed(seed)
        if self._rng is None:
            self._rng = random.Random(self._seed)
        else:  # a new one would cost a quarter more, and half the reset of a quick env
            self._rng.seed(self._seed)
        self._action_rng = None

    def rebuild(self, **changes: Any) -> Self:
        """A new instance from the constructor call that built this one, the envs among its arguments new as well.

        Args:
            changes: arguments that differ; below wrappers, they are the innermost env's.

        Raises:
            ConfigError: the env takes no such arguments, or refuses them.
        """
        args, kwargs = self._constructor_call
        if changes:
            try:
                kwargs = {**inspect.signature(type(self)).bind_partial(*args).arguments, **kwargs, **changes}
                inspect.signature(type(self)).bind(**kwargs)
            except TypeError as error:
                raise ConfigError(f"{type(self).__name__} cannot be built anew with {changes}: {error}") from error
            args = ()
        return type(self)(*map(_rebuild, args), **{name: _rebuild(value) for name, value in kwargs.items()})

    def _attributes(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._unsaved}

    def _replace_attributes(self, attributes: Mapping[str, Any]) -> None:
        own = vars(self)
        for name in own.keys() - self._unsaved:
            del own[name]
        own.update(attributes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Wrapper(Env):
    """An env around an env: override what should differ, the rest goes through.

    Reading an attribute that the wrapper lacks reads it from the inner env. Snapshots hold the wrapper's own
    state and the inner env's. A wrapper that is given a function names it in `_unsaved`, for few functions pickle:
    `_unsaved = Wrapper._unsaved | {"function"}`.
    """

    _unsaved: ClassVar[frozenset[str]] = Env._unsaved | {"env"}

    def __init__(self, env: Env) -> None:
        if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]: people try an id
            raise ConfigError(f"{type(self).__name__} goes around an env, such as gem.make(id), not {env!r}")
        self.env = env
        """The inner env."""

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        return self.env.reset(seed=seed, options=options)

    def step(self, action: str) -> Step:
        return self.env.step(action)

    def sample_action(self) -> str:
        return self.env.sample_action()

    def expert_action(self) -> str | None:
        return self.env.expert_action()

    def rebuild(self, **changes: Any) -> Self:
        args, kwargs = self._constructor_call
        inner = {name: _rebuild(value, **changes) for name, value in kwargs.items()}
        return type(self)(*(_rebuild(value, **changes) for value in args), **inner)

    def snapshot(self) -> bytes:
        return snapshots.dump(self, self._constructor_call, (self._attributes(), self.env.snapshot()))

    def restore(self, state: bytes) -> None:
        own, inner = snapshots.load(self, self._constructor_call, state)
        # The inner env first: if it refuses, this wrapper is left as it was.
        self.env.restore(inner)
        self._replace_attributes(own)

    def close(self) -> None:
        self.env.close()

    @property
    def spec(self) -> EnvSpec | None:
        return self.env.spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self.env.spec = spec

    @property
    def unwrapped(self) -> Env:
        return self.env.unwrapped

    @property
    def rng(self) -> random.Random:
        return self.env.rng

    @property
    def action_rng(self) -> random.Random:
        return self.env.action_rng

    def __getattr__(self, name: str) -> Any:
        # Private names and `env` itself stay here: copying and unpickling look for them before `__init__` has run.
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.env, name)


def _rebuild(value: Any, **changes: Any) -> Any:
    return value.rebuild(**changes) if isinstance(value, Env) else value


def check_step(env: Env, over: bool | None, action: object) -> None:
    """Refuse a step that cannot be carried out.

    Args:
        env: whose step it is.
        over: whether its episode has ended; None before the first reset.
        action: what `step` was given.

    Raises:
        ResetNeeded, EpisodeOver, TypeError: see `Env.step`.
    """
    if over is None:
        raise ResetNeeded(f"{type(env).__name__}: call reset() before the first step()")
    if over:
        raise EpisodeOver(f"{type(env).__name__}: the episode has ended; call reset()")
    if not isinstance(action, str):
        raise TypeError(f"an action is the text of the agent's whole reply, not {action!r}")
