"""The contract: what an environment is, and what a wrapper around one is.

Read `Env` for the promises. Write your own environment on `gem.TurnEnv`, which keeps most of them for you.
"""

import pickle
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, NotRequired, Self, TypedDict

from gem import seeding
from gem.errors import SnapshotError
from gem.spec import EnvSpec


class ContentPart(TypedDict):
    """One part of an observation that is more than text, in the shape that chat APIs use."""

    type: str
    text: NotRequired[str]
    image_url: NotRequired[dict[str, str]]


Observation = str | list[ContentPart]
"""What the agent sees: text, or a list of content parts."""

Info = dict[str, Any]
"""Side information for logs and tests. The agent never needs it to act."""


class Step(NamedTuple):
    """What one action brought about. It unpacks like Gymnasium's five.

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
        return cls(observation, reward, False, False, info)

    @classmethod
    def final(cls, observation: Observation, reward: float, *, success: bool, **info: Any) -> Self:
        """A step with which the task ended."""
        return cls(observation, reward, True, False, {"success": success, **info})

    @classmethod
    def cut_off(cls, observation: Observation, reward: float = 0.0, **info: Any) -> Self:
        """A step with which something outside the task (a turn limit, a budget) ended the episode."""
        return cls(observation, reward, False, True, {"success": False, **info})

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

    _spec: EnvSpec | None = None
    _seed: int | None = None
    _rng: random.Random | None = None
    _action_rng: random.Random | None = None

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
        """

    @abstractmethod
    def sample_action(self) -> str:
        """A random well-formed action in this state, drawn from `action_rng`."""

    def expert_action(self) -> str | None:
        """The best action that the env knows in this state, or None where it knows none."""
        return None

    def snapshot(self) -> bytes:
        """The whole state, generators included, as bytes for `restore`.

        The default pickles the instance's attributes. An env that holds a file, a process or a connection
        overrides both methods.
        """
        return pickle.dumps((_name_of(self), self.__dict__), protocol=pickle.HIGHEST_PROTOCOL)

    def restore(self, state: bytes) -> None:
        """Go back to the state that `snapshot` returned, in this or in another instance of the same class.

        A snapshot is a pickle: restore only what you or your own program made.

        Raises:
            SnapshotError: the bytes are of another class.
        """
        name, attributes = _load_snapshot(state)
        if name != _name_of(self):
            raise SnapshotError(f"this snapshot is of {name}, and cannot be restored into {_name_of(self)}")
        own = vars(self)
        own.clear()
        own.update(attributes)

    def close(self) -> None:
        """Give back what the env holds. Closing twice is fine."""

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
        self._rng = seeding.generator(seed)
        self._seed = int(seed)
        self._action_rng = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Wrapper(Env):
    """An env around an env: override what should differ, the rest goes through.

    Reading an attribute that the wrapper lacks reads it from the inner env. Snapshots hold the wrapper's own
    state and the inner env's.
    """

    def __init__(self, env: Env) -> None:
        self.env = env

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        return self.env.reset(seed=seed, options=options)

    def step(self, action: str) -> Step:
        return self.env.step(action)

    def sample_action(self) -> str:
        return self.env.sample_action()

    def expert_action(self) -> str | None:
        return self.env.expert_action()

    def snapshot(self) -> bytes:
        own = {name: value for name, value in self.__dict__.items() if name != "env"}
        return pickle.dumps((_name_of(self), (own, self.env.snapshot())), protocol=pickle.HIGHEST_PROTOCOL)

    def restore(self, state: bytes) -> None:
        name, content = _load_snapshot(state)
        if name != _name_of(self):
            raise SnapshotError(f"this snapshot is of {name}, and cannot be restored into {_name_of(self)}")
        own, inner = content
        # The inner env first: if it refuses, this wrapper is left as it was.
        self.env.restore(inner)
        here = vars(self)
        own["env"] = self.env
        here.clear()
        here.update(own)

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


def _name_of(env: Env) -> str:
    return f"{type(env).__module__}.{type(env).__qualname__}"


def _load_snapshot(state: bytes) -> tuple[str, Any]:
    try:
        name, content = pickle.loads(state)
    except Exception as error:
        raise SnapshotError(f"these {len(state)} bytes are not a snapshot: {error}") from error
    return name, content
