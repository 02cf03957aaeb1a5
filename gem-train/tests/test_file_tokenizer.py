"""A tokenizer that is read without transformers gives the ids that transformers gives, whatever the template."""

import json
import subprocess
import sys
from random import Random

import pytest
from replicas import FAMILIES, PARTS, PLAIN, byte_level, family, lowercase, metaspace, unigram
from transformers import AutoTokenizer

from gem.chat import ChatEncoder, FileTokenizer
from gem.episode import Completion
from gem.errors import ConfigError
from gem.rollout.transcript import Transcript

DEFAULT = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# What templates of models use besides: macros, loops with conditions and `break`, blocks that mark replies, dates.
FEATURES = """{%- macro turn(role, text) -%}
  {{ '<|im_start|>' + role + '\\n' + text + '<|im_end|>\\n' }}
{%- endmacro -%}
{% for m in messages if m.role != 'none' %}
    {%- if loop.index > 99 %}{% break %}{% endif %}
    {%- if m.role == 'assistant' %}
        {% generation %}{{ turn('assistant', m.content) }}{% endgeneration %}
    {%- else %}
        {{ turn(m.role, m.content) }}
    {%- endif %}
{% endfor %}
{{ {'é<': [1, "x"], 'tools': tools} | tojson(indent=1) }}{{ eos_token }}
{{ strftime_now('%Y') | length }}{{ extra | default('none') }}
{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
TOKENIZERS = {
    **{name: lambda name=name: family(name) for name in FAMILIES},
    "parts": lambda: byte_level(PARTS),
    "features": lambda: byte_level(FEATURES),
    "in capitals": lambda: lowercase(PLAIN, DEFAULT),
    "sentencepiece": lambda: metaspace(PLAIN, DEFAULT),
    "unigram": lambda: unigram(PLAIN, DEFAULT),
}
TEXTS = [
    *("hello", " two\n", "é ☃ 👩‍👩‍👧 日本", ""),
    *("<|im_end|> is <think>\nso\n</think>\n\n", "<tool_response>\n4\n</tool_response>"),
]


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("settings", [{}, {"enable_thinking": False, "extra": "x"}])
def test_it_gives_the_ids_and_texts_of_transformers(kind, settings, tmp_path):
    TOKENIZERS[kind]().save_pretrained(tmp_path)
    ours, theirs = FileTokenizer.load(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    encoders = [ChatEncoder(each, template_kwargs=settings, stop_ids=[1]) for each in (ours, theirs)]
    first, second = encoders
    assert (first.stop_ids, first.end_id, first.appends) == (second.stop_ids, second.end_id, second.appends)
    for number in range(10):
        assert conversation(first, Random(number)) == conversation(second, Random(number))


def conversation(chat: ChatEncoder, random: Random) -> list[object]:
    past, context, shown = Transcript(random.choice(TEXTS)), list[int](), list[object]()
    for _ in range(4):
        prompt, ids = chat.prompt(past, context), chat.reply(random.choice(TEXTS))
        ids = ids[: random.randint(1, len(ids))]
        context = [*([] if prompt.new_segment else context), *prompt.ids, *ids]
        shown += [prompt, ids, chat.text(ids), chat.decode(context)]
        past.add(Completion(chat.text(ids), prompt.ids, ids), 0.0, random.choice(TEXTS), {})
    return shown


def test_a_folder_without_a_tokenizer_is_refused_in_one_line(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read a tokenizer from .*tokenizer_config\.json"):
        FileTokenizer.load(tmp_path)
    byte_level(None).save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match="has no chat template"):
        ChatEncoder(FileTokenizer.load(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"tokenizer\.json is not a tokenizer"):
        FileTokenizer.load(tmp_path)


def test_one_of_several_templates_is_the_default(tmp_path):
    byte_level(PLAIN).save_pretrained(tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    config["chat_template"] = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": PLAIN}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert FileTokenizer.load(tmp_path).chat_template == PLAIN


def test_chat_templates_need_neither_torch_nor_transformers(tmp_path):
    family("qwen3").save_pretrained(tmp_path)
    program = (
        "import sys; sys.modules.update(torch=None, transformers=None)\n"
        "from gem.chat import ChatEncoder, FileTokenizer\n"
        "from gem.rollout.transcript import Transcript\n"
        f"print(ChatEncoder(FileTokenizer.load({str(tmp_path)!r})).prompt(Transcript('hi'), []).ids)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert shown.stdout.strip() == str(ChatEncoder(family("qwen3")).prompt(Transcript("hi"), []).ids)
