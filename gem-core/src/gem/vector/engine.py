"""The vector engine: many environments behind one `send` and `recv`."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from gem.core import Env, Step
from gem.spec import EnvSpec
from gem.transcript import Failure


@dataclass(frozen=True, slots=True)
class Reset:
    """The message that starts a new episode in a slot."""

    seed: int | None = None
    options: Mapping[str, Any] | None = None


class Arrival(NamedTuple):
    """What came back from a slot: a step, or the failure of its env.

    A reset arrives as a step that brought nothing: reward 0, neither terminated nor truncated.
    """

    slot: int
    step: Step | None
    failure: Failure | None


class VectorEnv:
    """Environments in numbered slots. `send` gives some of them something to do, `recv` takes what is done.

    This engine runs its environments in the calling thread. An env that raises fails alone: its slot is rebuilt
    from its maker and takes a `Reset` again.

    Args:
        makers: one function a slot, each of which builds that slot's env.
        hints: names of env methods without arguments, whose results go into every `info` under the same name.
    """

    def __init__(self, makers: Sequence[Callable[[], Env]], *, hints: Sequence[str] = ()) -> None:
        self._makers = list(makers)
        self._hints = tuple(hints)
        self._envs = [make() for make in self._makers]
        self._queue: dict[int, str | Reset] = {}

    @property
    def num_envs(self) -> int:
        """How many slots there are."""
        return len(self._envs)

    def id_of(self, slot: int) -> str:
        """The id of the env in `slot` (its class's name, if it was not made from an id)."""
        env = self._envs[slot]
        return env.spec.id if env.spec else type(env.unwrapped).__name__

    def spec_of(self, slot: int) -> EnvSpec | None:
        """What `gem.make` builds the env in `slot` from; None for one that was built by hand."""
        return self._envs[slot].spec

    def send(self, messages: Mapping[int, str | Reset]) -> None:
        """Give each named slot an action or a `Reset`.

        Raises:
            IndexError: there is no such slot.
            RuntimeError: the slot still has something to do; `recv` first.
        """
        for slot, message in messages.items():
            if not 0 <= slot < len(self._envs):
                raise IndexError(f"there is no slot {slot}; this vector has slots 0 to {len(self._envs) - 1}")
            if slot in self._queue:
                raise RuntimeError(f"slot {slot} has not answered its last message yet; call recv() first")
            self._queue[slot] = message

    def recv(self, min_results: int = 1, timeout: float | None = None) -> list[Arrival]:
        """What is done: everything that was sent, since these environments run here and now."""
        queue, self._queue = self._queue, {}
        return [self._run(slot, message) for slot, message in queue.items()]

    def _run(self, slot: int, message: str | Reset) -> Arrival:
        env = self._envs[slot]
        try:
            if isinstance(message, Reset):
                observation, info = env.reset(seed=message.seed, options=message.options)
                step = Step(observation, 0.0, False, False, info)
            else:
                step = env.step(message)
            if not step.done:
                for hint in self._hints:
                    step.info[hint] = getattr(env, hint)()
            return Arrival(slot, step, None)
        except Exception as error:
            failure = Failure(f"{type(error).__name__}: {error}", traceback.format_exc())
            self._envs[slot] = self._makers[slot]()
            return Arrival(slot, None, failure)

    def close(self) -> None:
        """Close every env. Closing twice is fine."""
        for env in self._envs:
            env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
