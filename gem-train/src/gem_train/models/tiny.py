"""`--model tiny`: a small model and its tokenizer, made on the spot for one environment.

It needs no download, learns on a laptop's CPU in a minute or two, and uses the same code as a large model. Its
tokenizer is trained on transcripts, so a whole sentence of the rules is one token.
"""

from collections.abc import Iterable
from typing import cast

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedModel, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from gem import seeding
from gem.episode import Episode
from gem.tool.content import text_of

VOCABULARY = 512
PAD, END, USER, ASSISTANT = "<|pad|>", "<|end|>", "<|user|>", "<|assistant|>"

_CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tiny_tokenizer(episodes: Iterable[Episode]) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of 512 tokens, trained on the texts of `episodes`.

    Merges may cross spaces, which makes whole sentences one token. Digits stay alone, so that a number the tokenizer
    never saw is spelt like every other.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # pyright: ignore[reportAttributeAccessIssue]
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()  # pyright: ignore[reportAttributeAccessIssue]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[PAD, END, USER, ASSISTANT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(episodes), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, chat_template=_CHAT_TEMPLATE
    )


def _texts(episodes: Iterable[Episode]) -> Iterable[str]:
    for episode in episodes:
        for turn in episode.turns:
            yield text_of(turn.observation)
            yield turn.action


def tiny_model(tokenizer: PreTrainedTokenizerFast, seed: int, head_dim: int = 16) -> PreTrainedModel:
    """A Qwen3 with random weights drawn from `seed`, in float32: 0.17 million, with heads of 16 dimensions."""
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=head_dim,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        pad_token_id=cast("int", tokenizer.convert_tokens_to_ids(PAD)),
        bos_token_id=None,
        eos_token_id=cast("int", tokenizer.convert_tokens_to_ids(END)),
        dtype="float32",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seeding.derive(seed, "tiny"))
        return Qwen3ForCausalLM(config)
