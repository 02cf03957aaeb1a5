"""Settings of the tests of gem-train."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import PreTrainedModel

# pytest's importlib mode puts nothing on the path, and an env is found by its module's name.
sys.path.append(str(Path(__file__).parent))
# `make test-vllm` runs these, in an environment that has vLLM.
collect_ignore_glob = [] if find_spec("vllm") else ["test_vllm*.py"]

SMALL = {
    "vocab_size": 512,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 1,
}

sys.path.append(str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """A tiny model is faster on one thread, above all beside other tests."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def make_model() -> Callable[..., PreTrainedModel]:
    """Makes a small model of an architecture, with weights so large that attention matters."""

    def make(name: str, attention: str = "sdpa", **settings: Any) -> PreTrainedModel:
        config = getattr(transformers, f"{name}Config")(**{**SMALL, **settings})
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.mul_(6)
        return model

    return make
