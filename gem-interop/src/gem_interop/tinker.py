"""tinker: episodes for the RL loop of tinker-cookbook, run with cookbook 0.6.1 and tinker 0.38.0.

```python
config = Config(
    dataset_builder=GemDatasetBuilder(
        env="game:GuessTheNumber-v0-easy", model_name=model, batch_size=16, group_size=8, batches=100
    ),
    rollout_error_tolerance=WITHOUT_FAILED,
    **others,
)
asyncio.run(tinker_cookbook.rl.train.main(config))
```

The loop takes a reward with every reply, and adds them up: each sampled id of an episode gets the return above the mean
of its group.
"""

# The cookbook is installed only in an environment of its own.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUntypedClassDecorator=false
# pyright: reportUnknownParameterType=false
# ruff: noqa: E402

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gem_interop.versions import check

OLDEST, NEWEST = "0.5.2", "0.6.1"
check("tinker-cookbook", OLDEST, NEWEST, page="tinker")

import chz
from tinker_cookbook.rl.rollout_limits import RolloutLimits
from tinker_cookbook.rl.rollout_strategy import MinViableGroup
from tinker_cookbook.rl.types import (
    Env,
    EnvGroupBuilder,
    Observation,
    RLDataset,
    RLDatasetBuilder,
    StepResult,
    StopReason,
)
from tinker_cookbook.tokenizer_utils import get_tokenizer

from gem.checks import check_int
from gem.episode import Start
from gem_interop.playing import EpisodeFailed, Score, check_score, start_number
from gem_interop.session import AsyncSession, Result, Sessions

WITHOUT_FAILED = MinViableGroup(min_successful=1, max_retries=0)
"""A `rollout_error_tolerance` that leaves failed episodes out of their groups. By the cookbook's own default, the first
failure ends the training."""


@dataclass(frozen=True)
class Setup:
    """Settings of episodes: only what can be pickled, because a group may be played by another process."""

    ids: tuple[str, ...]
    model_name: str
    score: Score
    settings: Mapping[str, Any]
    """Settings of `Sessions`."""

    def sessions(self) -> Sessions:
        """Sessions of this process; its envs are kept from one group to the next."""
        key = pickle.dumps(self)
        if key not in _sessions:
            _sessions[key] = Sessions(self.ids, get_tokenizer(self.model_name), **self.settings)
        return _sessions[key]


class GemEnv(Env):
    """One episode. Its env runs in a thread, so that it never blocks the event loop."""

    def __init__(self, setup: Setup, start: Start) -> None:
        self._session: AsyncSession = setup.sessions().session()
        self._start, self._score = start, setup.score
        self._what = f"{start.id} from seed {start.seed}"
        self.rollout_limits = RolloutLimits(
            max_turn_tokens=setup.settings["max_new_tokens"], max_trajectory_tokens=setup.settings["max_context"]
        )
        """The cookbook samples no more ids for a reply than this allows."""

    @property
    def result(self) -> Result:
        """The episode, when it has ended."""
        return self._session.result

    async def initial_observation(self) -> tuple[Observation, list[int] | list[str]]:
        """The ids to read first, and what ends a reply.

        Raises:
            EpisodeFailed: the env failed, or its start leaves no room for a reply. The cookbook's
                `InitialObservationOverflow` would count the latter among the rewards of its group.
        """
        ids = await self._session.start(self._start.seed, id=self._start.id, group=self._start.group)
        if ids is not None:
            return Observation.from_ints(ids), self._stop()
        self._refuse_failure()
        most = self.rollout_limits.max_trajectory_tokens
        raise EpisodeFailed(f"{self._what}: what it says first leaves no room for a reply in max_context={most}")

    async def step(self, action: list[int], *, extra: Mapping[str, Any] | None = None) -> StepResult:
        """Take a reply, and return the ids to read next: all that were read and sampled, and what follows.

        Raises:
            EpisodeFailed: the env failed, or the engine sampled on behind the end of the reply.
        """
        cut = extra is not None and extra.get("stop_reason") == "length"
        ids = await self._session.said(action, finish_reason="length" if cut else None)
        if ids is None:
            self._refuse_failure()
        turn = self._session.turns[-1]
        if len(turn.completion.ids) != len(action):
            self.close()
            raise EpisodeFailed(
                f"{len(action)} ids were sampled for a reply that ended after {len(turn.completion.ids)}, and the "
                "cookbook would train on all of them: its engine has to stop at what ends a reply"
            )
        ended = ids is None
        earned = turn.reward if self._score == "return" else float(ended and self.result.success)
        return StepResult(
            reward=earned,
            episode_done=ended,
            next_observation=Observation.from_ints(ids or []),
            next_stop_condition=[] if ended else self._stop(),
            metrics=self._final_metrics() if ended else {},
            logs={"observation": str(turn.observation), "reply": turn.action, "reward": turn.reward},
        )

    def close(self) -> None:
        """Give the env back, if the episode still has it."""
        self._session.close()

    def _stop(self) -> list[int] | list[str]:
        """Ends of a reply as tinker takes them: ids, or texts. With texts, those of the ids are among them."""
        session = self._session
        if not session.stop:
            return list(session.stop_ids)
        return [*session.stop, *(session.chat.decode([id]) for id in session.stop_ids)]

    def _refuse_failure(self) -> None:
        failure = self.result.failure
        if failure is not None:
            raise EpisodeFailed(f"{self._what}: {failure.error}")

    def _final_metrics(self) -> dict[str, float]:
        episode = self.result.episode
        reason = StopReason.COMPLETED
        if episode.truncated:
            reason = StopReason.CONTEXT_OVERFLOW if episode.out_of_context else StopReason.MAX_TURNS
        return {"success": float(episode.success), f"stop/{reason}": 1.0}


