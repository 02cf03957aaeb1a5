"""A tokenizer of bytes and a tiny model, for the trainers of others and their launch files."""

import os
import subprocess
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

HERE = Path(__file__).parent
LAUNCH_FILES = HERE.parents[1] / "examples" / "frameworks"
LONGEST = 1500  # seconds: no launch file comes near it, and one that hangs must end


def tokenizer() -> PreTrainedTokenizerFast:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={character: id for id, character in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<|endoftext|>", eos_token="<|im_end|>", chat_template=CHATML
    )


def tiny_model() -> Qwen3ForCausalLM:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=259,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            max_position_embeddings=512,
            eos_token_id=258,
            pad_token_id=256,
        )
    )


def run_launch_file(file: str, *given: object, folder: Path = HERE, **environment: str) -> str:
    """What a launch file prints, started in a folder, by default that of the tests, which has their environments."""
    done = subprocess.run(
        [sys.executable, str(LAUNCH_FILES / file), *map(str, given)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def launched(name: str, model: Path, **settings: object) -> str:
    """What a launch file prints that plays a tiny model, saved at `model`, on two environments."""
    tiny_model().save_pretrained(model)
    tokenizer().save_pretrained(model)
    options = (f"--{name.replace('_', '-')}={value}" for name, value in settings.items())
    return run_launch_file(name, model, "--env", "game:GuessTheNumber-v0-easy", "--env", "core:Echo-v0", *options)
