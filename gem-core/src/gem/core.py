"""The contract: `Env`, `Step` and `Wrapper`. Write an environment on `gem.TurnEnv`, which keeps most of it for you."""

import inspect
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, ClassVar, Literal, NamedTuple, NotRequired, Self, TypedDict

from gem import seeding, snapshots
from gem.checks import check_int
from gem.errors import ConfigError, EpisodeOver, ResetNeeded
from gem.packs.spec import EnvSpec
from gem.snapshots import ConstructorCall


class ContentPart(TypedDict):
    """One part of an observation that is more than text, as in chat APIs: its `type`, and `text` or `image_url`."""

    type: str
    text: NotRequired[str]
    image_url: NotRequired[dict[str, str]]


class ChatMessage(TypedDict):
    """One message as chat templates and chat APIs take it: a `role` and its `content`."""

    role: Literal["system", "user", "assistant"]
    content: Any


Observation = str | list[ContentPart]
"""An observation of the agent: text, or a list of content parts."""

Info = dict[str, Any]
"""Side information for logs and tests. The agent never needs it to act."""


new_tuple: Callable[..., Any] = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
"""Makes a named tuple in half the time: `new_tuple(Step, (…))`. For the code of every step."""


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
        """A step after which the episode continues."""
        return new_tuple(cls, (observation, reward, False, False, info))

    @classmethod
    def final(cls, observation: Observation, reward: float, *, success: bool, **info: Any) -> Self:
        """The last step of an episode whose task ended."""
        return new_tuple(cls, (observation, reward, True, False, {"success": success, **info}))

    @classmethod
    def cut_off(cls, observation: Observation, reward: float = 0.0, **info: Any) -> Self:
        """The last step of an episode that something outside the task (a turn limit, a budget) ended."""
        return new_tuple(cls, (observation, reward, False, True, {"success": False, **info}))

    @property
    def done(self) -> bool:
        """True if the episode is over, for either reason."""
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

    _unsaved: ClassVar[frozenset[str]] = frozenset({"_constructor_call"})
    """Attributes that are not part of the state of an episode: neither saved nor restored by snapshots. Add what cannot
    be pickled or is large, such as a function."""

    _constructor_call: ConstructorCall
    """The arguments of the constructor, for `fork`."""

    players: tuple[str, ...] = ()
    """The players of a game for several, in the order of their seats; empty for the one player of most envs.

    `info["player"]` of a game says who acts next: whose observation it is. A step's `info["rewards"]` has what each
    player earned with it, as a number or in parts by name, and the reward of the step is the sum. The info of the last
    step has `won`: the list of the players who did what the game asks for, which may be all or none; `success` is
    whether any did."""

    capacities: Mapping[str, int] = {}
    """How many episodes at once may hold each thing that there are only so many of, by name. A step may wait until
    another episode ends: see `gem.tool.Resource`."""

    _spec: EnvSpec | None = None
    _seed: int | None = None
    _rng: random.Random | None = None
    _action_rng: random.Random | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        env = super().__new__(cls)
        env._constructor_call = (args, kwargs)
        return env

    # `inspect` must read the arguments of a class from `__init__`.
    __new__.__signature__ = inspect.Signature([inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)])

    def __init__(self) -> None:
        """Subclasses may take arguments."""

    @abstractmethod
    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        """Start a new episode.

        Args:
            seed: seeds the env's generators; without it they continue (the first time, from the operating system's
                randomness).
            options: as documented by the env.

        Returns:
            The first observation, and side information, of which `system` is shown to the agent: a text that is the
            system message of the conversation.
        """
        if seed is not None:
            self._seed_generators(seed)
        elif self._seed is None:
            self._seed_generators(seeding.fresh())
        return "", {}

    @abstractmethod
    def step(self, action: str) -> Step:
        """Carry out `action`, the text of one whole reply of the agent.

        Raises:
            EpisodeOver, ResetNeeded: the episode has ended, or not begun; call `reset`.
            TypeError: the action is not text.
        """

    @abstractmethod
    def sample_action(self) -> str:
        """A random well-formed action in this state, drawn from `action_rng`."""

    def expert_action(self) -> str | None:
        """The best action that the env knows in this state, or None."""
        return None

    def snapshot(self) -> bytes:
        """The whole state, generators included, as bytes for `restore`.

        The default pickles all attributes but those in `_unsaved`. An env with a file, a process or a connection
        overrides both methods.
        """
        return snapshots.dump(self, self._compared_call(), self._attributes())

    def restore(self, state: bytes) -> None:
        """Return to the state of a `snapshot` of this instance, or of another one built with the same arguments.

        A snapshot is a pickle: restore only what your own program made.

        Raises:
            SnapshotError: the snapshot is of another class, or of an env that was built with other arguments.
        """
        self._replace_attributes(snapshots.load(self, self._compared_call(), state))

    def fork(self, n: int) -> list[Self]:
        """`n` independent copies in the state of this env, generators included.

        Given the same actions, all of them and this env return the same steps. `sample_action` agrees too: seed
        `copy.action_rng` for other samples, and `copy.rng` for another future of a random world.

        A copy is built by the constructor call that built this env (and likewise every env below a wrapper), and then
        restored from a snapshot; so each has processes and connections of its own. Functions and other arguments of
        that call are shared. Close the copies when you are done.

        Raises:
            ConfigError: `n` is not an integer >= 0.
            SnapshotError: the inner env of a wrapper has been replaced since the wrapper was built.
        """
        check_int("n, the number of copies,", n, 0)
        state = self.snapshot()
        with ExitStack() as made:  # closes them if a restore fails
            copies = [made.enter_context(self.rebuild()) for _ in range(n)]
            for copy in copies:
                copy.spec = self.spec
                copy.restore(state)
            made.pop_all()
        return copies

    def close(self) -> None:
        """Release files, processes and connections. Closing twice is fine."""

    @property
    def spec(self) -> EnvSpec | None:
        """The spec that `gem.make` built this env from, overridden kwargs included; None if it was built by hand."""
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
        """The random generator of the world."""
        if self._rng is None:
            self._seed_generators(seeding.fresh())
            assert self._rng is not None
        return self._rng

    @property
    def action_rng(self) -> random.Random:
        """The random generator of `sample_action`, independent of `rng`."""
        if self._action_rng is None:
            if self._seed is None:
                self._seed_generators(seeding.fresh())
                assert self._seed is not None
            # Made on first use: most envs never sample, and a Mersenne Twister costs more than a step.
            self._action_rng = random.Random(seeding.derive(self._seed, "action"))
        return self._action_rng

    def _seed_generators(self, seed: int) -> None:
        self._seed = seeding.check_seed(seed)
        if self._rng is None:
            self._rng = random.Random(self._seed)
        else:  # quicker than a new one
            self._rng.seed(self._seed)
        self._action_rng = None

    def rebuild(self) -> Self:
        """A new instance from the constructor call that built this one; envs among the arguments are rebuilt too."""
        args, kwargs = self._constructor_call
        return type(self)(*map(_rebuild, args), **{name: _rebuild(value) for name, value in kwargs.items()})

    def _compared_call(self) -> ConstructorCall:
        """The arguments that a snapshot has, to refuse that of an env that was built with others."""
        return self._constructor_call

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
    """An env around another env: override what should differ; everything else is passed on.

    Attributes that the wrapper does not have are read from the inner env. Snapshots hold the state of both. A wrapper
    that is given a function adds it to `_unsaved`: `_unsaved = Wrapper._unsaved | {"function"}`.
    """

    _unsaved: ClassVar[frozenset[str]] = Env._unsaved | {"env"}

    def __init__(self, env: Env) -> None:
        if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]: people try an id
            raise ConfigError(f"{type(self).__name__} wraps an env, such as gem.make(id), not {env!r}")
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

    def snapshot(self) -> bytes:
        return snapshots.dump(self, self._constructor_call, (self._attributes(), self.env.snapshot()))

    def restore(self, state: bytes) -> None:
        own, inner = snapshots.load(self, self._constructor_call, state)
        # The inner env first: if it refuses, this wrapper is unchanged.
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
    def players(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]: passed on
        return self.env.players

    @property
    def capacities(self) -> Mapping[str, int]:  # pyright: ignore[reportIncompatibleVariableOverride]: passed on
        return self.env.capacities

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
        # Copying and unpickling look for private names and `env` before `__init__` has run.
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.env, name)


def _rebuild(value: Any) -> Any:
    return value.rebuild() if isinstance(value, Env) else value


def check_step(env: Env, over: bool | None, action: object) -> None:
    """Refuse a step with the errors of `Env.step`; `over` is None before the first reset."""
    if over is None:
        raise ResetNeeded(f"{type(env).__name__}: call reset() before the first step()")
    if over:
        raise EpisodeOver(f"{type(env).__name__}: the episode has ended; call reset()")
    if not isinstance(action, str):
        raise TypeError(f"an action is the text of the agent's whole reply, not {action!r}")


def cut_off_info(env: Env, info: Info) -> Info:
    """The info of a step that a limit makes the last: nobody has succeeded."""
    won: Info = {"won": []} if env.players else {}
    return {**info, "success": False, **won}
