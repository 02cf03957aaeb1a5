"""Only what the model said is trained on, id by id: episodes with tools, through the real sampler, of real templates.

The model of these tests has words of its own. It samples no other ids, and the tokenizer never makes them of a text:
they are longer than what its merges reach. So each id shows where it came from, and nothing that the engine or the
batch reports about it has to be believed.
"""

from collections import Counter

import numpy as np
import pytest
import torch
from replicas import FAMILIES, byte_level
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

import gem
from gem.chat.encoder import ChatEncoder
from gem.rollout import rollout
from gem.vector import make_vec
from gem_train.batch import Batch, collate
from gem_train.engines import hf
from gem_train.engines.hf import HFSampler
from gem_train.learning.packing import pack
from gem_train.learning.scoring import score_tokens

TURNS = 16
WRAPPERS = [{"name": "tool_env", "format": "tags", "max_calls": 9, "max_refused": None}]
# The model's words, and how often it says each. Its end of a reply is not the one that the template writes.
WORDS = {
    '<add>{"a":3,"b":4}</add>': 5.0,
    '<add>{"a":20,"b":22}</add>': 5.0,
    '<add>{"a":true}</add>': 1.0,
    "<add>nothing</add>": 1.0,
    "<think>\nwhy not\n</think>\n\n": 3.0,
    " I say": 3.0,
    "\n\nso": 1.0,
    "<|im_": 1.0,
    "end|>": 3.0,
    "<|said|>": 4.0,
}
TEMPLATES = {
    "appends": ("qwen2.5", {}, "template"),
    "rewrites": ("qwen3", {"enable_thinking": False}, "template"),
    "drops reasoning": ("qwen3", {}, "template"),
    "is not followed": ("deepseek-r1", {}, "keep"),
}


def tokenizer(name: str) -> PreTrainedTokenizerFast:
    template, special, added = FAMILIES[name]
    # What is said often, and of no interest here, is one id: conversations are short, and the test is quick.
    rules, _ = gem.make("talk:Talk", wrappers=WRAPPERS).reset(seed=0)
    common = ["user\n", "assistant\n", "<result>\n", "\n</result>", '<add>{"a":', "}</add>", "<add>", str(rules)]
    words = [AddedToken(token, normalized=False) for token in [*added, *common]]
    return byte_level(template, [*special, "<|said|>"], words, [word for word in WORDS if word != "<|said|>"])


def model(encoder: PreTrainedTokenizerFast) -> tuple[Qwen3ForCausalLM, dict[int, float]]:
    """A model of random weights that says only `WORDS`, and their ids with their weights."""
    said = {encoder.convert_tokens_to_ids(byte_level_spelling(word)): weight for word, weight in WORDS.items()}
    config = Qwen3Config(
        vocab_size=len(encoder),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=8192,
    )
    torch.manual_seed(0)
    made = Qwen3ForCausalLM(config).eval()
    bias = torch.full((config.vocab_size,), -1e9)
    for id, weight in said.items():
        bias[id] = float(np.log(weight))
    made.lm_head.register_forward_hook(lambda _, __, logits: logits + bias)
    return made, said


def byte_level_spelling(word: str) -> str:
    return word if word.startswith("<|said") else word.replace(" ", "Ġ").replace("\n", "Ċ")


@pytest.mark.parametrize("episodes", [4, pytest.param(250, marks=pytest.mark.full)])
@pytest.mark.parametrize("template", TEMPLATES)
def test_no_token_that_the_model_did_not_say_enters_the_loss(template, episodes, monkeypatch):
    """1,000 episodes of 16 turns in all, if all of these tests run."""
    name, settings, history = TEMPLATES[template]
    encoder = tokenizer(name)
    policy_model, said = model(encoder)
    [end] = encoder.encode("<|said|>", add_special_tokens=False)
    chat = ChatEncoder(encoder, template_kwargs=settings, history=history, stop_ids=[end])
    sampler = HFSampler(policy_model, chat, max_new_tokens=3, temperature=0.9)
    drawn: Counter[int] = Counter()
    draw = hf.draw

    def counting_draw(*args):
        tokens, logprobs = draw(*args)
        drawn.update(tokens.tolist())
        return tokens, logprobs

    monkeypatch.setattr(hf, "draw", counting_draw)
    with make_vec("talk:Talk", min(episodes, 125), wrappers=WRAPPERS) as envs:
        played = list(rollout(sampler, envs, range(episodes), max_turns=TURNS))

    assert [len(episode.turns) for episode in played] == [TURNS] * episodes
    calls = [turn for episode in played for turn in episode.turns if turn.info["use_tool"]]
    assert episodes * TURNS / 4 < len(calls) < episodes * TURNS
    reasons = {turn.completion.finish_reason for episode in played for turn in episode.turns}
    assert reasons == {"stop", "length"}

    batch = collate(played)
    assert (len(batch.sequences) > episodes) == (template in ("rewrites", "drops reasoning"))
    for sequence in batch.sequences:
        assert np.array_equal(sequence.sampled, np.isin(sequence.ids, list(said)))
    trained: Counter[int] = Counter()
    for sequence in batch.sequences:
        trained.update(sequence.ids[sequence.sampled].tolist())
    assert trained == drawn
    assert_in_order(played, batch)
    few = batch.sequences[:: max(1, len(batch.sequences) // 8)]
    with torch.inference_mode():
        for sequence in few:
            [packed] = pack([sequence], 8192)
            scores = score_tokens(policy_model, packed, 0.9)
            np.testing.assert_allclose(scores.logprobs.numpy(), sequence.logprobs[sequence.sampled], atol=2e-5)


def assert_in_order(played, batch: Batch) -> None:
    """Each turn has its own ids in the batch, in the order in which they were sampled."""
    rows = np.concatenate([sequence.turn[sequence.sampled] for sequence in batch.sequences])
    ids = np.concatenate([sequence.ids[sequence.sampled] for sequence in batch.sequences])
    turns = [turn for episode in played for turn in episode.turns]
    assert rows.tolist() == [row for row, turn in enumerate(turns) for _ in turn.completion.ids]
    assert ids.tolist() == [id for turn in turns for id in turn.completion.ids]
