"""slime: episodes for `--custom-generate-function-path`, run with commit 624b824 (0.3.1).

```console
--custom-generate-function-path gem_interop.slime.generate
--custom-reward-post-process-path gem_interop.slime.rewards
```

The rows of `rows` name the env and the seed of each episode, in the column of the prompt. For other settings, a module
of yours has `generate = Rollout(max_turns=8).generate`.
"""

# slime is not installed with this package.
# pyright: reportMissingImports=false

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from gem.checks import check_int
from gem.errors import ConfigError
from gem_interop.playing import Player, Reply, prompt_of, starts
from gem_interop.session import AsyncSession, Result
from gem_interop.versions import check

OLDEST, NEWEST = "0.3.1", "0.3.1"
# The package of that name on PyPI is another one.
check("slime", OLDEST, NEWEST, "git+https://github.com/THUDM/slime", "slime")

from slime.rollout.sglang_rollout import GenerateState  # noqa: E402
from slime.utils.http_utils import post  # noqa: E402
from slime.utils.types import Sample  # noqa: E402

_NOT_FILLED_IN = {"rollout_top_p": 1.0, "use_rollout_routing_replay": False, "group_rm": False, "reward_key": None}
"""Settings for other values of which samples would need more."""
_NORMALIZED = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")


def rows(env: str | Sequence[str], episodes: int, seed: int = 0, *, evaluation: bool = False) -> list[dict[str, str]]:
    """Starts for JSON lines that `--prompt-data` names; slime plays `--n-samples-per-prompt` episodes from each.

    The arguments are those of `gem_interop.playing.starts`.
    """
    return [{"input": prompt_of(id, start)} for id, start in starts(env, episodes, seed, evaluation=evaluation)]


class Rollout:
    """Plays the episodes that rows name, with replies of slime's SGLang servers.

    slime takes one sample and one reward for an episode, so an episode is one segment. One that still fails after its
    retries has no id that is trained and the reward NaN, which `rewards` leaves out of its group.

    Args:
        max_context: most ids of an episode, read and sampled; by default `--rollout-max-context-len`.
        max_new_tokens: most ids of a reply; by default `--rollout-max-response-len`.
        settings: as for `gem_interop.playing.Player`: `max_turns`, `score`, `retries`, `max_envs`, `step_timeout`,
            `template_kwargs`, `wrappers`, `env_kwargs`.

    Raises:
        ConfigError: an argument is invalid.
    """

    def __init__(self, *, max_context: int | None = None, max_new_tokens: int | None = None, **settings: Any) -> None:
        self._limits = {"max_context": max_context, "max_new_tokens": max_new_tokens}
        for name, value in self._limits.items():
            if value is not None:
                check_int(name, value, 1)
        self._player = Player(history="keep", **settings)

    def ended(self, result: Result) -> None:
        """Called with each episode, those that failed included; for a subclass that logs or keeps them."""

    async def generate(
        self, args: Any, sample: Any, sampling_params: Mapping[str, Any], evaluation: bool = False
    ) -> Any:
        """Play the episode of a sample. What slime calls.

        Raises:
            ConfigError: the prompt is not a start, or slime's settings contradict what this fills in.
        """
        _check(args, evaluation)
        state = GenerateState(args)
        limits = {
            "max_context": self._limits["max_context"] or args.rollout_max_context_len,
            "max_new_tokens": self._limits["max_new_tokens"] or sampling_params["max_new_tokens"],
        }
        if limits["max_context"] is None:
            raise ConfigError("say how long an episode may be: --rollout-max-context-len, or Rollout(max_context=…)")

        async def reply(session: AsyncSession, ids: list[int]) -> Reply | None:
            if state.aborted:
                return None
            return _reply(await _post(args, sample, _parameters(sampling_params, session), ids), sample)

        result = await self._player.play(sample.prompt, reply, state.tokenizer, **limits)
        if result is None:  # slime has what it needs, and plays this one later
            sample.status = Sample.Status.ABORTED
            return sample
        self.ended(result)
        return _fill(sample, result, self._player.reward(result), state.tokenizer)


generate = Rollout().generate
"""A rollout with every setting at its default."""
generate_success = Rollout(score="success").generate
"""The same, where an episode earns 1 for success, and 0 otherwise."""


