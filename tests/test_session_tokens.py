"""A session gives and takes, id by id, what gem-train's own rollout reads, samples and learns from.

Episodes are played by the real rollout with a model of random weights, and again through a session, which is told what
the model said.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from tokenizers import AddedToken
from transformers import AutoTokenizer, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from gem.chat import ChatEncoder
from gem.episode import Episode
from gem.rollout import rollout
from gem.vector import make_vec
from gem_interop.session import Session
from gem_train.batch import collate
from gem_train.engines.hf import HFSampler

sys.path.append(str(Path(__file__).parent.parent / "gem-train" / "tests"))
from replicas import FAMILIES, byte_level

TOOLS = [{"name": "tool_env", "max_calls": 9, "max_refused": None}]
ENVS = {
    "game:GuessTheNumber-v0-easy": (),
    "game:Wordle-v0-easy": (),
    "game:Hangman-v0-easy": ["concat_with_action"],
    "game:TowerofHanoi-v0-easy": (),
    "game:Sudoku-v0-easy": (),
    "math:Arithmetic-v0-easy": [{"name": "tool_env", "tools": "calculator", "format": "hermes"}],
    "logic:Rules-v0-easy": (),
    "tools:Calendar-v0-easy": (),
    "session_envs:Foreign": TOOLS,
    "session_envs:Faulty": (),
}
TEMPLATES = {
    "appends": ("qwen2.5", {}, "template"),
    "rewrites": ("qwen3", {"enable_thinking": False}, "template"),
    "drops reasoning": ("qwen3", {}, "template"),
    "is not followed": ("deepseek-r1", {}, "keep"),
}
WORDS = {
    '<add>{"a":3,"b":4}</add>': 3.0,
    '<tool_call>{"name": "calculator", "arguments": {"expression": "1+1"}}</tool_call>': 2.0,
    "\\boxed{5}": 4.0,
    "\\boxed{AB}": 2.0,
    "<think>\nwhy\n</think>\n\n": 3.0,
    "é": 1.0,
    " 日": 1.0,
    "</add>": 1.0,
    "end|>": 1.0,
    "<|said|>": 4.0,
}
CONTEXT, REPLY, TURNS = 4000, 4, 6


def tokenizer(name: str) -> PreTrainedTokenizerFast:
    template, special, added = FAMILIES[name]
    tokens = [AddedToken(token, normalized=False) for token in added]
    return byte_level(template, [*special, "<|said|>"], tokens, [word for word in WORDS if word != "<|said|>"])


def talker(encoder: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """A model of random weights that says `WORDS`, and now and then any byte."""
    config = Qwen3Config(
        vocab_size=len(encoder),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=CONTEXT,
    )
    torch.manual_seed(0)
    made = Qwen3ForCausalLM(config).eval()
    bias = torch.full((config.vocab_size,), -6.0)
    for word, weight in WORDS.items():
        [spelt] = [id for id in range(len(encoder)) if encoder.decode([id]) == word]
        bias[spelt] = float(np.log(weight))
    made.lm_head.register_forward_hook(lambda _, __, logits: logits + bias)
    return made


@pytest.mark.parametrize("episodes", [1, pytest.param(25, marks=pytest.mark.full)])
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_session_reads_says_and_trains_on_the_ids_of_the_rollout(template, episodes, tmp_path):
    """1,000 episodes in all, if all of these tests run."""
    name, settings, history = TEMPLATES[template]
    encoder = tokenizer(name)
    encoder.save_pretrained(tmp_path)
    [end] = encoder.encode("<|said|>", add_special_tokens=False)
    common = {"history": history, "template_kwargs": settings, "stop_ids": [end]}
    sampler = HFSampler(talker(encoder), ChatEncoder(encoder, **common), max_new_tokens=REPLY)
    other = ChatEncoder(AutoTokenizer.from_pretrained(tmp_path), **common)
    seen: Counter[str] = Counter()
    for id, wrappers in ENVS.items():
        with make_vec(id, min(episodes, 25), wrappers=wrappers) as envs:
            played = list(rollout(sampler, envs, range(100, 100 + episodes), max_turns=TURNS))
        with Session(
            id, other, max_context=CONTEXT, max_new_tokens=REPLY, max_turns=TURNS, wrappers=wrappers
        ) as session:
            for episode in played:
                replay(session, episode)
                seen.update(turn.completion.finish_reason for turn in episode.turns)
                seen["failed"] += episode.failure is not None
                seen["calls"] += sum(turn.info.get("use_tool", False) for turn in episode.turns)
                seen["segments"] += len(session.result.segments)
                seen["out of context"] += episode.out_of_context
    assert seen["stop"] > seen["length"] > 0
    assert seen["calls"] > 0
    assert seen["failed"] == episodes
    assert (seen["segments"] > 9 * episodes) == (template in ("rewrites", "drops reasoning"))


def replay(session: Session, episode: Episode) -> None:
    """Play the same episode through the session, and compare everything."""
    ids = session.start(episode.seed)
    stops: list[str] = []
    context: list[int] = []
    for turn in episode.turns:
        said = turn.completion
        context = [*([] if said.new_segment else context), *said.prompt_ids]
        assert ids == context == session.context
        assert session.read_anew == len(said.prompt_ids)
        assert session.max_tokens == min(REPLY, CONTEXT - len(context))
        if turn is not episode.turns[0]:
            assert list(session.stop) == stops
        stops = turn.info.get("stop", [])
        ids = session.said(said.ids, said.logprobs)
        context = [*context, *said.ids]
    if episode.failure is not None and episode.failed_on is not None:
        assert ids is not None
        ids = session.said(episode.failed_on.ids, episode.failed_on.logprobs)
    assert ids is None
    result = session.result
    turns = tuple(replace(turn, completion=replace(turn.completion, weight_versions=())) for turn in episode.turns)
    unversioned = episode.each_trace(lambda trace: replace(trace, turns=turns))
    lost = episode.failed_on and replace(episode.failed_on, weight_versions=())
    traces = [result.failure and result.failure.error, episode.failure and episode.failure.error]
    assert traces[0] == traces[1]
    assert replace(result.episode, failure=None) == replace(unversioned, failed_on=lost, failure=None)
    if episode.failure is not None:
        assert (result.segments, result.total_reward) == ((), None)
        return
    assert (result.total_reward, result.success) == (episode.total_reward, episode.success)
    if not episode.turns:
        assert result.segments == ()
        return
    batch = collate([episode])
    assert len(batch.sequences) == len(result.segments)
    for sequence, segment in zip(batch.sequences, result.segments, strict=True):
        read = [0] * len(segment.prompt_ids)
        assert sequence.ids.tolist() == [*segment.prompt_ids, *segment.response_ids]
        assert sequence.sampled.tolist() == [*read, *segment.mask]
        assert sequence.logprobs.tolist() == np.array([*read, *segment.logprobs], np.float32).tolist()
        assert sequence.turn.tolist() == [*([-1] * len(read)), *segment.turns]
    rewards = [reward for segment in result.segments for reward in segment.rewards]
    numbers = [turn for segment in result.segments for turn in segment.turns]
    for number, turn in enumerate(episode.turns):
        places = [place for place, each in enumerate(numbers) if each == number]
        assert rewards[places[-1]] == turn.reward
        assert not any(rewards[place] for place in places[:-1])
