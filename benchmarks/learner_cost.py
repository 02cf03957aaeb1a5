"""What an update costs: packed episodes, short sequences in long rows, log-probabilities, activations.

    python benchmarks/learner_cost.py [--turns 4,8,16,32] [--repeats 3] [--json FILE]

The model is a Qwen3 of 0.75 million parameters. Times are CPU seconds of forward and backward passes in float32 on one
thread; the cases of a table take turns, and each number is the best of the repeats. Memory is the peak of what
PyTorch's allocator gave out, beyond what was there before.

- A packed episode is one sequence. One sample per turn is a sequence for each turn, with everything before it, of which
  only the turn's reply is trained on; the samples are packed, too, so neither side computes padding. The first
  observation has 128 ids, every other 16, every reply 24; the episodes of a case have 32 turns together.
- Short sequences of 40 to 90 ids, packed into rows: with the dense mask that transformers makes for packed rows, and
  without it.
- Log-probabilities of 128 tokens with a vocabulary of 152,064 and hidden states of 64: all logits at once, and in
  chunks of 32 tokens. The logits of a chunk are the unit; the gradient of the head's weights is not counted.
- Activations kept, and computed again, for a row of 2,048 ids.
"""

import os
import platform
import time
from dataclasses import replace

import numpy as np
import torch
from peers import options, show
from torch.profiler import ProfilerActivity, profile
from transformers import Qwen3Config, Qwen3ForCausalLM

from gem_train.batch import TokenSequence
from gem_train.learning.attention import NAME
from gem_train.learning.head import Head, chunked_scores
from gem_train.learning.packing import pack
from gem_train.learning.recomputation import recomputed
from gem_train.learning.scoring import score_tokens

FIRST, OBSERVATION, REPLY = 128, 16, 24
"""Ids of the first observation, of the others, and of a reply."""
EPISODE_TURNS = 32
"""Turns of all episodes of a case together."""


def make_model():
    """A Qwen3 of 0.75 million random weights."""
    config = Qwen3Config(
        vocab_size=512,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        dtype="float32",
    )
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(config).eval()
    model.set_attn_implementation(NAME)
    return model


def episode(rng, turns):
    """A sequence of random ids."""
    turn = [np.full(FIRST - OBSERVATION, -1)]
    for index in range(turns):
        turn += [np.full(OBSERVATION, -1), np.full(REPLY, index)]
    turn = np.concatenate(turn)
    return TokenSequence(rng.integers(1, 512, len(turn)), turn >= 0, np.zeros(len(turn), np.float32), turn)


def sample_per_turn(sequence):
    """What a trainer without packed episodes makes of it."""
    for index in range(sequence.turn.max() + 1):
        end = int(np.flatnonzero(sequence.turn == index)[-1]) + 1
        arrays = (sequence.ids, sequence.sampled, sequence.logprobs, sequence.turn)
        cut = TokenSequence(*(array[:end] for array in arrays))
        yield replace(cut, sampled=cut.turn == index)


def update(model, sequences, tokens=8192):
    """CPU seconds of the gradient of all log-probabilities, which is left in the model."""
    packed = pack(list(sequences), tokens)
    model.zero_grad()
    start = time.process_time()
    for part in packed:
        score_tokens(model, part, 1.0).logprobs.sum().backward()
    return time.process_time() - start


def gradient(model):
    """Of all weights."""
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


