"""Tokens per second of vLLM in conversations: in the learner's process, as a server, and vLLM alone.

Every side samples as many conversations of as many turns, observations and replies of as many ids. vLLM alone is
`vllm.LLM`, called once for each turn with all conversations, without log-probabilities.
"""

import itertools
import random
import time
from contextlib import closing

import torch
from gpu_day.envs import Talk
from gpu_day.place import Case, Row

import gem
from gem.rollout import rollout
from gem.vector import make_vec
from gem_train.batch import collate
from gem_train.chat.make import make_chat
from gem_train.config.sections import RolloutConfig
from gem_train.engines.settings import ServerSettings, VLLMSettings
from gem_train.learning.packing import pack
from gem_train.learning.scoring import score_tokens

PLAIN, SEEDED = "without seeds", "a seed per request"
ID = "bench:Talk-v0"


class Shape:
    """Of the conversations."""

    def __init__(self, place, short=False):
        self.conversations, self.turns, self.read, self.said = place.of((64, 4, 512, 512), (8, 2, 48, 32))
        if short:
            self.turns, self.said = 1, self.said // 4

    @property
    def tokens(self):
        """That are sampled."""
        return self.conversations * self.turns * self.said

    @property
    def longest(self):
        """Ids of a conversation, and some to spare for what the template adds."""
        return self.turns * (self.read + self.said + 16)


def _limits(place, shape):
    """Settings of vLLM that all sides share."""
    return {
        "max_model_len": max(shape.longest, 256),
        "gpu_memory_utilization": 0.5,
        "kv_cache_gib": place.of(None, 0.2),
    }


def alone(place, *, asynchronous):
    """vLLM's own offline interface."""
    import vllm  # pyright: ignore[reportMissingImports]

    shape = Shape(place)
    settings = _limits(place, shape)
    gib = settings.pop("kv_cache_gib")
    if place.cpu:
        settings |= {"kv_cache_memory_bytes": int(gib * 2**30), "enforce_eager": True}
        settings |= {"enable_chunked_prefill": False, "max_num_batched_tokens": 8192}
    llm = vllm.LLM(str(place.model("1.7B")), dtype=place.dtype, async_scheduling=asynchronous, **settings)
    rng = random.Random(0)

    def play(name, turns, said):
        ids = [[] for _ in range(shape.conversations)]
        start = time.perf_counter()
        for turn in range(turns):
            for each in ids:
                each.extend(rng.randrange(4, 260) for _ in range(shape.read))
            seeds = itertools.count(1000 * turn)
            asked = [
                vllm.SamplingParams(
                    temperature=1.0,
                    max_tokens=said,
                    ignore_eos=True,
                    detokenize=False,
                    seed=next(seeds) if name == SEEDED else None,
                )
                for _ in ids
            ]
            found = llm.generate([{"prompt_token_ids": each} for each in ids], asked, use_tqdm=False)
            for each, reply in zip(ids, found, strict=True):
                each.extend(reply.outputs[0].token_ids)
        return time.perf_counter() - start

    for name in (PLAIN, SEEDED):
        play(name, 1, place.of(32, 4))
        seconds = play(name, shape.turns, shape.said)
        yield Row(f"tokens per second, {name}", shape.tokens / seconds, "tokens/s")


def engine(place, size, make, settings, short=False):
    """What our engines do: a rollout, the gap, and new weights."""
    shape = Shape(place, short)
    loaded = place.load(size)
    chat = make_chat(loaded, RolloutConfig())
    before = used(place)
    with closing(
        make(loaded.model, chat, max_new_tokens=shape.said, settings=settings(shape), dtype=place.dtype)
    ) as sampler:
        held = used(place) - before
        gem.register(ID, Talk, ids=shape.read, max_turns=shape.turns)
        with make_vec(ID, shape.conversations) as envs:
            list(itertools.islice(rollout(sampler, envs, range(4)), 4))  # a warm-up
            start = time.perf_counter()
            episodes = list(rollout(sampler, envs, range(shape.conversations)))
            seconds = time.perf_counter() - start
        sampled = sum(len(turn.completion.ids) for each in episodes for turn in each.turns)
        yield Row("tokens per second", sampled / seconds, "tokens/s")
        yield Row("engine gap, mean", gap(place, loaded.model, episodes), "nats")
        yield from sleeping(place, sampler, held)
        step = itertools.count(1)
        loads = [place.seconds(lambda: sampler.load(loaded.model.named_parameters(), next(step))) for _ in range(3)]
        yield Row("sync", min(loads), "s")


def sleeping(place, sampler, held):
    """The memory that sleep frees, of what the engine held, and its seconds."""
    awake = used(place)
    yield Row("sleep", place.seconds(sampler.sleep), "s")
    if place.cpu:
        yield Row("sleep frees", "nothing on a CPU: vLLM's memory stays there")
    elif held:
        yield Row("memory of vLLM", held / 2**30, "GiB")
        yield Row("sleep frees", (awake - used(place)) / held)
    yield Row("wake", place.seconds(sampler.wake), "s")


def used(place):
    """Bytes of the GPU's memory in use, by all processes."""
    if place.cpu:
        return 0
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    free, whole = torch.cuda.mem_get_info()
    return whole - free


@torch.no_grad()
def gap(place, model, episodes):
    """The mean difference between the engine's log-probabilities and the learner's."""
    sequences = collate(episodes).sequences
    engine = torch.cat([torch.from_numpy(each.logprobs) for each in sequences])
    differences = []
    for row in pack(sequences, 16384):
        scores = score_tokens(model, row.to(place.device), 1.0)
        differences.append((scores.logprobs.float().cpu() - engine[row.index[row.sampled]]).abs())
    return float(torch.cat(differences).mean())


def in_process(place, size="1.7B", short=False):
    """The engine `vllm`."""
    from gem_train.engines.vllm.in_process import VLLMSampler

    yield from engine(place, size, VLLMSampler, lambda shape: VLLMSettings(sleep=True, **_limits(place, shape)), short)


def server(place):
    """The engine `vllm_server`, with a server on the same GPU if there is one only."""
    from gem_train.engines.vllm.connect import way_of
    from gem_train.engines.vllm.server import VLLMServerSampler

    def settings(shape):
        return ServerSettings(**_limits(place, shape))

    way = way_of(settings(Shape(place)), place.device)
    yield Row("way of the weights", {"nccl": "NCCL", "files": "files in memory; NCCL needs a second GPU"}[way])
    for row in engine(place, "1.7B", VLLMServerSampler, settings):
        if not row.what.startswith(("sleep", "wake", "memory")):  # it has none
            yield row


CASES = {
    "vLLM alone": Case(lambda place: alone(place, asynchronous=True), 240),
    "vLLM alone, async_scheduling off": Case(lambda place: alone(place, asynchronous=False), 240),
    "in process": Case(in_process, 300),
    "in process, 8B": Case(lambda place: in_process(place, "8B", short=True), 300, small=False),
    "server": Case(server, 300),
}
