"""RL2: episodes by a function `generate`, for `rollout.env_path`, written against its source at commit 9161ede.

```python
# env.py
from gem_interop.rl2 import Play

generate = Play(max_context=8192, max_turns=8)
```

The rows of `rows` name the env and the seed of each episode. RL2 takes a reward for each id, and any number of
sequences per episode, so nothing of a session is lost.
"""

from collections.abc import Sequence
from typing import Any

from gem.episode.segments import Segment
from gem_interop.playing import Player, Reply, Score, prompt_of, starts
from gem_interop.session import AsyncSession, Result


def rows(env: str | Sequence[str], episodes: int, seed: int = 0, *, evaluation: bool = False) -> list[dict[str, str]]:
    """Starts for a JSON file that `rollout.train.path` names; RL2 plays `responses_per_prompt` episodes from each.

    The arguments are those of `gem_interop.playing.starts`.
    """
    return [{"prompt": prompt_of(id, start)} for id, start in starts(env, episodes, seed, evaluation=evaluation)]


class Play:
    """RL2's `generate`: plays the episode that a row names, with replies of its SGLang servers.

    RL2 cannot leave an episode out, and counts one without a trained id as a reward of 0. So an episode that failed is
    played again, and one that still fails stops the run.

    Args:
        max_context: most ids of an episode, read and sampled; by default no limit.
        score: the rewards of an episode: its own (`"return"`), or at its end 1 for `"success"` and 0 otherwise.
        settings: as for `gem_interop.playing.Player`: `max_turns`, `retries`, `max_envs`, `step_timeout`,
            `template_kwargs`, `wrappers`, `env_kwargs`.

    Raises:
        ConfigError: an argument is invalid.
    """

    def __init__(self, *, max_context: int | None = None, score: Score = "return", **settings: Any) -> None:
        self._max_context = max_context
        self._score = score
        # RL2 takes several sequences per episode, so the template may rewrite its history.
        self._player = Player(score=score, history=None, **settings)

    def ended(self, result: Result) -> None:
        """Called with each episode; for a subclass that logs or keeps them."""

    async def __call__(self, config: Any, tokenizer: Any, router_url: str, sample: Any) -> None:
        """Play the episode of a sample: what RL2 calls.

        Raises:
            RuntimeError: the episode failed as often as it may, or the engine aborted a reply.
        """
        from RL2.utils.communication import async_request  # pyright: ignore[reportMissingImports]

        if sample.status is sample.Status.DONE:
            return
        given: dict[str, Any] = {**config.sampling_params}

        async def reply(session: AsyncSession, ids: list[int]) -> Reply:
            asked = {"input_ids": ids, "sampling_params": _parameters(given, session), "return_logprob": True}
            meta = (await async_request(router_url, "generate", json=asked))["meta_info"]
            reason = meta["finish_reason"]["type"]
            if reason == "abort":
                raise RuntimeError("SGLang aborted a reply: leave rollout.train.partial_rollout off")
            sampled = meta["output_token_logprobs"]
            return [at[1] for at in sampled], [at[0] for at in sampled], "length" if reason == "length" else "stop"

        limits = {"max_context": self._max_context, "max_new_tokens": given["max_new_tokens"]}
        result = await self._player.play(sample.sample["prompt"], reply, tokenizer, **limits)
        assert result is not None
        self.ended(result)
        if not result.segments:
            why = result.failure.error if result.failure else f"its start does not fit {self._max_context} ids"
            raise RuntimeError(f"an episode could not be played, and RL2 cannot leave one out: {why}")
        self._fill(sample, result, tokenizer)

    def _fill(self, sample: Any, result: Result, tokenizer: Any) -> None:
        """Fill a sample with what RL2 trains on, logs and prints."""
        sample.state_dicts = [_sequence(segment) for segment in result.segments]
        if self._score == "success":
            for sequence in sample.state_dicts:
                sequence["rewards"] = [0.0] * len(sequence["rewards"])
            last = sample.state_dicts[-1]
            end = max(place for place, trained in enumerate(last["action_mask"]) if trained)
            last["rewards"][end] = float(result.success)
        replies = [turn.completion for turn in result.episode.turns]
        sample.turn = len(replies)
        sample.metrics["turns"].append(len(replies))
        sample.metrics["rewards"].append(self._player.reward(result))
        sample.metrics["response_length"].extend(len(reply.ids) for reply in replies)
        sample.metrics["length_clip_ratio"].extend(reply.finish_reason == "length" for reply in replies)
        sample.state_text = tokenizer.decode(sample.state_dicts[-1]["states"])
        sample.status = sample.Status.DONE


def _parameters(given: dict[str, Any], session: AsyncSession) -> dict[str, Any]:
    """Parameters of a reply. RL2's servers trim nothing, so that ids and text agree."""
    stops = given.get("stop") or ()
    own = [stops] if isinstance(stops, str) else list(stops)
    return {
        **given,
        "max_new_tokens": session.max_tokens,
        "stop": [*own, *session.stop] or None,
        "stop_token_ids": sorted(session.stop_ids),
        "no_stop_trim": True,
    }


def _sequence(segment: Segment) -> dict[str, list[Any]]:
    before = len(segment.prompt_ids)
    return {
        "states": [*segment.prompt_ids, *segment.response_ids],
        "actions": [0] * before + [id * on for id, on in zip(segment.response_ids, segment.mask, strict=True)],
        "action_mask": [0] * before + list(segment.mask),
        "logps": [0.0] * before + list(segment.logprobs),
        "rewards": [0.0] * before + list(segment.rewards),
    }