def peak(function):
    """The most bytes that were allocated at once."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        function()
    allocated = most = 0
    events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        allocated += event.nbytes()
        most = max(most, allocated)
    return most


def packed_episodes(model, turns, repeats):
    """Seconds of both sides by the number of turns, and how far their gradients are apart."""
    rows = []
    rng = np.random.default_rng(0)
    for number in turns:
        whole = [episode(rng, number) for _ in range(max(1, EPISODE_TURNS // number))]
        samples = [sample for one in whole for sample in sample_per_turn(one)]
        update(model, whole)
        taken = [
            (update(model, whole), gradient(model), update(model, samples), gradient(model)) for _ in range(repeats)
        ]
        _, one, _, other = taken[0]
        packed, separate = min(each[0] for each in taken), min(each[2] for each in taken)
        rows.append(
            {
                "turns": number,
                "episodes": len(whole),
                "ids": sum(map(len, whole)),
                "ids_of_samples": sum(map(len, samples)),
                "packed_seconds": packed,
                "samples_seconds": separate,
                "times": separate / packed,
                "gradient_difference": float((one - other).abs().max() / one.abs().max()),
            }
        )
    return rows


def short_sequences(model, repeats):
    """Seconds by ids of a row, without and with a dense mask."""
    rng = np.random.default_rng(0)
    sequences = [replace(episode(rng, 2), sampled=np.arange(176) % 2 == 1) for _ in range(120)]
    lengths = rng.integers(40, 91, len(sequences))
    sequences = [
        TokenSequence(*(array[:length] for array in (one.ids, one.sampled, one.logprobs, one.turn)))
        for one, length in zip(sequences, lengths, strict=True)
    ]
    rows = {tokens: {"row": tokens} for tokens in (128, 256, 512, 1024, 2048, 8192)}
    for implementation, name in ((NAME, "seconds"), ("sdpa", "dense_seconds")):
        model.set_attn_implementation(implementation)
        for _ in range(repeats if implementation == NAME else 1):
            for tokens, row in rows.items():
                if implementation == NAME or tokens <= 8192:
                    row[name] = min(row.get(name, float("inf")), update(model, sequences, tokens))
    model.set_attn_implementation(NAME)
    return list(rows.values())


def logits():
    """Peaks, in the size of the logits of a chunk."""
    vocabulary, size, tokens, chunk = 152_064, 64, 128, 32
    hidden = torch.randn(tokens, size, requires_grad=True)
    weight = torch.randn(vocabulary, size).mul_(0.1).requires_grad_()
    chosen = torch.randint(vocabulary, (tokens,))

    def full():
        logprobs = (hidden @ weight.T).log_softmax(-1)
        entropy = -(logprobs.exp() * logprobs).sum(-1)
        (logprobs.gather(-1, chosen[:, None]).sum() + entropy.sum()).backward()

    def chunks(entropy):
        found = chunked_scores(hidden, Head(weight, None), chosen, 1.0, entropy=entropy, tokens=chunk)
        sum(part.sum() for part in found if part is not None).backward()

    cases = {
        "all at once, with entropy": full,
        "chunks": lambda: chunks(False),
        "chunks, with entropy": lambda: chunks(True),
    }
    found = {}
    for name, function in cases.items():
        hidden.grad = weight.grad = None
        found[name] = (peak(function) - weight.nbytes) / (chunk * vocabulary * 4)
    return found


def activations(model):
    """Seconds and bytes of an update, with activations kept and computed again."""
    packed = pack([episode(np.random.default_rng(0), 48)], 8192)
    found, gradients = {}, []
    for again in (False, True):

        def step(again=again):
            with recomputed(model, enabled=again):
                scores = score_tokens(model, packed[0], 1.0)
            scores.logprobs.sum().backward()

        times = []
        for _ in range(2):
            model.zero_grad()
            start = time.process_time()
            step()
            times.append(time.process_time() - start)
        gradients.append(gradient(model))
        model.zero_grad()
        bytes_of_gradients = sum(weight.nbytes for weight in model.parameters())
        found["again" if again else "kept"] = {"seconds": min(times), "bytes": peak(step) - bytes_of_gradients}
    kept, again = gradients
    found["gradient_difference"] = float((kept - again).abs().max() / kept.abs().max())
    return found


def run(arguments):
    """Every number."""
    torch.set_num_threads(1)
    model = make_model()
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "turns": packed_episodes(model, arguments.turns, arguments.repeats),
        "rows": short_sequences(model, arguments.repeats),
        "logits": logits(),
        "activations": activations(model),
    }


def table(report):
    """The report as Markdown."""
    lines = [
        "| turns | episodes | ids | ids of samples per turn | s | s of samples per turn | times as fast | gradient |"
    ]
    lines.append("|--:|--:|--:|--:|--:|--:|--:|--:|")
    lines += [
        f"| {row['turns']} | {row['episodes']} | {row['ids']:,} | {row['ids_of_samples']:,} "
        f"| {row['packed_seconds']:.2f} | {row['samples_seconds']:.2f} | {row['times']:.1f} "
        f"| {row['gradient_difference']:.0e} |"
        for row in report["turns"]
    ]
    lines += ["", "| ids of a row | s | s with a dense mask |", "|--:|--:|--:|"]
    for row in report["rows"]:
        dense = f"{row['dense_seconds']:.2f}" if "dense_seconds" in row else ""
        lines.append(f"| {row['row']:,} | {row['seconds']:.2f} | {dense} |")
    lines += ["", "| log-probabilities | peak, in the logits of a chunk |", "|---|--:|"]
    lines += [f"| {name} | {value:.2f} |" for name, value in report["logits"].items()]
    lines += ["", "| activations | s | MiB |", "|---|--:|--:|"]
    for name in ("kept", "again"):
        row = report["activations"][name]
        lines.append(f"| {name} | {row['seconds']:.2f} | {row['bytes'] / 2**20:.0f} |")
    return "\n".join(lines)


def main():
    """Measure and print."""
    parser = options("What an update costs.", repeats=3)
    parser.add_argument("--turns", type=lambda text: [int(one) for one in text.split(",")], default=[4, 8, 16, 32])
    arguments = parser.parse_args()
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
