"""The engine vllm_server, with a vLLM server on CPU: `make test-vllm` runs this.

The server is started as docs/engines.md says, with the weights of a small model that has learned to play.
"""

import copy
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel

from gem.chat.encoder import ChatEncoder
from gem.episode import Completion, Episode
from gem.errors import TrainingStopped
from gem.rollout import Start, rollout
from gem.rollout.named_policies import make_policy
from gem.rollout.transcript import Transcript
from gem.vector import Share, make_vec
from gem_train.config.sections import OptimConfig, WarmupConfig
from gem_train.engines.settings import ServerSettings
from gem_train.engines.vllm.server import VLLMServerSampler
from gem_train.models.tiny import tiny_model, tiny_tokenizer
from gem_train.sft.imitation import imitate

pytestmark = pytest.mark.timeout(1800)  # a server takes minutes to start on a machine that is busy

TEMPERATURE = 0.7
POSITIONS, LONGEST = 640, 24
CLOSE = 1e-3
IDS = ["game:GuessTheNumber-v0-easy", "game:Hangman-v0-easy", "sums:Sums"]
# A server stops at the text of a stop, and an engine at the end of its token, which in this tokenizer can be later in
# the format hermes.
ENVS = [Share(id, wrappers={"name": "tool_env", "format": "tags"} if id == "sums:Sums" else ()) for id in IDS]
EPISODES, TURNS = 6, 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learned from the expert's play, so that it says what the environments understand."""
    folder = tmp_path_factory.mktemp("model")
    with make_vec(ENVS, 12, info_methods=("expert_action",)) as envs:
        expert = make_policy("expert")
        tokenizer = tiny_tokenizer(rollout(expert, envs, [Start(seed, id) for id in IDS for seed in range(100, 108)]))
        model = tiny_model(tokenizer, 0, head_dim=32)
        warmup = WarmupConfig(steps=110, episodes=6, lr=4e-3)
        losses = list(imitate(model, ChatEncoder(tokenizer), expert, envs, warmup=warmup, optim=OptimConfig(), seed=0))
    assert losses[-1] < losses[0] / 2
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = (
        f"{sys.executable} -m vllm.entrypoints.openai.api_server --host 127.0.0.1 --port {port} --model {folder} "
        f"--served-model-name small --dtype float32 --max-model-len {POSITIONS} --enforce-eager --enable-scale-out "
        "--logprobs-mode processed_logprobs --no-enable-chunked-prefill --max-num-batched-tokens 8192 "
        "--worker-extension-cls gem_train.engines.vllm.weights.Extension --weight-transfer-config"
    ).split()
    environment = {"VLLM_SERVER_DEV_MODE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "TORCHDYNAMO_DISABLE": "1"}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, '{"backend": "gem-files"}'], stdout=output, stderr=output, env={**os.environ, **environment}
        )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"{url}/health", timeout=2).close()
                break
            except (urllib.error.URLError, OSError):
                assert process.poll() is None, log.read_text()[-3000:]
                time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def play(policy: dict[str, object]) -> list[Episode]:
    made = make_policy(policy)
    with make_vec(ENVS, 8, info_methods=made.info_methods) as envs:
        starts = [Start(seed, id) for id in IDS for seed in range(EPISODES)]
        episodes = list(rollout(made, envs, starts, max_turns=TURNS))
    made.close()
    return sorted(episodes, key=lambda episode: (episode.id, episode.seed))


@pytest.fixture(scope="module")
def played(folder: Path, server: str) -> dict[str, list[Episode]]:
    """The same episodes by three routes, before anything changes the server's weights."""
    policies = {
        "hf": {"name": "hf", "model": str(folder), "max_new_tokens": LONGEST},
        "vllm": {
            "name": "vllm", "model": str(folder), "max_new_tokens": LONGEST, "max_model_len": POSITIONS,
            "kv_cache_gib": 0.1,
        },
        "openai": {"name": "openai", "model": "small", "base_url": f"{server}/v1", "max_tokens": LONGEST},
    }  # fmt: skip
    return {name: play({**policy, "temperature": 0}) for name, policy in policies.items()}


@pytest.mark.parametrize("route", ["vllm", "openai"])
def test_greedy_play_of_a_model_gives_the_same_episodes_by_every_route(played, route):
    assert not [episode.failure for episode in played[route] if episode.failure]
    shown = {
        name: [
            (each.id, each.seed, [(turn.action, turn.reward, turn.completion.finish_reason) for turn in each.turns])
            for each in episodes
        ]
        for name, episodes in played.items()
    }
    assert shown[route] == shown["hf"]
    lengths = {
        episode.id: max(len(each.turns) for each in played["hf"] if each.id == episode.id) for episode in played["hf"]
    }
    assert all(length > 1 for length in lengths.values()), lengths
    assert len({turn.action for episode in played["hf"] for turn in episode.turns}) > 10


@pytest.fixture(scope="module")
def sampler(folder: Path, server: str, played: object) -> Iterator[VLLMServerSampler]:
    model = random_model(folder, 0)
    made = VLLMServerSampler(
        model,
        ChatEncoder(tiny_tokenizer([])),
        max_new_tokens=LONGEST,
        temperature=TEMPERATURE,
        settings=ServerSettings(urls=(server,), max_model_len=POSITIONS - 8),
    )
    yield made
    made.close()


@pytest.fixture
def model(folder: Path, sampler: VLLMServerSampler) -> PreTrainedModel:
    """What the sampler samples from at the start of a test."""
    model = random_model(folder, 1)
    sampler.load(model.named_parameters(), 0)
    sampler.reseed(0)
    return model


