"""OpenRLHF: episodes by an agent executor, for `--train.agent_func_path`, run with 0.11.2.

```python
# agent.py
from gem_interop.openrlhf import Executor


class AgentExecutor(Executor):
    def __init__(self):
        super().__init__(max_turns=8)
```

The rows of `rows` name the env and the seed of each episode, in the column of the prompt. OpenRLHF takes one sequence
per episode and one reward for it. So an episode is one segment, and which turn earned what is lost.
"""

# OpenRLHF is not installed with this package.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false

import asyncio
import copy
from collections.abc import Sequence
from typing import Any

from gem.checks import check_int
from gem_interop.playing import Player, Reply, only_segment, prompt_of, starts
from gem_interop.session import AsyncSession, Result
from gem_interop.versions import check

OLDEST, NEWEST = "0.11.2", "0.11.2"
check("openrlhf", OLDEST, NEWEST, page="openrlhf")

from openrlhf.utils.agent import AgentExecutorBase  # noqa: E402


def rows(env: str | Sequence[str], episodes: int, seed: int = 0, *, evaluation: bool = False) -> list[dict[str, str]]:
    """Starts for a JSON file of `--data.prompt_dataset`, each played `--rollout.n_samples_per_prompt` times.

    The arguments are those of `gem_interop.playing.starts`.
    """
    # OpenRLHF reports the rewards of an evaluation by their datasource.
    return [
        {"input": prompt_of(id, start), "datasource": id}
        for id, start in starts(env, episodes, seed, evaluation=evaluation)
    ]


class Executor(AgentExecutorBase):
    """Plays the episodes that rows name.

    OpenRLHF cannot leave an episode out of its batch. One that still fails after its retries gets a sequence without a
    trained token, and as its reward the mean of the others of its group, so that the baseline of these is their own
    mean. If all of a group failed, that is the mean of all episodes that this executor has played.

    Args:
        max_new_tokens: most ids of a reply; by default `--rollout.max_new_tokens`, and without it what `--data.max_len`
            has room for.
        settings: as for `gem_interop.playing.Player`: `max_turns`, `score`, `retries`, `max_envs`, `step_timeout`,
            `template_kwargs`, `wrappers`, `env_kwargs`.

    Raises:
        ConfigError: an argument is invalid.
    """

    def __init__(self, *, max_new_tokens: int | None = None, **settings: Any) -> None:
        self._most = None if max_new_tokens is None else check_int("max_new_tokens", max_new_tokens, 1)
        self._player = Player(history="keep", **settings)
        self._groups: dict[tuple[int, str], _Group] = {}
        self._all = _Group()

    def ended(self, result: Result) -> None:
        """Called with each episode, those that failed included; for a subclass that logs or keeps them."""

    async def execute(
        self,
        prompt: str,
        label: Any,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Any = None,
    ) -> dict[str, Any]:
        """Play an episode: what OpenRLHF calls. Calls with one prompt and one object of parameters are a group.

        Raises:
            ConfigError: the prompt is not one of `rows`.
            RuntimeError: the engine gave a reply up, or no episode at all could be played so far.
        """
        limits = {"max_context": max_length, "max_new_tokens": self._most or sampling_params.max_tokens}
        with_logprobs = sampling_params.logprobs is not None

        async def reply(session: AsyncSession, ids: list[int]) -> Reply:
            output = (await llm_engine.generate(ids, _parameters(sampling_params, session))).outputs[0]
            if output.finish_reason not in ("stop", "length"):
                raise RuntimeError(f"the engine ended a reply with {output.finish_reason!r}")
            said = list(output.token_ids)
            if not with_logprobs:
                return said, None, output.finish_reason
            return said, [at[id].logprob for at, id in zip(output.logprobs, said, strict=True)], output.finish_reason

        key = (id(sampling_params), prompt)
        group = self._groups.setdefault(key, _Group())
        group.playing += 1
        try:
            result = await self._player.play(prompt, reply, hf_tokenizer, **limits)
            assert result is not None
            reward = self._player.reward(result)
            if reward is not None:
                group.add(reward, result.success)
                self._all.add(reward, result.success)
        finally:
            group.playing -= 1
            if not group.playing:
                del self._groups[key]
                group.over.set()
        self.ended(result)
        score = float(result.success)
        if reward is None:
            await group.over.wait()
            known = group if group.count else self._all
            if not known.count:
                why = result.failure.error if result.failure else f"its start does not fit --data.max_len {max_length}"
                raise RuntimeError(f"no episode could be played: {why}")
            reward, score = known.rewards / known.count, known.successes / known.count
        return {
            "prompt": prompt,
            "label": label,
            "images": images,
            "mm_train_inputs": None,
            "reward": reward,
            # What --algo.dynamic_filtering_enable looks at.
            "scores": score,
            "extra_logs": {"gem_failed": float(not result.segments), "gem_turns": float(len(result.episode.turns))},
            **_sequence(result, hf_tokenizer.eos_token_id, with_logprobs),
        }


class _Group:
    """Earnings of the episodes of a group, or of all."""

    def __init__(self) -> None:
        self.playing = 0
        self.over = asyncio.Event()
        self.count, self.rewards, self.successes = 0, 0.0, 0.0

    def add(self, reward: float, success: bool) -> None:
        self.count += 1
        self.rewards += reward
        self.successes += success


def _parameters(given: Any, session: AsyncSession) -> Any:
    """Parameters of a reply. They are not given back: OpenRLHF passes one object to all episodes of a group."""
    parameters = copy.deepcopy(given)
    parameters.max_tokens = session.max_tokens
    # At 1, OpenRLHF's default, no reply could begin with its end, and log-probabilities were not the model's.
    parameters.min_tokens = 0
    parameters.stop_token_ids = sorted({*(given.stop_token_ids or ()), *session.stop_ids})
    if session.stop:
        parameters.stop = list(session.stop)
        parameters.include_stop_str_in_output = True
    return parameters


def _sequence(result: Result, end: int, with_logprobs: bool) -> dict[str, Any]:
    """The ids of an episode, and which of them are trained: none of an episode that failed."""
    segment = only_segment(result, end)
    turns = result.episode.turns
    first = len(segment.prompt_ids)
    edges = [0, *segment.mask, 0]
    changes = [first + place for place in range(len(edges) - 1) if edges[place] != edges[place + 1]]
    return {
        "observation_tokens": [*segment.prompt_ids, *segment.response_ids],
        "action_ranges": list(zip(changes[::2], changes[1::2], strict=True)),
        "rollout_log_probs": [0.0] * first + list(segment.logprobs) if with_logprobs else None,
        "truncated": bool(result.segments) and turns[-1].completion.finish_reason != "stop",
    }
