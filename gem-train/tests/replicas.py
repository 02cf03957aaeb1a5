"""Chat templates that behave as those of real models do, and small tokenizers of every kind, for tests."""

from collections.abc import Sequence

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

# ChatML, as Qwen2.5's.
PLAIN = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Shows reasoning only after the last question, where a tool's response is not one; without thinking, the prompt for a
# reply holds empty thoughts, which earlier replies do not have.
QWEN3 = """
{%- set seen = namespace(question=-1) -%}
{%- for m in messages -%}
  {%- set answered = m.content.startswith('<tool_response>') and m.content.endswith('</tool_response>') -%}
  {%- if m.role == 'user' and not answered -%}
    {%- set seen.question = loop.index0 -%}
  {%- endif -%}
{%- endfor -%}
{%- for m in messages -%}
  {{- '<|im_start|>' + m.role + '\\n' -}}
  {%- if m.role == 'assistant' -%}
    {%- set thoughts = m.content.split('</think>')[0].split('<think>')[-1] if '</think>' in m.content else '' -%}
    {%- if loop.index0 > seen.question and (loop.last or thoughts) -%}
      {{- '<think>\\n' + thoughts.strip('\\n') + '\\n</think>\\n\\n' -}}
    {%- endif -%}
    {{- m.content.split('</think>')[-1].lstrip('\\n') -}}
  {%- else -%}
    {{- m.content -}}
  {%- endif -%}
  {{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\\n' -}}
  {%- if enable_thinking is defined and not enable_thinking -%}{{- '<think>\\n\\n</think>\\n\\n' -}}{%- endif -%}
{%- endif -%}
"""
# Opens the thoughts of each reply itself, and leaves them out of earlier ones.
DEEPSEEK_R1 = (
    "<｜begin▁of▁sentence｜>{% for m in messages %}{% if m.role == 'user' %}<｜User｜>{{ m.content }}{% else %}"
    "<｜Assistant｜>{{ m.content.split('</think>')[-1] }}<｜end▁of▁sentence｜>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<｜Assistant｜><think>\n{% endif %}"
)
# A message ends where the next begins; the line break after the role is not in the prompt for a reply.
GLM4 = (
    "[gMASK]<sop>{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LLAMA3 = (
    "<|begin_of_text|>{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
MISTRAL = (
    "<s>{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{% if m.role == 'user' %}[INST] {{ m.content }}[/INST]"
    "{% else %} {{ m.content | trim }}</s>{% endif %}{% endfor %}"
)
# Joins the parts of a message, as templates of models that read images do.
PARTS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for part in m.content %}{{ part.text }}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
THINK = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
# Template, special tokens (the first is the end of sequence), tokens that are added but not special.
FAMILIES: dict[str, tuple[str, list[str], list[str]]] = {
    "qwen2.5": (PLAIN, CHATML, THINK[2:]),
    "qwen3": (QWEN3, CHATML, THINK),
    "deepseek-r1": (
        DEEPSEEK_R1,
        ["<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>"],
        ["<｜User｜>", "<｜Assistant｜>", *THINK[:2]],
    ),
    "glm4": (GLM4, ["<|endoftext|>", "[gMASK]", "<sop>", "<|user|>", "<|assistant|>", "<|observation|>"], []),
    "llama3": (
        LLAMA3,
        [
            "<|end_of_text|>",
            "<|begin_of_text|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eot_id|>",
            "<|eom_id|>",
        ],
        [],
    ),
    "mistral": (MISTRAL, ["</s>", "<s>", "[INST]", "[/INST]"], []),
}


def family(name: str) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer with the template and the special tokens of a family of models."""
    template, special, added = FAMILIES[name]
    return byte_level(template, special, [AddedToken(token, normalized=False) for token in added])


def byte_level(
    template: str | None,
    special: Sequence[str | AddedToken] = CHATML,
    added: Sequence[AddedToken] = (),
    unreachable: Sequence[str] = (),
) -> PreTrainedTokenizerFast:
    """One id per byte, and `special` and `added` tokens; the first special one is the end of sequence.

    `unreachable` words are in the vocabulary without merges: they are decoded, and no text is encoded as one.
    """
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str
    alphabet = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(spell(word)[0][0] for word in unreachable)]
    core = Tokenizer(models.BPE(vocab={character: index for index, character in enumerate(alphabet)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    return with_special(core, template, special, added)


def lowercase(
    template: str | None, special: Sequence[str | AddedToken], added: Sequence[AddedToken] = ()
) -> PreTrainedTokenizerFast:
    """Byte-level, and it reads capitals as small letters: a normalised token is found in capitals too."""
    core = byte_level(None, []).backend_tokenizer
    core.normalizer = normalizers.Lowercase()
    return with_special(core, template, special, added)


def metaspace(template: str | None, special: Sequence[str | AddedToken]) -> PreTrainedTokenizerFast:
    """Characters with a mark in place of spaces, and one before the text, as SentencePiece has it."""
    characters = ["<unk>", *sorted({*map(chr, range(33, 127)), "▁", "\n"})]
    vocabulary = {character: index for index, character in enumerate(characters)}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    core.decoder = decoders.Metaspace(prepend_scheme="first", split=False)
    core.add_special_tokens(["<unk>"])
    return with_special(core, template, special, unk_token="<unk>")


def unigram(template: str | None, special: Sequence[str]) -> PreTrainedTokenizerFast:
    """Unigram, whose own vocabulary has the special tokens as pieces, with the best score."""
    pieces = [("<unk>", 0.0), *((token, 0.0) for token in special)]
    pieces += [(character, -3.0) for character in [*map(chr, range(32, 127)), "\n"]]
    core = Tokenizer(models.Unigram(pieces, unk_id=0))
    core.decoder = decoders.Fuse()
    core.add_special_tokens(["<unk>"])
    return with_special(core, template, special, unk_token="<unk>")


def with_special(
    core: Tokenizer,
    template: str | None,
    special: Sequence[str | AddedToken],
    added: Sequence[AddedToken] = (),
    **names: str,
) -> PreTrainedTokenizerFast:
    core.add_special_tokens(list(special))
    core.add_tokens(list(added))
    if special:
        names["eos_token"] = str(special[0])
    return PreTrainedTokenizerFast(tokenizer_object=core, chat_template=template, **names)
