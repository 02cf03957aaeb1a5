"""`Seat`: one player's seat in a game as an env of its own; policies play in the other seats."""

import itertools
import random
import sys
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

from gem import seeding
from gem.core import Env, Info, Observation, Step, Wrapper, check_step
from gem.episode import Completion, Start
from gem.episode.episode import AGENT
from gem.errors import ConfigError, Failure, Fault, GemError, PolicyError, Unreachable, did_you_mean
from gem.packs.component_ref import ComponentRef
from gem.rollout.function_policy import FunctionPolicy, PolicyFunction
from gem.rollout.named_policies import make_policy
from gem.rollout.policy import Policy
from gem.rollout.running import RunningEpisode
from gem.rollout.transcript import Transcript
from gem.work.lifetime import hold_during_fork

Opponent = ComponentRef | Policy | PolicyFunction
"""A policy by name (`"random"`, `"openai:NAME"`, `{"name": …, **settings}`), a `Policy`, or a function."""

_MOST_RESETS = 100
"""Games in a row that may end before the player of a seat is asked."""
_locks: WeakKeyDictionary[Policy, threading.Lock] = WeakKeyDictionary()
"""A policy that plays in several games is asked by one at a time."""
_new_lock = threading.Lock()
hold_during_fork(_new_lock)
_slots: Iterator[int] = itertools.count()
"""Numbers of conversations, so that games do not share one of a policy."""