def random_model(folder: Path, seed: int) -> PreTrainedModel:
    return changed(tiny_model(tiny_tokenizer([]), seed, head_dim=32).eval(), seed)


def changed(model: PreTrainedModel, seed: int) -> PreTrainedModel:
    """A copy of `model` with other weights."""
    model = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    return model


def asked(text: str, seed: int = 0) -> Transcript:
    return Transcript(text, start=Start(seed, "core:Echo-v0"))


def answers(sampler: VLLMServerSampler, transcripts: dict[int, Transcript]) -> dict[int, Completion]:
    sampler.send(transcripts)
    found = sampler.recv(min_results=len(transcripts))
    for slot in transcripts:
        sampler.forget(slot)
    return found


@torch.no_grad()
def gaps(model: PreTrainedModel, completion: Completion) -> torch.Tensor:
    """How far each token's log-probability is from what transformers computes."""
    ids = [*completion.prompt_ids, *completion.ids]
    logits = model(torch.tensor([ids])).logits[0, len(completion.prompt_ids) - 1 : -1] / TEMPERATURE
    expected = logits.log_softmax(-1).gather(-1, torch.tensor(completion.ids)[:, None])[:, 0]
    return (torch.tensor(completion.logprobs) - expected).abs()


def long(length: int) -> str:
    return "".join(chr(33 + 7 * index % 90) for index in range(length))


def test_after_each_sync_a_server_samples_from_the_new_weights_alone(sampler, model):
    """Prompts longer than a block of the cache, which keeps what was computed with the old weights."""
    prompts = {slot: asked(long(5 + 150 * slot), slot) for slot in range(4)}
    for version in (1, 2):
        answers(sampler, prompts)
        model = changed(model, version)
        sampler.load(model.named_parameters(), version)
        found = answers(sampler, prompts)
        assert max(gaps(model, each).max() for each in found.values()) < CLOSE
        assert {each.weight_versions for each in found.values()} == {(version,)}


def test_weights_may_change_while_a_server_is_in_the_middle_of_replies(sampler, model):
    prompts = {slot: asked(long(5 + 9 * slot), slot) for slot in range(48)}
    sampler.max_new_tokens, longest = 300, sampler.max_new_tokens
    try:
        sampler.send(prompts)
    finally:
        sampler.max_new_tokens = longest
    first = sampler.recv(min_results=4)
    new = changed(model, 1)
    sampler.load(new.named_parameters(), 5)
    found = {**first, **sampler.recv(min_results=len(prompts) - len(first))}
    for slot in prompts:
        sampler.forget(slot)
    assert found.keys() == prompts.keys()
    both = [each for each in found.values() if each.weight_versions == (0, 5)]
    assert len(both) > 1
    for completion in found.values():
        of_the_old, of_the_new = gaps(model, completion) < CLOSE, gaps(new, completion) < CLOSE
        changes = int(of_the_old.long().cumprod(0).sum())
        assert of_the_new[changes:].all()
        assert (0 < changes < len(completion.ids)) == (completion in both)


def test_a_conversation_at_a_server_continues_and_one_that_is_forgotten_ends(sampler, model):
    transcript = asked(long(200))
    read: list[int] = []
    for turn in range(2):
        sampler.send({0: transcript, 1: asked(long(300), turn)})
        sampler.forget(1)
        [completion] = sampler.recv(min_results=2).values()
        whole = Completion("", (*read, *completion.prompt_ids), completion.ids, completion.logprobs)
        assert gaps(model, whole).max() < CLOSE
        read += [*completion.prompt_ids, *completion.ids]
        transcript.add(completion, 0.0, f"Turn {turn}.", {})
    sampler.forget(0)
    assert sampler.recv(timeout=0) == {}
    found = answers(sampler, {2: asked(long(POSITIONS - 20)), 3: asked(long(POSITIONS + 20))})
    assert found[2].finish_reason in ("context", "stop")
    assert found[3].out_of_context


def test_a_wait_without_results_ends_in_time_and_equal_seeds_give_equal_replies(sampler, model):
    prompts = {slot: asked(f"Number {slot}", slot) for slot in range(6)}
    sampler.send(prompts)
    found = dict(sampler.recv(min_results=6, timeout=0))
    while len(found) < 6:
        found |= sampler.recv(min_results=6 - len(found), timeout=0.01)
    for slot in prompts:
        sampler.forget(slot)
    again = answers(sampler, dict(reversed(prompts.items())))
    assert {slot: each.ids for slot, each in again.items()} == {slot: each.ids for slot, each in found.items()}
    assert len({each.ids for each in found.values()}) == 6


def test_weights_that_the_server_cannot_load_stop_the_run_with_the_reason(sampler, model):
    weights = dict(model.named_parameters())
    del weights["model.norm.weight"]
    with pytest.raises(
        TrainingStopped, match=r"weights that the trained model does not, such as 'model\.norm\.weight'"
    ):
        sampler.load(weights.items(), 1)
    sampler.load(model.named_parameters(), 2)
    [completion] = answers(sampler, {0: asked("And now?")}).values()
    assert gaps(model, completion).max() < CLOSE


def test_a_server_whose_learner_was_killed_in_a_sync_serves_the_next(sampler, model, server):
    call = sampler._fleet._replicas[0].client.call
    call("/pause?mode=keep")
    call("/start_weight_update")
    settings = ServerSettings(urls=(server,), max_model_len=POSITIONS)
    next_one = VLLMServerSampler(
        model, sampler.chat, max_new_tokens=LONGEST, temperature=TEMPERATURE, settings=settings
    )
    [completion] = answers(next_one, {0: asked("And now?")}).values()
    next_one.close()
    assert gaps(model, completion).max() < CLOSE
