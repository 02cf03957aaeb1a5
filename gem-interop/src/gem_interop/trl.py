"""TRL: episodes for `GRPOTrainer(rollout_func=…)`, run with 1.12.0 and 1.16.0.

```python
play = Play("game:GuessTheNumber-v0-easy", max_new_tokens=16)
trainer = GRPOTrainer(
    model=model,
    args=config,
    processing_class=tokenizer,
    train_dataset=Dataset.from_list(play.rows(1000)),
    rollout_func=play,
    reward_funcs=play.reward,
)
```

TRL takes one row per episode and one reward for it. So an episode is one segment (`history="keep"`), and which turn
earned what is lost to the advantages; the extra fields of a row have the rewards of the turns.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from statistics import fmean
from typing import Any

from gem.checks import check_int
from gem.errors import ConfigError
from gem.packs.make import Wrappers
from gem.work.threads import Threads
from gem_interop.playing import Score, check_score, only_segment, prompt_of, reward_of, start_of, starts
from gem_interop.session import Result, Session
from gem_interop.versions import check

OLDEST, NEWEST = "1.12.0", "1.16.0"
check("trl", OLDEST, NEWEST, page="trl")

Reply = tuple[Sequence[int], Sequence[float]]
"""Sampled ids and their log-probabilities."""
Generate = Callable[[Any, list[list[int]], list[Session]], list[Reply]]
"""`(trainer, contexts, sessions)` → a reply to each context. A session says what ends its reply."""


class Play:
    """A `rollout_func` that plays episodes, all of a batch at once.

    The prompts of the dataset are those of `rows`: each names the start of an episode, of which the env makes what the
    model reads. Equal prompts, of which TRL passes `num_generations`, are a group: episodes from the same start.

    Args:
        env: an id, or a list of ids, among which `rows` divides the episodes.
        max_context: most ids of an episode, read and sampled; by default, and at most, the `max_position_embeddings` of
            the model.
        max_new_tokens: most ids of a reply; by default the trainer's `max_completion_length`.
        max_turns: turns after which an episode is truncated.
        score: what `reward` gives: the `"return"`, or 1 for `"success"` and 0 otherwise.
        generate: samples the replies; by default `generate` of the trainer's own model.
        threads: most envs that are stepped at once.
        template_kwargs: passed to the chat template.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.

    Raises:
        ConfigError: an argument is invalid.
    """

    def __init__(
        self,
        env: str | Sequence[str],
        *,
        max_context: int | None = None,
        max_new_tokens: int | None = None,
        max_turns: int | None = None,
        score: Score = "return",
        generate: Generate | None = None,
        threads: int = 32,
        template_kwargs: dict[str, Any] | None = None,
        wrappers: Wrappers = (),
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        check_score(score)
        self._ids = [env] if isinstance(env, str) else list(env)
        self._score: Score = score
        self._generate = generate or sample
        self._limits = {"max_context": max_context, "max_new_tokens": max_new_tokens, "max_turns": max_turns}
        self._settings: dict[str, Any] = {
            "template_kwargs": template_kwargs,
            "wrappers": wrappers,
            "env_kwargs": env_kwargs,
        }
        self._threads = check_int("threads", threads, 1)
        self._trainer: Any = None
        self._sessions: list[Session] = []
        self.results: list[Result] = []
        """The episodes of the last batch, in its order."""

    def rows(self, episodes: int, seed: int = 0, *, evaluation: bool = False) -> list[dict[str, str]]:
        """A dataset of so many starts, for `datasets.Dataset.from_list`; those of an evaluation are others."""
        made = starts(self._ids, episodes, seed, evaluation=evaluation)
        return [{"prompt": prompt_of(*start)} for start in made]

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """Play an episode for each prompt. What TRL calls.

        Returns:
            Columns with a value per prompt: `prompt_ids`, `completion_ids`, `logprobs` and `env_mask`, of which the
            last three are as long as each other, and the extra fields `gem_…`.

        Raises:
            ConfigError: a prompt is not one of `rows`, or TRL's settings ask for what `sample` does not do.
        """
        if trainer is not self._trainer:  # another tokenizer, and other limits
            self.close()
            self._trainer = trainer
            if self._generate is sample:
                _check_sampling(trainer.args)
        named = [start_of(prompt) for prompt in prompts]
        while len(self._sessions) < len(prompts):
            self._sessions.append(self._session(trainer))
        sessions = self._sessions[: len(prompts)]
        with closing(Threads("gem-trl", self._threads)) as threads:
            read = threads.map(_start, sessions, named)
            while waiting := [index for index, ids in enumerate(read) if ids is not None]:
                asked = [sessions[index] for index in waiting]
                replies = self._generate(trainer, [read[index] or [] for index in waiting], asked)
                for index, ids in zip(waiting, threads.map(_said, asked, replies), strict=True):
                    read[index] = ids
        self.results = [session.result for session in sessions]
        rows = [self._row(result, trainer) for result in self.results]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def reward(
        self,
        *,
        gem_reward: list[float | None],
        gem_success: list[bool],
        gem_turns: list[int],
        log_metric: Callable[[str, float], None] | None = None,
        **_: Any,
    ) -> list[float | None]:
        """The reward function: None for an episode that failed, which TRL leaves out.

        Among TRL's metrics are `gem/failed`, the share of episodes that failed, and of the others `gem/success` and
        `gem/turns`, their means.
        """
        kept = [index for index, reward in enumerate(gem_reward) if reward is not None]
        if log_metric:
            log_metric("gem/failed", 1 - len(kept) / len(gem_reward))
            if kept:
                log_metric("gem/success", fmean(gem_success[index] for index in kept))
                log_metric("gem/turns", fmean(gem_turns[index] for index in kept))
        return gem_reward

    def close(self) -> None:
        """Close the envs. Closing twice is fine."""
        while self._sessions:
            self._sessions.pop().close()

    def _session(self, trainer: Any) -> Session:
        model = trainer.accelerator.unwrap_model(trainer.model)
        config = model.config.get_text_config()
        positions = int(config.max_position_embeddings)
        limits = {
            "max_context": positions,
            "max_new_tokens": trainer.args.max_completion_length,
            **{name: value for name, value in self._limits.items() if value is not None},
        }
        limits["max_context"] = min(limits["max_context"], positions)
        return Session(
            self._ids, trainer.processing_class, history="keep", stop_ids=_ends(model), **limits, **self._settings
        )

    def _row(self, result: Result, trainer: Any) -> dict[str, Any]:
        """A row of TRL's batch."""
        segment = only_segment(result, trainer.processing_class.eos_token_id)
        return {
            "prompt_ids": list(segment.prompt_ids),
            "completion_ids": list(segment.response_ids),
            "logprobs": list(segment.logprobs),
            "env_mask": list(segment.mask),
            "gem_reward": reward_of(result, self._score),
            "gem_rewards": list(segment.rewards),
            "gem_success": result.success,
            "gem_turns": len(result.episode.turns),
        }