class Seat(Wrapper):
    """One player's seat in a game for several, as an ordinary env for one player.

    The other seats are played by policies, each with a conversation of its own, inside `reset` and `step`: the next
    observation is the player's own. A step's reward is all that the player earned until then, with its parts, and
    `success` is whether the player is among those who `won`. `sample_action` and `expert_action` are the player's own.
    A game that ends before the player is asked is played again from a seed that is derived from its own.

    A policy that fails, as one whose server does not answer, fails the episode; it never becomes a reward. One that
    cannot play at all, as with a wrong key, raises `Unreachable`, so that several such episodes end a rollout.

    With policies that are `"random"` or `"expert"` an episode is reproduced by its seed and actions. Snapshots hold the
    game and the conversations of the other players, but not what their policies keep beside these.

    By name: `wrappers=[{"name": "seat", "player": "first", "others": "random"}]`.

    Args:
        player: the name of the seat.
        others: who plays in all other seats, or player → who plays there. Policies that are given by name, and
            functions, are closed with the env; a `Policy` is not.

    Raises:
        ConfigError: the env has no such player, or no policy for one.
        UnknownId, SpecError, PolicyError: a policy does not exist or cannot be built.
    """

    _unsaved: ClassVar[frozenset[str]] = Wrapper._unsaved | {"_policies", "_opened", "_asked"}

    def __init__(self, env: Env, player: str, others: Opponent | Mapping[str, Opponent] = "random") -> None:
        super().__init__(env)
        if player not in env.players:
            known = ", ".join(map(repr, env.players)) or "one player only, and needs no Seat"
            raise ConfigError(f"there is no player {player!r}.{did_you_mean(player, env.players)} The env has: {known}")
        self.player = player
        self._over: bool | None = None
        self._others_rng: random.Random | None = None
        self._running: RunningEpisode | None = None
        self._asked: dict[str, int] = {}
        """Player → the slot of its conversation in this episode."""
        self._opened = ExitStack()
        try:
            self._policies = self._open(others)
        except BaseException:
            self._opened.close()
            raise

    @property
    def players(self) -> tuple[str, ...]:
        """Empty: this is an env for one player."""
        return ()

    def _open(self, others: Opponent | Mapping[str, Opponent]) -> dict[str, Policy]:
        """A policy for each other player."""
        names = [name for name in self.env.players if name != self.player]
        if isinstance(others, Mapping) and "name" not in others:
            given = cast("Mapping[str, Opponent]", others)
            if set(given) != set(names):
                raise ConfigError(f"others is for {', '.join(given) or 'nobody'}, and the seats are {', '.join(names)}")
            return {name: self._made(given[name]) for name in names}
        return dict.fromkeys(names, self._made(cast("Opponent", others)))

    def _made(self, given: Opponent) -> Policy:
        if isinstance(given, Policy):
            return given
        named = isinstance(given, str | Mapping)
        made = make_policy(cast("ComponentRef", given)) if named else FunctionPolicy(given)
        return self._opened.enter_context(closing(made))

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        self._over = None
        for attempt in range(_MOST_RESETS):
            observation, info = self.env.reset(seed=seed, options=options)
            began = seeding.fresh() if self.unwrapped._seed is None else self.unwrapped._seed
            if self._others_rng is None or seed is not None:
                self._others_rng = random.Random(seeding.derive(began, "others"))
            self._forget()
            start = Start(began, self.spec and self.spec.id, options)
            self._running = RunningEpisode(start, self.spec, sys.maxsize)
            step = self._until_own(Step.ongoing(observation, 0.0, **info))
            if not step.done:
                self._over = False
                return step.observation, _without_players(step.info)
            seed = seeding.derive(seed, "again", attempt) if seed is not None else None
        raise Fault(f"the game ended {_MOST_RESETS} times in a row before the player {self.player!r} was asked")

    def step(self, action: str) -> Step:
        check_step(self, self._over, action)
        assert self._running is not None
        self._over = True  # it stays so after a fault
        self._running.said(Completion(action))
        step = self._until_own(self.env.step(action))
        turn = self._running.transcripts[self.player].turns[-1]
        info = _without_players(step.info)
        if turn.parts:
            info["rewards"] = {AGENT: dict(turn.parts)}
        if step.done:
            info["success"] = self._won(step)
            self._forget()
        self._over = step.done
        return Step(step.observation, turn.reward, step.terminated, step.truncated, info)

    def _until_own(self, step: Step) -> Step:
        """Let the others play until the player is asked, or the game is over; the step that this ends with."""
        running = self._running
        assert running is not None
        while True:
            ended = running.stepped(step, None)
            if ended is not None and ended.failure is not None:
                raise Fault(ended.failure.error)
            if step.done or running.player == self.player:
                return step
            reply = self._reply(running)
            running.said(reply)
            step = self.env.step(reply.text)

    def _reply(self, running: RunningEpisode) -> Completion:
        """What the policy of the player who acts next says."""
        player, transcript = running.player, running.transcript
        policy = self._policies.get(player)
        if policy is None or transcript is None:
            raise Fault(f"the env asks the player {player!r}, who is not one of {', '.join(self.env.players)}")
        with self._others_generator():
            methods = {name: getattr(self.env, name)() for name in policy.info_methods}
        transcript.info = {**transcript.info, **methods}
        slot = self._asked.setdefault(player, next(_slots))
        try:
            with _lock_of(policy):
                answer = _ask(policy, slot, transcript)
        except GemError as error:  # a wrong key, or no expert: other games will fail as this one does
            raise Unreachable(f"the policy of the player {player!r} cannot play: {error}") from error
        if isinstance(answer, Failure):
            kind = Unreachable if answer.unreachable else Fault
            raise kind(f"the policy of the player {player!r} failed: {answer.error}")
        if answer.out_of_context:
            raise Fault(f"the conversation of the player {player!r} has outgrown its model's context")
        return answer

    @contextmanager
    def _others_generator(self) -> Generator[None]:
        """Sample for the others with a generator of their own: the player may sample as often as it likes."""
        env = self.unwrapped
        own, env._action_rng = env._action_rng, self._others_rng
        try:
            yield
        finally:
            env._action_rng = own

    def _won(self, step: Step) -> bool:
        """Whether the player did what the game asks for."""
        if "won" in step.info:
            return self.player in step.info["won"]
        if step.terminated:
            raise Fault("the info of the last step of a game for several players needs `won`, who of them won")
        return False

    def _forget(self) -> None:
        """Let the policies drop the conversations of the last episode."""
        for player, slot in self._asked.items():
            policy = self._policies[player]
            with _lock_of(policy):
                policy.forget(slot)
        self._asked = {}

    def restore(self, state: bytes) -> None:
        super().restore(state)
        self._forget()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._forget()
            self._opened.close()


def _ask(policy: Policy, slot: int, transcript: Transcript) -> Completion | Failure:
    """The answer of a policy that has no other request."""
    policy.send({slot: transcript})
    while answers := policy.recv():
        if slot in answers:
            return answers[slot]
    raise PolicyError("it returned nothing")


def _without_players(info: Info) -> Info:
    """An info as that of an env for one player."""
    return {name: value for name, value in info.items() if name not in ("player", "rewards")}


def _lock_of(policy: Policy) -> threading.Lock:
    with _new_lock:
        return _locks.setdefault(policy, threading.Lock())
