"""SkyRL: episodes for its SkyRLGymGenerator, run with skyrl-gym 0.4.0 and skyrl 0.3.0.

```python
register()
Dataset.from_list(rows("game:GuessTheNumber-v0-easy", 1000)).to_parquet("train.parquet")


class GemGenerator(WithoutFailed, SkyRLGymGenerator):
    pass
```

SkyRL renders and tokenises the messages of an env itself, and keeps the ids that it samples.
"""

# SkyRL is installed only in an environment of its own.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownParameterType=false
# ruff: noqa: E402

from collections.abc import Mapping, Sequence
from typing import Any

from gem_interop.versions import check

OLDEST, NEWEST = "0.4.0", "0.4.0"
check("skyrl-gym", OLDEST, NEWEST, page="skyrl")

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv

from gem.errors import ConfigError
from gem.packs.make import Wrappers
from gem_interop.playing import EpisodeFailed, Score, check_score, starts
from gem_interop.session import MessageSession, Result

KEEPS_FAILED = "gem_keeps_failed"
"""The extra of an env whose generator leaves failed episodes out."""


def register(
    name: str = "gem",
    *,
    score: Score = "return",
    wrappers: Wrappers = (),
    env_kwargs: Mapping[str, Any] | None = None,
) -> None:
    """Make an `env_class` of SkyRL, which plays the ids of the rows. Call it in the process that generates.

    Args:
        name: of the `env_class`.
        score: the rewards of the turns (`"return"`), or 1 at the end for `"success"`, and 0 otherwise.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.
    """
    check_score(score)
    settings = {"score": score, "wrappers": wrappers, "env_kwargs": env_kwargs}
    skyrl_gym.register(id=name, entry_point="gem_interop.skyrl:GemTextEnv", kwargs=settings)


def rows(
    env: str | Sequence[str], episodes: int, seed: int = 0, name: str = "gem", *, evaluation: bool = False
) -> list[dict[str, Any]]:
    """Starts for `Dataset.from_list(…).to_parquet(…)`; SkyRL plays `n_samples_per_prompt` episodes from each.

    The arguments are those of `gem_interop.playing.starts`, and the `name` that was given to `register`.
    """
    return [
        {
            "prompt": [{"role": "user", "content": f"{id} from seed {start}"}],  # the env replaces it
            "env_class": name,
            "gem_id": id,
            "gem_seed": start,
        }
        for id, start in starts(env, episodes, seed, evaluation=evaluation)
    ]


