"""Generation in conversations of several turns, by the engine `hf` and by `generate` of transformers.

    python benchmarks/generation.py [--conversations 8] [--turns 16] [--repeats 5] [--json FILE]

The model is a Qwen3 of 3 million random weights, in float32 on one thread of the CPU. In every turn each conversation
reads and samples as many ids on every side: those that the engine read and those that it sampled, so that all
conversations have equal lengths, the case that suits a batch of `generate` best. Nobody ends a reply early; tokens are
drawn from the whole distribution at temperature 1. Only the engine renders transcripts, draws with noise of each
token's own, and returns log-probabilities.

- re-read: `generate` on all ids of the conversations so far, in every turn.
- cache kept: `generate` with the `past_key_values` of the turn before.

Times are CPU seconds of all turns, the median of the repeats, in which the sides take turns; the ratios are medians of
the ratios of each repeat. `gap` is how far the engine's log-probabilities are from those of one forward pass.
"""

import argparse
import json
import platform
import statistics
import time
from pathlib import Path

import torch
import transformers
from peers import show
from transformers import DynamicCache, Qwen3Config, Qwen3ForCausalLM

from gem.chat.encoder import ChatEncoder
from gem.episode import Start
from gem.rollout.transcript import Transcript
from gem_train.engines.hf import HFSampler
from gem_train.models.tiny import tiny_tokenizer

CONVERSATIONS = (8,)
REPLY = 32
OBSERVATION = "What is seen now, again. "
"""About as many ids as a reply, with the template."""


def make_model(tokenizer):
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    return Qwen3ForCausalLM(config).eval()


def ours(sampler, conversations, turns):
    """CPU seconds, and what was played."""
    start = time.process_time()
    past = {slot: Transcript(OBSERVATION, start=Start(slot)) for slot in range(conversations)}
    for _ in range(turns):
        sampler.send(past)
        for slot, completion in sampler.recv(conversations).items():
            past[slot].add(completion, 0.0, OBSERVATION, {})
    seconds = time.process_time() - start
    for slot in range(conversations):
        sampler.forget(slot)
    return seconds, list(past.values())


def prompts_of(played):
    """The ids that each turn read, ``[conversations, ids]`` each, cut to the shortest of the turn."""
    prompts = []
    for turns in zip(*(each.turns for each in played), strict=True):
        # A reply that happens to end with the template's last token saves reading it.
        shortest = min(len(turn.completion.prompt_ids) for turn in turns)
        prompts.append(torch.tensor([turn.completion.prompt_ids[:shortest] for turn in turns]))
    return prompts


def theirs(model, prompts, *, keep):
    """CPU seconds of `generate` with the same numbers of ids."""
    start = time.process_time()
    ids = torch.empty(len(prompts[0]), 0, dtype=torch.long)
    cache = DynamicCache(config=model.config) if keep else None
    for prompt in prompts:
        ids = torch.cat([ids, prompt], 1)
        found = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            past_key_values=cache,
            max_new_tokens=REPLY,
            do_sample=True,
            top_k=0,
            eos_token_id=None,
            pad_token_id=0,
            return_dict_in_generate=True,
        )
        if keep:
            cache = found.past_key_values
        ids = found.sequences
    return time.process_time() - start


@torch.inference_mode()
def gap(model, played):
    """The largest difference between the engine's log-probabilities and those of one forward pass."""
    largest = 0.0
    for each in played:
        ids, sampled, logprobs = [], [], []
        for turn in each.turns:
            completion = turn.completion
            ids += [*completion.prompt_ids, *completion.ids]
            sampled += [False] * len(completion.prompt_ids) + [True] * len(completion.ids)
            logprobs += completion.logprobs
        ids, sampled = torch.tensor(ids), torch.tensor(sampled)
        scores = model(input_ids=ids[None], use_cache=False).logits[0, :-1].log_softmax(-1)
        whole = scores.gather(-1, ids[1:, None])[:, 0][sampled[1:]]
        largest = max(largest, float((whole - torch.tensor(logprobs)).abs().max()))
    return largest


def measure(batches, turns, repeats):
    tokenizer = tiny_tokenizer([])
    chat = ChatEncoder(tokenizer)
    model = make_model(tokenizer)
    chat.stop_ids = ()  # every reply has the same length
    sampler = HFSampler(model, chat, max_new_tokens=REPLY)
    results = {}
    for conversations in batches:
        rounds = []
        for repeat in range(-1, repeats):
            sampler.reseed(max(0, repeat))
            seconds, played = ours(sampler, conversations, turns)
            prompts = prompts_of(played)
            sides = {
                "engine": seconds,
                "cache kept": theirs(model, prompts, keep=True),
                "re-read": theirs(model, prompts, keep=False),
            }
            if repeat >= 0:  # the first is a warm-up
                rounds.append(sides)
        results[conversations] = {
            "ids_read": sum(part.shape[1] for part in prompts),
            "ids_sampled": turns * REPLY,
            "seconds": {side: statistics.median(each[side] for each in rounds) for side in rounds[0]},
            "ratios": {
                side: statistics.median(each[side] / each["engine"] for each in rounds)
                for side in ("cache kept", "re-read")
            },
            "gap": gap(model, played),
        }
    return results


def table(report):
    """The report as Markdown."""
    lines = [
        f"{report['turns']} turns; CPU seconds of all turns (sampled tokens per second in brackets)",
        "",
        "| conversations | ids read, sampled | engine | cache kept | re-read | cache kept ÷ engine | re-read ÷ it |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for conversations, result in report["cases"].items():
        sampled = int(conversations) * result["ids_sampled"]
        seconds = [f"{each:.2f} ({sampled / each:,.0f})" for each in result["seconds"].values()]
        ratios = [f"{each:.2f}" for each in result["ratios"].values()]
        ids = f"{result['ids_read']}, {result['ids_sampled']}"
        lines.append(f"| {' | '.join([str(conversations), ids, *seconds, *ratios])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--conversations", type=int, nargs="+", default=CONVERSATIONS, help="in a batch")
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    report = {
        "turns": arguments.turns,
        "repeats": arguments.repeats,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "machine": platform.machine(),
        "cases": measure(arguments.conversations, arguments.turns, arguments.repeats),
    }
    show(json.loads(json.dumps(report)), table(report), arguments.json)


if __name__ == "__main__":
    main()