@dataclass(frozen=True)
class GemGroup(EnvGroupBuilder):
    """Episodes from the same start. It can be pickled, and sent to another process."""

    setup: Setup
    start: Start
    size: int
    _made: list[GemEnv] = field(default_factory=list[GemEnv], init=False, compare=False, repr=False)

    async def make_envs(self) -> Sequence[GemEnv]:
        """The episodes of the group; each takes an env when it starts."""
        starts = [replace(self.start, group=number) for number in range(self.size)]
        made = [GemEnv(self.setup, start) for start in starts]
        self._made.extend(made)
        return made

    async def cleanup(self) -> None:
        """Give back the envs of episodes that were not played to their end."""
        while self._made:
            self._made.pop().close()

    def logging_tags(self) -> list[str]:
        """The id of the env, so that metrics are shown for each."""
        return [(self.start.id or "").replace("/", "_")]


class GemDataset(RLDataset):
    """Batches of groups, whose seeds are derived from one seed."""

    def __init__(
        self, setup: Setup, batches: int, batch_size: int, group_size: int, seed: int, *, evaluation: bool = False
    ) -> None:
        self._setup, self._batches = setup, batches
        self._batch_size, self._group_size = batch_size, group_size
        self._seed, self._evaluation = seed, evaluation

    def get_batch(self, index: int) -> Sequence[GemGroup]:
        """The groups of a step."""
        first = index * self._batch_size
        return [self._group(number) for number in range(first, first + self._batch_size)]

    def __len__(self) -> int:
        return self._batches

    def _group(self, number: int) -> GemGroup:
        id, seed = start_number(number, self._setup.ids, self._seed, evaluation=self._evaluation)
        return GemGroup(self._setup, Start(seed, id), self._group_size)


@chz.chz
class GemDatasetBuilder(RLDatasetBuilder):
    """The `dataset_builder` of the cookbook's `Config`.

    Attributes:
        env: an id, or several, among which groups are divided.
        model_name: whose tokenizer and chat template are used: a folder, or a name that the cookbook knows.
        batch_size: groups in a step.
        group_size: episodes in a group, from the same start.
        batches: steps of the data set.
        test_episodes: episodes of the cookbook's own evaluation, from other seeds.
        seed: the seeds of all episodes are derived from it.
        max_context: most ids of an episode, read and sampled.
        max_new_tokens: most ids of a reply; the `max_tokens` of the `Config` is a limit too.
        max_turns: turns after which an episode is truncated.
        score: the rewards of the turns (`"return"`), or 1 at the end for `"success"`, and 0 otherwise.
        template_kwargs: passed to the chat template.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.
        max_envs: envs of a process; more episodes wait for one that is free.
        step_timeout: seconds that one call of an env may take, after which its episode fails.
    """

    env: str | Sequence[str]
    model_name: str
    batch_size: int
    group_size: int
    batches: int
    test_episodes: int = 0
    seed: int = 0
    max_context: int | None = None
    max_new_tokens: int | None = None
    max_turns: int | None = None
    score: Score = "return"
    template_kwargs: dict[str, Any] | None = None
    wrappers: Any = ()
    env_kwargs: dict[str, Any] | None = None
    max_envs: int = 64
    step_timeout: float | None = None

    async def __call__(self) -> tuple[GemDataset, GemDataset | None]:
        """The data set, and that of the evaluation.

        Raises:
            ConfigError: an argument is invalid.
            UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
        """
        for name in ("batch_size", "group_size", "batches"):
            check_int(name, getattr(self, name), 1)
        check_int("test_episodes", self.test_episodes, 0)
        check_score(self.score)
        ids = (self.env,) if isinstance(self.env, str) else tuple(self.env)
        named = (*_LIMITS, "template_kwargs", "wrappers", "env_kwargs")
        settings = {name: getattr(self, name) for name in named} | {"most": self.max_envs}
        setup = Setup(ids, self.model_name, self.score, settings)
        await setup.sessions().__aenter__()  # refused settings raise here
        train = GemDataset(setup, self.batches, self.batch_size, self.group_size, self.seed)
        tests = GemDataset(setup, 1, self.test_episodes, 1, self.seed, evaluation=True)
        return train, tests if self.test_episodes else None


_LIMITS = ("max_context", "max_new_tokens", "max_turns", "step_timeout")
_sessions: dict[bytes, Sessions] = {}
