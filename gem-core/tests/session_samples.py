"""A tokenizer of bytes and envs, for the tests of sessions."""

import time
from collections import Counter
from typing import Any, ClassVar

from jinja2 import Environment, TemplateError
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from gem import Step, TurnEnv
from gem.tool import tool

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class ByteTokenizer:
    """One id per byte, and the tokens of ChatML; these tests do without transformers."""

    name_or_path = "bytes"
    is_fast = True
    unk_token_id = None

    def __init__(self, backend: Tokenizer, chat_template: str) -> None:
        self.backend_tokenizer = backend
        self.chat_template = chat_template
        self.added_tokens_decoder = backend.get_added_tokens_decoder()
        self.all_special_ids = list(self.added_tokens_decoder)
        self.eos_token_id = backend.token_to_id("<|endoftext|>")

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return self.backend_tokenizer.encode(text, add_special_tokens=add_special_tokens).ids

    def decode(self, token_ids: list[int], *, clean_up_tokenization_spaces: bool = False) -> str:
        return self.backend_tokenizer.decode(token_ids, skip_special_tokens=False)

    def convert_ids_to_tokens(self, ids: int) -> str | None:
        return self.backend_tokenizer.id_to_token(ids)

    def apply_chat_template(self, conversation: Any, *, tokenize: bool, **variables: Any) -> str | list[int]:
        environment = Environment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = refuse
        text = environment.from_string(self.chat_template).render(messages=conversation, **variables)
        return self.encode(text, add_special_tokens=False) if tokenize else text


def refuse(message: str) -> None:
    raise TemplateError(message)


def tokenizer(template: str = CHATML) -> ByteTokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={character: id for id, character in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    return ByteTokenizer(backend, template)


class Count(TurnEnv):
    """The reward is the length of the reply; "end" wins, "fail" fails, and "sleep" takes half a second."""

    open: ClassVar[Counter[str]] = Counter()
    """How many of them are open."""

    def __init__(self, max_turns: int | None = None) -> None:
        super().__init__(max_turns=max_turns)
        Count.open["envs"] += 1
        self._there = True

    reset_options = ("what",)

    @tool
    def add(self, a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    def _reset(self, options):
        if self._seed == 13:
            raise OSError("no reset today")
        return f"Say {(options or {}).get('what', 'anything')} ☃."

    def _step(self, action):
        if "fail" in action:
            raise ValueError("broken")
        time.sleep(0.5 * ("sleep" in action))
        if action == "end":
            return Step.final("Well done.", 10.0, success=True)
        return Step.ongoing(f"You said {action}.", reward=float(len(action)))

    def sample_action(self):
        return "yes"

    def close(self):
        if self._there:
            self._there = False
            Count.open["envs"] -= 1