_WHOLE = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "generation_kwargs": {}, "use_vllm": False}
"""The settings of TRL that `sample` cannot follow, with what they are without an effect; None is that too."""


def _check_sampling(args: Any) -> None:
    changed = [name for name, plain in _WHOLE.items() if getattr(args, name) not in (plain, None)]
    if changed:
        raise ConfigError(
            f"Play samples with `generate` of the trainer's own model from its whole distribution, and GRPOConfig sets "
            f"{', '.join(changed)}: leave that out, or give Play a function that samples so (generate=)"
        )


def _start(session: Session, start: tuple[str, int]) -> list[int] | None:
    id, seed = start
    return session.start(seed, id=id)


def _said(session: Session, reply: Reply) -> list[int] | None:
    return session.said(*reply)


def sample(trainer: Any, contexts: list[list[int]], sessions: list[Session]) -> list[Reply]:
    """Replies of the trainer's own model, by the `generate` of transformers, at the temperature of the trainer."""
    import torch

    model = trainer.accelerator.unwrap_model(trainer.model)
    temperature = float(trainer.args.temperature)
    longest = max(map(len, contexts))
    pad = trainer.processing_class.pad_token_id
    padded = torch.tensor([[pad] * (longest - len(ids)) + ids for ids in contexts], device=model.device)
    mask = torch.tensor([[0] * (longest - len(ids)) + [1] * len(ids) for ids in contexts], device=model.device)
    trains = model.training
    model.eval()
    try:
        with torch.no_grad():
            made = model.generate(
                input_ids=padded,
                attention_mask=mask,
                max_new_tokens=max(session.max_tokens or 1 for session in sessions),
                do_sample=True,
                temperature=temperature,
                top_k=0,
                top_p=1.0,
                repetition_penalty=1.0,
                eos_token_id=list(sessions[0].stop_ids),
                pad_token_id=pad,
                return_dict_in_generate=True,
                output_logits=True,
            )
    finally:
        model.train(trains)
    said = made.sequences[:, longest:]
    scores = torch.stack(made.logits, dim=1).float() / temperature
    logprobs = scores.log_softmax(-1).gather(-1, said[..., None])[..., 0]
    # What is behind the end of a reply is dropped by its session.
    return list(zip(said.tolist(), logprobs.tolist(), strict=True))


def _ends(model: Any) -> tuple[int, ...]:
    """The ids that end a reply by the model's generation config."""
    found: int | list[int] | None = model.generation_config.eos_token_id
    return () if found is None else (found,) if isinstance(found, int) else tuple(found)
