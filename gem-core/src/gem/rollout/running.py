"""One episode while it is played."""

import math
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from msgspec.structs import replace

from gem.core import Step
from gem.episode import Completion, Episode, Start, Trace
from gem.episode.episode import AGENT
from gem.errors import Failure, Fault, failure_of
from gem.packs.spec import EnvSpec
from gem.rollout.transcript import Transcript

MOST_TURNS = 1000
"""The default turn limit of a rollout, for envs that never end; the `max_turns` of the env, if that is more."""


ENV = "env"
"""The part of a reward that its env does not name."""


def turn_limit(spec: EnvSpec | None, max_turns: int | None = None) -> int:
    """The turn limit of a rollout with `max_turns`."""
    return max_turns or max(MOST_TURNS, (spec and spec.max_turns) or 0)


class RunningEpisode:
    """An episode from its reset to its end: it waits for its env, or for the policy of the player who acts next.

    An env for several players names who acts next in `info["player"]`, and what each earned with a step in
    `info["rewards"]`, as numbers or in parts by name. A turn of a player ends when the same player acts again, so its
    reward has all that the player earned meanwhile.

    Args:
        start: where it starts, with the id of its env.
        spec: of its env; None if that was built by hand.
        max_turns: see `turn_limit`; the turns of all players count.
    """

    __slots__ = ("_began", "_earned", "_limit", "_order", "_said", "_spec", "player", "start", "transcripts")

    def __init__(self, start: Start, spec: EnvSpec | None, max_turns: int | None = None) -> None:
        self.start = start
        self.player = AGENT
        """The player who acts next."""
        self.transcripts: dict[str, Transcript] = {}
        """The conversation of each player who has been asked; empty until the env has been reset."""
        self._spec = spec
        self._limit = turn_limit(spec, max_turns)
        self._began = time.perf_counter()
        self._said: dict[str, Completion] = {}
        """The reply of each player whose turn has not ended."""
        self._order: list[str] = []
        """The player of each reply."""
        self._earned: dict[str, dict[str, list[float]]] = {}
        """Rewards of each player, by part, that belong to no turn yet."""

    @property
    def transcript(self) -> Transcript | None:
        """The conversation of the player who acts next; None until the env has been reset."""
        return self.transcripts.get(self.player)

    def said(self, completion: Completion) -> None:
        """The player who acts next has replied; the text goes to the env."""
        self._said[self.player] = completion
        self._order.append(self.player)

    def stepped(self, step: Step | None, failure: Failure | None) -> Episode | None:
        """The env has answered with a step, or failed; returns the episode if it has ended."""
        if step is None:
            return self._ended(None, failure)
        info = step.info
        try:
            if not self.transcripts:
                self._ask(info.get("player", AGENT), step)
                return self._ended(step, None) if step.done else None
            if "player" in info or "rewards" in info or len(self.transcripts) > 1:
                self._earn(step)
                if not step.done:
                    self._ask(info.get("player", self.player), step)
            else:  # one player, and no parts: the step of most envs
                player = self.player
                self.transcripts[player].add(self._said.pop(player), step.reward, step.observation, info)
        except (TypeError, ValueError, AttributeError) as error:
            return self._ended(None, failure_of(Fault(f"info['player'] or info['rewards'] is not one: {error}")))
        if step.done:
            return self._ended(step, None)
        return self.truncated() if len(self._order) >= self._limit else None

    def _earn(self, step: Step) -> None:
        """Keep what each player has earned for the turn that it belongs to."""
        for player, given in step.info.get("rewards", {self.player: step.reward}).items():
            earned = self._earned.setdefault(player, defaultdict(list))
            parts = cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {ENV: given}
            for part, value in parts.items():
                earned[part].append(float(value))

    def _ask(self, player: str, step: Step) -> None:
        """The observation goes to a player, whose last turn ends with it."""
        if not isinstance(player, str):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from an env
            raise TypeError(f"a player is a name, not {player!r}")
        self.player = player
        if player in self._said:
            self._end_turn(player, step)
        elif player not in self.transcripts:
            self.transcripts[player] = Transcript(step.observation, step.info, start=self.start, player=player)

    def _end_turn(self, player: str, step: Step) -> None:
        parts = {part: math.fsum(values) for part, values in self._earned.pop(player, {}).items()}
        reward = math.fsum(parts.values())
        named = {} if parts.keys() <= {ENV} else parts
        self.transcripts[player].add(self._said.pop(player), reward, step.observation, step.info, named)

    def failed(self, failure: Failure) -> Episode:
        """The episode, because a policy failed."""
        self._said.pop(self.player, None)
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
        failed_on = self._said.get(self.player) if step is None else None
        if step is not None:
            for player in list(self._said):  # those who were not asked again
                self._end_turn(player, step)
        alone = len(self.transcripts) == 1
        last = self.transcript or Transcript("")
        return Episode(
            id=self.start.id or "",
            seed=self.start.seed,
            group=self.start.group,
            options=self.start.options,
            spec=self._spec,
            key=uuid.uuid4().hex,
            traces=tuple(
                Trace(
                    tuple(each.turns),
                    player,
                    () if alone else self._numbers(player, len(each.turns)),
                    system=each.system,
                )
                for player, each in self.transcripts.items()
            ),
            observation=last.observation if step is None else step.observation,
            terminated=step is not None and step.terminated,
            truncated=step is not None and step.truncated,
            success=step is not None and bool(step.info["success"]),
            failure=failure,
            failed_on=failed_on,
            started=datetime.now(UTC) - timedelta(seconds=seconds),
            seconds=seconds,
        )

    def _numbers(self, player: str, turns: int) -> tuple[int, ...]:
        """The numbers of a player's turns among all."""
        return tuple(number for number, actor in enumerate(self._order) if actor == player)[:turns]
