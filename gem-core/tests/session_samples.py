"""A tokenizer of bytes and envs, for the tests of sessions."""

import time
from collections import Counter
from typing import ClassVar

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from gem import Step, TurnEnv
from gem.chat import FileTokenizer
from gem.tool import tool

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer(template: str = CHATML) -> FileTokenizer:
    """One id per byte, and the tokens of ChatML."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={character: id for id, character in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    return FileTokenizer(backend, template, special={"eos_token": "<|endoftext|>"})


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
