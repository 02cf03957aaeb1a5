"""verl: episodes as an agent loop, run with 0.9.1.

```yaml
# agent_loop.yaml, for actor_rollout_ref.rollout.agent.agent_loop_config_path
- name: gem
  _target_: gem_interop.verl.GemAgentLoop
  max_new_tokens: 64
```

The rows of `rows` name the env and the seed of each episode, and `gem` as their agent loop. A reply is whatever verl's
servers sample; envs run in threads, so that none blocks verl's event loop.
"""

# verl is not installed with this package.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from gem.chat.encoder import History
from gem.errors import ConfigError
from gem_interop.playing import Player, Reply, prompt_of, start_of, starts
from gem_interop.session import AsyncSession, Result
from gem_interop.versions import check

OLDEST, NEWEST = "0.9.1", "0.9.1"
check("verl", OLDEST, NEWEST, page="verl")

from omegaconf import OmegaConf  # noqa: E402
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput  # noqa: E402

SETTINGS = ("max_turns", "score", "retries", "max_envs", "step_timeout", "wrappers", "env_kwargs")
"""Settings of a `Player` that the yaml file of agent loops may give."""
_players: dict[str, Player] = {}
"""Players of this process: verl makes a loop for each episode, and all of them share the envs."""


def rows(env: str | Sequence[str], episodes: int, seed: int = 0, *, evaluation: bool = False) -> list[dict[str, Any]]:
    """Starts for `datasets.Dataset.from_list(…).to_parquet(…)`; verl plays `rollout.n` episodes from each.

    The arguments are those of `gem_interop.playing.starts`.
    """
    return [
        {
            "data_source": id,
            "prompt": [{"role": "user", "content": prompt_of(id, start)}],
            "agent_name": "gem",
            "reward_model": {"style": "gem", "ground_truth": ""},
            "extra_info": {"index": index},
        }
        for index, (id, start) in enumerate(starts(env, episodes, seed, evaluation=evaluation))
    ]


class GemAgentLoop(AgentLoopBase):
    """Plays the episode that a row names.

    verl makes one for each episode, with what the yaml file of agent loops says besides `name` and `_target_`. It is
    not registered by verl's `register` too: its workers import this module after they have read the file, and what is
    registered last wins, without the settings.

    With verl's V1 trainers an episode may have several segments, which are several outputs with the same reward, and an
    episode that failed has none: verl computes advantages without it. The older agent loop workers take exactly one
    output, so there the history is kept as it was read, and an episode that failed in every try raises.

    Args:
        max_new_tokens: most ids of a reply; by default `rollout.response_length`.
        history: what to do if the chat template renders earlier messages differently; see `gem.chat.ChatEncoder`.
        given: what verl passes, and settings of `gem_interop.playing.Player`: `score`, `retries`, `max_envs` (by
            default 64, per id in each worker), `step_timeout`, `wrappers`, `env_kwargs`, and `max_turns`, by default
            `rollout.multi_turn.max_assistant_turns`.

    Raises:
        ConfigError: an argument is invalid.
    """

    def __init__(
        self,
        *args: Any,
        max_new_tokens: int | None = None,
        history: History | None = None,
        **given: Any,
    ) -> None:
        own = {name: _plain(given.pop(name)) for name in SETTINGS if name in given}
        super().__init__(*args, **given)
        rollout = self.rollout_config
        self._prompt_length, self._response_length = int(rollout.prompt_length), int(rollout.response_length)
        self._history: History | None = history
        self._limits: dict[str, Any] = {
            "max_context": rollout.get("max_model_len") or self._prompt_length + self._response_length,
            "max_new_tokens": self._response_length if max_new_tokens is None else max_new_tokens,
        }
        self._settings: dict[str, Any] = {
            "max_turns": rollout.multi_turn.max_assistant_turns,
            "max_envs": 64,
            "template_kwargs": _plain(self.apply_chat_template_kwargs),
            **own,
        }

    async def run(self, sampling_params: dict[str, Any], *, priority: int = 0, **row: Any) -> Any:
        """Play an episode. What verl calls, with the columns of a row.

        Returns:
            An `AgentLoopOutput`; for workers of the V1 trainers a list of them, which is empty if the episode failed.
        """
        start = row["raw_prompt"][-1]["content"]
        # Workers of V1 say which episode of its group it is, and take any number of outputs.
        takes_lists = "session_id" in row
        player = self._player(self._history or ("template" if takes_lists else "keep"))
        said = _Said(self, sampling_params, int(priority))
        began = time.perf_counter()
        result = await player.play(start, said.reply, self.tokenizer, **self._limits)
        said.metrics["tool_calls"] = time.perf_counter() - began - said.metrics["generate_sequences"]
        assert result is not None  # a reply that verl does not give ends the episode
        outputs = self._outputs(result, player.reward(result), said)
        if takes_lists:
            return outputs
        if len(outputs) == 1:
            return self._checked(outputs[0])
        if outputs:
            raise ConfigError(f"history={self._history!r} makes several segments, which only verl's V1 trainers take")
        env, seed = start_of(start)
        why = result.failure.error if result.failure else "the context has no room for a reply"
        only = "only verl's V1 trainers can leave one out"
        raise RuntimeError(f"an episode of {env} from seed {seed} failed, and {only}: {why}")

    def _player(self, history: History) -> Player:
        """The player of this process with these settings."""
        settings: dict[str, Any] = {**self._settings, "history": history}
        key = json.dumps([id(self.tokenizer), settings], sort_keys=True, default=repr)
        if key not in _players:
            _players[key] = Player(**settings)
        return _players[key]

    def _outputs(self, result: Result, reward: float | None, said: "_Said") -> list[Any]:
        """One for each segment in which something was said."""
        turns = result.episode.turns
        fields = {
            **said.fields,
            "turn_scores": [turn.reward for turn in turns],
            "tool_rewards": [],
            # verl's validation reports each of these; it would count an episode that failed as 0 if it were named acc.
            "reward_extra_info": {"success": float(result.success)},
            "gem_env": result.episode.id,
            "gem_seed": result.episode.seed,
            "gem_success": result.success,
        }
        return [
            AgentLoopOutput(
                prompt_ids=list(segment.prompt_ids),
                response_ids=list(segment.response_ids),
                response_mask=list(segment.mask),
                response_logprobs=list(segment.logprobs) if said.has_logprobs else None,
                reward_score=reward,
                num_turns=2 * len(turns),
                metrics=said.metrics,
                extra_fields={**fields, "gem_rewards": list(segment.rewards)},
            )
            for segment in result.segments
            if any(segment.mask)
        ]

    def _checked(self, output: Any) -> Any:
        """An output for workers that pad prompts to one length."""
        length = len(output.prompt_ids)
        if length > self._prompt_length:
            raise ConfigError(f"a prompt has {length} ids, and rollout.prompt_length is {self._prompt_length}")
        return output


