"""One episode while it is played."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from gem.core import Step
from gem.failure import Failure
from gem.packs.spec import EnvSpec
from gem.rollout.transcript import Completion, Episode, Start, Transcript

MOST_TURNS = 1000
"""The default turn limit of a rollout, for envs that never end; the `max_turns` of the env, if that is more."""


def turn_limit(spec: EnvSpec | None, max_turns: int | None = None) -> int:
    """The turn limit of a rollout with `max_turns`."""
    return max_turns or max(MOST_TURNS, (spec and spec.max_turns) or 0)


class RunningEpisode:
    """An episode from its reset to its end: it waits for its env, or for the policy.

    Args:
        start: where it starts, with the id of its env.
        spec: of its env; None if that was built by hand.
        max_turns: see `turn_limit`.
    """

    __slots__ = ("_began", "_limit", "_said", "_spec", "start", "transcript")

    def __init__(self, start: Start, spec: EnvSpec | None, max_turns: int | None = None) -> None:
        self.start = start
        self.transcript: Transcript | None = None
        """The conversation; None until the env has been reset."""
        self._spec = spec
        self._limit = turn_limit(spec, max_turns)
        self._began = time.perf_counter()
        self._said: Completion | None = None
        """What the env is answering."""

    def said(self, completion: Completion) -> None:
        """The policy has replied; the text goes to the env."""
        self._said = completion

    def stepped(self, step: Step | None, failure: Failure | None) -> Episode | None:
        """The env has answered with a step, or failed; returns the episode if it has ended."""
        if step is None:
            return self._ended(None, failure)
        if self.transcript is None:
            self.transcript = Transcript(step.observation, step.info, start=self.start)
        else:
            assert self._said is not None
            self.transcript.add(self._said, step.reward, step.observation, step.info)
            self._said = None
            if len(self.transcript.turns) >= self._limit and not step.done:
                return self.truncated()
        return self._ended(step, None) if step.done else None

    def failed(self, failure: Failure) -> Episode:
        """The episode, because the policy failed."""
        return self._ended(None, failure)

    def truncated(self, *, out_of_context: bool = False) -> Episode:
        """The episode, truncated after its last turn."""
        transcript = self.transcript
        assert transcript is not None
        transcript.info["success"] = False
        step = Step(transcript.observation, 0.0, False, True, transcript.info)
        return replace(self._ended(step, None), cut_off=True, out_of_context=out_of_context)

    def _ended(self, step: Step | None, failure: Failure | None) -> Episode:
        seconds = time.perf_counter() - self._began
        transcript = self.transcript or Transcript("")
        return Episode(
            id=self.start.id or "",
            seed=self.start.seed,
            group=self.start.group,
            turns=tuple(transcript.turns),
            observation=transcript.observation,
            terminated=step is not None and step.terminated,
            truncated=step is not None and step.truncated,
            success=step is not None and bool(step.info["success"]),
            failure=failure,
            failed_on=self._said,
            options=self.start.options,
            spec=self._spec,
            started=datetime.now(UTC) - timedelta(seconds=seconds),
            seconds=seconds,
        )
