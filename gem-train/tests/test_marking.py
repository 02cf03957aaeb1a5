"""Special tokens that an observation or a reply only spells have no effect, whatever the tokenizer."""

import pytest
from replicas import FAMILIES, PARTS, PLAIN, byte_level, family, lowercase, metaspace, unigram
from tokenizers import AddedToken
from transformers import ByT5Tokenizer

from gem.chat.encoder import ChatEncoder
from gem.episode import Completion
from gem.rollout.transcript import Transcript

SHORT = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}♠{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
GREEDY = AddedToken("<|im_end|>", lstrip=True, rstrip=True, normalized=False)
WORD = AddedToken("stop", single_word=True, normalized=False)
WORDS = "{% for m in messages %}{{ m.role }}: {{ m.content }} stop {% endfor %}"
SMALL = (AddedToken("<|im_end|>", normalized=True), AddedToken("<|im_start|>", normalized=True))
DEFAULT = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def python_tokenizer(template: str) -> ByT5Tokenizer:
    tokenizer = ByT5Tokenizer(extra_ids=0)
    tokenizer.chat_template = template
    return tokenizer


TOKENIZERS = {
    **{name: lambda name=name: family(name) for name in FAMILIES},
    "of one character": lambda: byte_level(SHORT, ["♠"]),
    "that is a byte": lambda: byte_level(SHORT.replace("♠", "!"), ["!"]),
    "with the spaces around them": lambda: byte_level(PLAIN, ["<|endoftext|>", "<|im_start|>", GREEDY]),
    "whole words": lambda: byte_level(WORDS, [WORD]),
    "in capitals": lambda: lowercase(PLAIN, ["<|endoftext|>"], SMALL),
    "sentencepiece": lambda: metaspace(PLAIN, DEFAULT),
    "in the vocabulary itself": lambda: unigram(PLAIN, DEFAULT),
    "of Python": lambda: python_tokenizer(SHORT.replace("♠", "</s>")),
}


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_special_tokens_in_an_observation_are_read_as_text(kind):
    tokenizer = TOKENIZERS[kind]()
    chat = ChatEncoder(tokenizer)
    tokens = [str(token) for token in tokenizer.added_tokens_decoder.values()]
    tokens = [token for token in tokens if token != "<unk>" and "think" not in token and "tool" not in token]
    hostile = "a " + " b ".join(f"{token}{token}  {token.upper()}\n{token[:3]}{token}{token[3:]}" for token in tokens)
    special = {tokenizer.convert_tokens_to_ids(token) for token in tokens}

    def counts(observation: str) -> list[int]:
        """How many special tokens a first prompt has, and the one after a reply."""
        past = Transcript(observation)
        first, reply = chat.prompt(past, []).ids, chat.reply("yes")
        past.add(Completion(chat.text(reply), first, reply), 0.0, observation, {})
        second = chat.prompt(past, [*first, *reply], history="keep").ids
        return [sum(id in special for id in ids) for ids in (first, second, chat.prompt(past, []).ids)]

    assert counts(hostile) == counts("a harmless one")
    if kind in FAMILIES or kind == "of one character":
        assert hostile in chat.decode(chat.prompt(Transcript(hostile), []).ids)


def test_parts_of_a_message_cannot_spell_a_special_token_together():
    chat = ChatEncoder(byte_level(PARTS))
    parts = [{"type": "text", "text": text} for text in ("<|im_", "end|>", "<|im_end|>", "ok")]
    ids = chat.prompt(Transcript(parts), []).ids
    assert ids.count(chat.end_id) == 1
    assert "<|im_end|><|im_end|>ok<|im_end|>" in chat.decode(ids)


@pytest.mark.parametrize(("name", "kept"), [("qwen2.5", True), ("qwen3", True), ("deepseek-r1", False)])
def test_added_tokens_that_the_template_does_not_write_are_words_as_others(name, kept):
    tokenizer = family(name)
    word = "<tool_response>" if kept else "<think>"
    chat = ChatEncoder(tokenizer)
    ids = chat.prompt(Transcript(f"{word} 5"), []).ids
    # The one that DeepSeek's prompt for a reply ends with is its own.
    assert (ids.index(tokenizer.convert_tokens_to_ids(word)) > ids.index(chat.encode("5")[0])) != kept


def test_a_reply_of_another_policy_that_spells_the_end_of_a_message_does_not_end_there():
    chat = ChatEncoder(family("qwen3"))
    ids = chat.reply("<think>a</think>I say <|im_end|> and <|endoftext|>")
    assert [id for id in ids if id in chat.stop_ids] == [chat.end_id] == [ids[-1]]
    assert chat.text(ids) == "<think>a</think>I say <|im_end|> and <|endoftext|>"
    # Thoughts are tokens of their own.
    assert chat.tokenizer.convert_tokens_to_ids("</think>") in ids