class _Said:
    """The replies of one episode, and what verl wants to know about them."""

    def __init__(self, loop: Any, sampling: Mapping[str, Any], priority: int) -> None:
        self._server, self._response_length = loop.server_manager, int(loop.rollout_config.response_length)
        self._sampling, self._priority = sampling, priority
        stable = loop.rollout_config.get("full_determinism", False)
        # The same for all turns: they go to the server that has the ids before them in its cache.
        self._id = f"det-{priority}" if stable else uuid4().hex
        self._prompt = 0
        self.has_logprobs = bool(sampling.get("logprobs"))
        self.fields: dict[str, Any] = {}
        self.metrics: dict[str, Any] = {"generate_sequences": 0.0, "num_preempted": -1}

    async def reply(self, session: AsyncSession, ids: list[int]) -> Reply | None:
        """Have a reply sampled; None if the episode ends without one."""
        if session.read_anew == len(ids):
            self._prompt = len(ids)
        most = min(session.max_tokens or 0, self._response_length - (len(ids) - self._prompt))
        if most <= 0:
            session.truncate()
            return None
        began = time.perf_counter()
        output = await self._server.generate(
            request_id=self._id,
            prompt_ids=ids,
            sampling_params={
                **self._sampling,
                "max_tokens": most,
                "stop_token_ids": list(session.stop_ids),
                **({"stop": list(session.stop)} if session.stop else {}),
            },
            priority=self._priority,
        )
        self.metrics["generate_sequences"] += time.perf_counter() - began
        self._note(output)
        if output.stop_reason in ("aborted", "abort"):
            session.fail("verl has aborted a reply")
            return None
        said: list[int] = list(output.token_ids)[:most]
        logprobs = list(output.log_probs)[:most] if self.has_logprobs else None
        return said, logprobs, "length" if len(said) == most else None

    def _note(self, output: Any) -> None:
        """Keep by which steps' weights the replies were sampled, which verl compares with those of the trainer."""
        fields = dict(output.extra_fields)
        if (first := self.fields.get("min_global_steps")) is not None:
            fields["min_global_steps"] = first
        self.fields.update(fields)
        if output.num_preempted is not None:
            self.metrics["num_preempted"] = max(0, self.metrics["num_preempted"]) + output.num_preempted


def _plain(value: Any) -> Any:
    """Hydra passes containers of its own."""
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
