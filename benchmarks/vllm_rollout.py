"""Tokens per second of a rollout with the engine vllm, and of vLLM's own offline `generate` on the same prompts.

    .venv/vllm/bin/python benchmarks/vllm_rollout.py [--turns 1] [--episodes 64] [--tokens 64] [--rounds 5] [--json]

vLLM's side is `vllm.LLM` in a process of its own: kernels with packed weights, no log-probabilities, and replies of the
lengths that the rollout had. In a conversation of several turns it is called once for each turn, with the prompts of
all episodes. Rounds alternate, and each begins with an empty prefix cache. Both sides compute with one thread: on a
machine with other work, the ratio of their CPU time tells more than that of the time on the clock.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

import gem
from gem.chat.encoder import ChatEncoder
from gem.rollout import rollout
from gem.vector import make_vec
from gem_train.engines.settings import VLLMSettings
from gem_train.engines.vllm.in_process import VLLMSampler
from gem_train.models.tiny import tiny_tokenizer

# Of this process and of the other, which imports this module too.
os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR"}
torch.set_num_threads(1)

POSITIONS = 2048
KV_GIB = 1.0


class Talk(gem.TurnEnv):
    """A conversation of a set number of turns; every observation is another text of about a hundred ids."""

    def _reset(self, options: Any) -> str:
        return self._text()

    def _step(self, action: str) -> gem.Step:
        if self.last_turn:
            return gem.Step.final("", 1.0, success=True)
        return gem.Step.ongoing(self._text())

    def sample_action(self) -> str:
        return "Yes."

    def _text(self) -> str:
        return "".join(self.rng.choice("abcdefgh ") for _ in range(100))


def make_model() -> Qwen3ForCausalLM:
    """A Qwen3 of 12 million random weights."""
    config = Qwen3Config(
        vocab_size=512,
        hidden_size=384,
        intermediate_size=1152,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=POSITIONS,
        tie_word_embeddings=True,
        eos_token_id=1,
        dtype="float32",
    )
    torch.manual_seed(0)
    return Qwen3ForCausalLM(config).eval()


def clocks() -> Any:
    """Seconds on the clock, and of this process's CPU."""
    return np.array([time.perf_counter(), time.process_time()])


def serve(folder: str, pipe: Connection) -> None:
    """vLLM's side: batches of prompts with lengths in, seconds on the clock and of the CPU out."""
    import vllm  # pyright: ignore[reportMissingImports]

    llm = vllm.LLM(folder, dtype="float32", enforce_eager=True, kv_cache_memory_bytes=int(KV_GIB * 2**30))
    pipe.send("ready")
    while batches := pipe.recv():
        llm.reset_prefix_cache()
        start = clocks()
        for batch in batches:
            prompts = [{"prompt_token_ids": ids} for ids, _ in batch]
            lengths = [
                vllm.SamplingParams(temperature=1.0, max_tokens=length, ignore_eos=True, detokenize=False)
                for _, length in batch
            ]
            llm.generate(prompts, lengths, use_tqdm=False)
        pipe.send(clocks() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1, help="replies in an episode")
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=64, help="the longest reply")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    model, tokenizer = make_model(), tiny_tokenizer([])
    settings = VLLMSettings(max_model_len=POSITIONS, kv_cache_gib=KV_GIB)
    sampler = VLLMSampler(model, ChatEncoder(tokenizer), max_new_tokens=arguments.tokens, settings=settings)
    gem.register("bench:Talk-v0", Talk, max_turns=arguments.turns)
    ours, theirs, tokens = [], [], 0
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    with tempfile.TemporaryDirectory() as folder, make_vec("bench:Talk-v0", arguments.episodes) as envs:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        server = context.Process(target=serve, args=(folder, there))
        server.start()
        here.recv()
        for number in range(arguments.rounds + 1):  # the first compiles kernels
            sampler.load(model.named_parameters(), number)  # and its prefix cache is empty
            start = clocks()
            episodes = list(rollout(sampler, envs, range(arguments.episodes)))
            ours.append(clocks() - start)
            batches: list[list[tuple[list[int], int]]] = [[] for _ in range(arguments.turns)]
            for episode in episodes:
                read: list[int] = []
                for batch, turn in zip(batches, episode.turns, strict=True):
                    read += turn.completion.prompt_ids
                    batch.append((list(read), len(turn.completion.ids)))
                    read += turn.completion.ids
            tokens = sum(length for batch in batches for _, length in batch)
            here.send(batches)
            theirs.append(here.recv())
        here.send(None)
        server.join()
    sampler.close()
    ours, theirs = np.array(ours[1:]), np.array(theirs[1:])
    ratios = theirs / ours
    found = {
        "turns": arguments.turns,
        "episodes": arguments.episodes,
        "sampled_tokens": tokens,
        "rollout_tokens_per_second": round(tokens / statistics.median(ours[:, 0])),
        "generate_tokens_per_second": round(tokens / statistics.median(theirs[:, 0])),
        "ratio": round(statistics.median(ratios[:, 0]), 2),
        "rollout_tokens_per_cpu_second": round(tokens / statistics.median(ours[:, 1])),
        "generate_tokens_per_cpu_second": round(tokens / statistics.median(theirs[:, 1])),
        "ratio_of_cpu_time": round(statistics.median(ratios[:, 1]), 2),
    }
    print(json.dumps(found) if arguments.json else "\n".join(f"{name:28} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