def rewards(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Rewards as slime processes them, without the episodes that failed: for `--custom-reward-post-process-path`.

    Each is compared with those of its group that did not fail.

    Returns:
        The rewards, where a failed episode has the mean of its group, and what slime trains on.

    Raises:
        RuntimeError: every episode failed.
    """
    groups: dict[Any, list[float]] = {}
    for sample in samples:
        groups.setdefault(sample.group_index, [])
        if not sample.remove_sample:
            groups[sample.group_index].append(sample.get_reward_value(args))
    kept = [reward for group in groups.values() for reward in group]
    if not kept:
        raise RuntimeError("every episode of this batch failed; the log has the reasons")
    means = {name: statistics.fmean(group or kept) for name, group in groups.items()}
    indices = [sample.group_index for sample in samples]
    raw = [
        means[index] if sample.remove_sample else float(sample.get_reward_value(args))
        for index, sample in zip(indices, samples, strict=True)
    ]
    if args.advantage_estimator not in _NORMALIZED or not args.rewards_normalization:
        return raw, raw
    scales = dict.fromkeys(groups, 1.0)
    if args.advantage_estimator != "reinforce_plus_plus_baseline" and args.grpo_std_normalization:
        scales = {name: statistics.stdev(group) + 1e-6 if len(group) > 1 else 1.0 for name, group in groups.items()}
    return raw, [(reward - means[index]) / scales[index] for reward, index in zip(raw, indices, strict=True)]


def _check(args: Any, evaluation: bool) -> None:
    if args.custom_reward_post_process_path is None and not evaluation:
        raise ConfigError(
            "slime would take an episode that failed for one of its group: set --custom-reward-post-process-path "
            "gem_interop.slime.rewards"
        )
    for name, wanted in _NOT_FILLED_IN.items():
        if getattr(args, name, wanted) != wanted:
            raise ConfigError(f"gem_interop.slime fills in samples for {name} {wanted!r}, not {getattr(args, name)!r}")


def _parameters(given: Mapping[str, Any], session: AsyncSession) -> dict[str, Any]:
    return {
        **given,
        "max_new_tokens": session.max_tokens,
        "stop_token_ids": sorted({*(given.get("stop_token_ids") or ()), *session.stop_ids}),
        **({"stop": list(session.stop)} if session.stop else {}),
    }


async def _post(args: Any, sample: Any, parameters: Mapping[str, Any], ids: list[int]) -> dict[str, Any]:
    """SGLang's meta_info on a reply."""
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    headers = None
    if sample.session_id and getattr(args, "router_policy", None) == "consistent_hashing":
        headers = {"X-SMG-Routing-Key": sample.session_id}  # to the server that has read the turns before
    payload = {"input_ids": ids, "sampling_params": parameters, "return_logprob": True}
    return (await post(url, payload, headers=headers))["meta_info"]


def _reply(meta: Mapping[str, Any], sample: Any) -> Reply | None:
    sample.prefix_cache_info.add(meta)
    if "weight_version" in meta:
        sample.weight_versions.append(meta["weight_version"])
    reason = meta["finish_reason"]["type"]
    if reason == "abort":
        return None
    if reason not in ("stop", "length"):
        raise RuntimeError(f"SGLang ended a reply with {meta['finish_reason']!r}")
    sampled = meta.get("output_token_logprobs", ())
    return [at[1] for at in sampled], [at[0] for at in sampled], reason


def _fill(sample: Any, result: Result, reward: float | None, tokenizer: Any) -> Any:
    """The sample with the episode; with no id that is trained if there is nothing to learn from."""
    turns = result.episode.turns
    sample.metadata = {**(sample.metadata or {}), "gem_turns": len(turns), "gem_success": result.success}
    if reward is None:
        end = tokenizer.eos_token_id
        sample.tokens, sample.response, sample.response_length = [end, end], "", 1
        sample.loss_mask, sample.rollout_log_probs = [0], [0.0]
        sample.reward, sample.remove_sample, sample.status = float("nan"), True, Sample.Status.FAILED
        return sample
    [segment] = result.segments
    sample.tokens = [*segment.prompt_ids, *segment.response_ids]
    sample.response = tokenizer.decode(segment.response_ids)
    sample.response_length = len(segment.response_ids)
    sample.loss_mask, sample.rollout_log_probs = list(segment.mask), list(segment.logprobs)
    sample.metadata["gem_rewards"] = list(segment.rewards)
    sample.reward = reward
    cut = turns[-1].completion.finish_reason != "stop"
    sample.status = Sample.Status.TRUNCATED if cut else Sample.Status.COMPLETED
    return sample