class GemTextEnv(BaseTextEnv):
    """An episode of the id `extras["gem_id"]` from the seed `extras["gem_seed"]`.

    SkyRL's `generator.max_turns`, which it passes in the extras, is a limit on its turns.
    """

    def __init__(
        self,
        env_config: Any = None,
        extras: Mapping[str, Any] | None = None,
        *,
        score: Score = "return",
        wrappers: Wrappers = (),
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._extras = dict(extras or {})
        if not {"gem_id", "gem_seed"} <= set(self._extras):
            raise ConfigError("a row for GEM needs the columns gem_id and gem_seed: see gem_interop.skyrl.rows")
        self.max_turns = self._extras.get("max_turns")
        """Turns after which an episode is truncated; None for the env's own limit."""
        self._score = score
        self._settings: dict[str, Any] = {"wrappers": wrappers, "env_kwargs": env_kwargs}
        self._session: MessageSession | None = None
        self._messages = 0
        self._failed = False

    @property
    def result(self) -> Result | None:
        """The episode; None if it has not ended, as when SkyRL's `max_input_length` ends it."""
        return self._session.result if self._session and self._session.ended else None

    def init(self, prompt: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Start the episode; returns the messages to read first.

        Raises:
            EpisodeFailed: the env failed, and the generator does not leave such an episode out.
            ConfigError: the env has tools of the chat API.
        """
        session = MessageSession(self._extras["gem_id"], max_turns=self.max_turns, **self._settings)
        self._session = session
        messages = session.start(int(self._extras["gem_seed"]))
        if messages is None:
            self._fail(session.result)
            return prompt, {}
        if session.tools:
            self.close()
            raise ConfigError(f"SkyRL passes no tools to {self._extras['gem_id']}: choose a call format of text")
        self._messages = len(messages)
        return messages, {}

    def step(self, action: str) -> dict[str, Any]:
        """Take a reply; returns the messages that follow it, and its reward.

        Raises:
            EpisodeFailed: as for `init`.
        """
        session = self._session
        if session is None:
            raise ConfigError("init the env first")
        if self._failed:
            return self._output([], 0.0, True)
        messages = session.said(action)
        if messages is not None:
            # The reply itself is one of them.
            new, self._messages = messages[self._messages + 1 :], len(messages)
            return self._output(new, session.turns[-1].reward if self._score == "return" else 0.0, False)
        result = session.result
        if result.failure is not None:
            self._fail(result)
            return self._output([], 0.0, True)
        return self._output([], result.episode.rewards[-1] if self._score == "return" else float(result.success), True)

    def get_metrics(self) -> dict[str, Any]:
        """Success of the episode, unless it failed, and whether it failed."""
        result = self.result
        success = {} if self._failed else {"success": float(result is not None and result.success)}
        return {**success, "gem_failed": float(self._failed)}

    def close(self) -> None:
        """Close the env of the session."""
        if self._session is not None:
            self._session.close()

    def _fail(self, result: Result) -> None:
        self._failed = True
        if not self._extras.get(KEEPS_FAILED):
            self.close()
            error = result.failure and result.failure.error
            raise EpisodeFailed(f"{self._extras['gem_id']} from seed {self._extras['gem_seed']}: {error}")

    @staticmethod
    def _output(observations: list[dict[str, Any]], reward: float, done: bool) -> dict[str, Any]:
        return {"observations": observations, "reward": reward, "done": done, "metadata": {}}


class WithoutFailed:
    """Mixin in front of `SkyRLGymGenerator`, which leaves failed episodes out; else the first one ends the training.

    SkyRL trains on as many episodes as it has asked for. So the ids of a failed one are masked out, and its return is
    the mean of the others in its group, which leaves the mean as it is. Where SkyRL divides by the standard deviation,
    the advantages of the others are larger by `sqrt((n - 1) / (m - 1))`, if m of n episodes did not fail.
    """

    generator_cfg: Any
    """SkyRL's settings of the generator that this is mixed into."""

    def _setup_env_extras(self, *given: Any) -> dict[str, Any]:
        if self.generator_cfg.step_wise_trajectories:
            raise ConfigError("WithoutFailed needs whole episodes: set generator.step_wise_trajectories=false")
        return {**super()._setup_env_extras(*given), KEEPS_FAILED: True}  # pyright: ignore

    async def generate(self, input_batch: dict[str, Any], disable_tqdm: bool = False) -> dict[str, Any]:
        """Generate as SkyRL does, with the failed episodes masked out."""
        output: dict[str, Any] = await super().generate(input_batch, disable_tqdm)  # pyright: ignore
        failed = [bool(metrics.get("gem_failed")) for metrics in output.get("env_metrics") or ()]
        if not any(failed):
            return output
        starts = input_batch.get("trajectory_ids")
        if starts is None:
            groups = [(extras.get("gem_id"), extras.get("gem_seed")) for extras in input_batch["env_extras"]]
        else:
            groups = [start.instance_id for start in starts]
        returns = [sum(rewards) for rewards in output["rewards"]]
        kept = [row for row, dropped in enumerate(failed) if not dropped]
        for row, group in enumerate(groups):
            if failed[row]:
                # Of a group that failed as a whole, no id is trained: its return only shows in means of the batch.
                others = [each for each in kept if groups[each] == group] or kept
                size = len(output["response_ids"][row])
                mean = sum(returns[each] for each in others) / max(1, len(others))
                output["loss_masks"][row] = [0] * size
                output["rewards"][row] = [0.0] * (size - 1) + [mean]
        return output
