"""One slot of a vector: its env, episode after episode; exceptions become failures."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gem.core import Env, Info, Observation, Step, new_tuple
from gem.errors import Failure, GemError, Unreachable, failure_of
from gem.vector.messages import (
    Autoreset,
    Build,
    EpisodeLog,
    Maker,
    Rebuild,
    Reset,
    Restore,
    SeedStream,
    SlotMessage,
    SlotResult,
)

Announce = Callable[[int, SeedStream], None]

NO_SLOT = -1
"""Announced when no env is being called."""


class EnvSlot:
    """Carries out one message at a time, in the same way on every backend.

    Args:
        number: the index of the slot.
        maker: builds the env, at first and after each failure.
        stream: the seeds of episodes without a given seed.
        info_methods: see `gem.make_vec`.
        announce: called before each `reset` and `step` of the env, and with `NO_SLOT` before a rebuild.
    """

    def __init__(
        self,
        number: int,
        maker: Maker,
        stream: SeedStream,
        info_methods: Sequence[str] = (),
        announce: Announce | None = None,
    ) -> None:
        self.number = number
        self.stream = stream
        self.options: Mapping[str, Any] | None = None
        self.playing = False
        self._maker = maker
        self._info_methods = tuple(info_methods)
        self._announce = announce
        self._env: Env | None = None
        self._restore_failure: Failure | None = None

    def run(self, message: SlotMessage, autoreset: Autoreset) -> SlotResult:
        """Carry out `message`. Exceptions of the env become a failure in the result; only Ctrl-C is raised."""
        try:
            if self.playing and isinstance(message, str):
                if self._announce is not None:
                    self._announce(self.number, self.stream)
                assert self._env is not None
                step = self._env.step(message)
                if step.terminated or step.truncated:
                    return self._end(step, autoreset)
                if self._info_methods:
                    self._add_method_results(step.info)
                return new_tuple(SlotResult, (self.number, step, None))
            return self._run_other(message, autoreset)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # even sys.exit() must not end the other envs
            return self.fail(failure_of(error), autoreset)

    def fail(self, failure: Failure, autoreset: Autoreset) -> SlotResult:
        """Fail the episode: rebuild the env, and continue according to `autoreset`."""
        self.close()
        if self._announce is not None:
            self._announce(NO_SLOT, self.stream)
        try:
            self._built()
            if autoreset != "same_step":
                return SlotResult(self.number, None, failure)
            observation, info = self._begin(self.stream.next(), None)
        except KeyboardInterrupt:
            raise
        except BaseException:  # the next message tries again
            self.playing = False
            return SlotResult(self.number, None, failure)
        info = {**info, "failure": failure, "final_observation": "", "final_info": {"failure": failure}}
        return SlotResult(self.number, Step(observation, math.nan, False, True, info), failure)

    def interrupted(self, error: KeyboardInterrupt) -> SlotResult:
        """Fail the episode in which `run` was interrupted; the next message rebuilds the env."""
        self.close()
        return SlotResult(self.number, None, failure_of(error))

    def close(self) -> None:
        """Close the env, ignoring its exceptions."""
        env, self._env = self._env, None
        self.playing = False
        try:
            if env is not None:
                env.close()
        except KeyboardInterrupt:
            raise
        except BaseException:
            pass

    def _run_other(self, message: SlotMessage, autoreset: Autoreset) -> SlotResult:
        """Carry out anything but an action in an episode."""
        match message:
            case str() if self._restore_failure is not None:
                failure, self._restore_failure = self._restore_failure, None
                return self.fail(failure, autoreset)
            case str() if autoreset == "off":
                return SlotResult(self.number, self._built().step(message), None)
            case str():
                return self._start(self.stream.next(), None)
            case Reset(seed=seed, options=options):
                stream = self.stream.next() if seed is None else SeedStream(seed, 0)
                return self._start(stream, options)
            case Build():
                return self._build()
            case Rebuild(stream=stream, failure=failure):
                self.stream = stream
                return self.fail(failure, autoreset)
            case Restore(log=log):
                self._restore(log)
                return SlotResult(self.number, None, None)

    def _built(self) -> Env:
        if self._env is None:
            self._env = self._maker()
        return self._env

    def _build(self) -> SlotResult:
        """Build the env. What fails every env goes to the caller of `make_vec`; any other exception is a failure."""
        refused, capacities = None, dict[str, int]()
        try:
            capacities = dict(self._built().capacities)
        except (GemError, Unreachable) as error:
            refused = error
        info = {"refused": refused, "capacities": capacities}
        return SlotResult(self.number, Step("", 0.0, False, False, info), None)

    def _start(self, stream: SeedStream, options: Mapping[str, Any] | None) -> SlotResult:
        observation, info = self._begin(stream, options)
        return SlotResult(self.number, Step(observation, 0.0, False, False, info), None)

    def _begin(self, stream: SeedStream, options: Mapping[str, Any] | None) -> tuple[Observation, Info]:
        """Start an episode. The stream advances first: a seed whose reset fails is not used again."""
        self.stream, self.options = stream, options
        self.playing, self._restore_failure = False, None
        env = self._built()
        if self._announce is not None:
            self._announce(self.number, stream)
        observation, info = env.reset(seed=stream.seed, options=options)
        self.playing = True
        if self._info_methods:
            self._add_method_results(info)
        return observation, info

    def _end(self, step: Step, autoreset: Autoreset) -> SlotResult:
        self.playing = False
        both = step.terminated and step.truncated
        if both or "success" not in step.info:
            fault = "is both terminated and truncated" if both else 'does not have info["success"]'
            raise TypeError(f"the env violates the contract: its last step {fault}")
        if autoreset != "same_step":
            return SlotResult(self.number, step, None)
        final: Info = {"final_observation": step.observation, "final_info": step.info}
        try:
            observation, info = self._begin(self.stream.next(), None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = failure_of(error)
            self.fail(failure, "off")
            return SlotResult(self.number, step._replace(info={**step.info, **final, "failure": failure}), failure)
        step = new_tuple(Step, (observation, step.reward, step.terminated, step.truncated, {**info, **final}))
        return new_tuple(SlotResult, (self.number, step, None))

    def _restore(self, log: EpisodeLog) -> None:
        self.stream = log.stream
        self._restore_failure = log.failure
        if log.failure is not None or not log.playing:
            return
        try:
            observation, _ = self._begin(log.stream, log.options)
            over = False
            for action in log.actions:
                if self._announce is not None:
                    self._announce(self.number, self.stream)
                observation, _, terminated, truncated, info = self._built().step(action)
                over = over or terminated or truncated
                # Called as the first time, so that the state of the generators is the same.
                if self._info_methods and not over:
                    self._add_method_results(info)
            if over or observation != log.observation:
                raise RuntimeError("its worker died, and the same actions from the same seed gave another observation")
        except Exception as error:
            self.playing, self._restore_failure = False, failure_of(error)

    def _add_method_results(self, info: Info) -> None:
        for method in self._info_methods:
            info[method] = getattr(self._env, method)()
