"""Episodes in prime-rl's orchestrator, as far as it runs without a GPU: from the tasks to the loss of what was said.

Everything of prime-rl is real, from its source; vLLM is a tiny model behind its protocol.
"""

import asyncio
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from prime_rl.configs.orchestrator import OrchestratorConfig
from prime_rl.configs.trainer import DefaultLossConfig
from prime_rl.orchestrator.dispatcher import Dispatcher
from prime_rl.orchestrator.envs import TrainEnvs
from prime_rl.orchestrator.packing import BatchPacker
from prime_rl.orchestrator.train_sink import TrainSink
from prime_rl.orchestrator.train_source import TrainSource
from prime_rl.orchestrator.types import Policy, Progress
from prime_rl.orchestrator.utils import setup_policy_inference_pool
from token_server import token_server
from transformers import AutoTokenizer

import gem

pytestmark = pytest.mark.filterwarnings("default")  # those of prime-rl and verifiers
TALK, GROUP = "interop_envs:Talk", 4


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@contextmanager
def env_server(folder, port):
    """prime-rl's own command, which serves the plugin; `tasks` is not set, so there is no end of them."""
    config = folder / "env.toml"
    config.write_text(
        f'[env.taskset]\nid = "gem-verifiers"\nenv = "{TALK}"\n'
        f'[serve]\naddress = "tcp://127.0.0.1:{port}"\n[serve.pool]\ntype = "static"\nnum_workers = 1\n'
    )
    program = "from prime_rl.entrypoints.env_server import main; main()"
    with subprocess.Popen([sys.executable, "-c", program, "@", config], cwd=Path(__file__).parent) as server:
        try:
            yield
        finally:
            server.kill()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A batch of 96 traces, with what the engine was asked and what prime-rl packs of them."""
    folder = tmp_path_factory.mktemp("prime-rl")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    port = free_port()
    with token_server(str(folder / "tokenizer")) as engine, env_server(folder, port):
        source = {
            "name": "talk",
            "env": {"taskset": {"id": "gem-verifiers", "env": TALK}},
            "serve": {"address": f"tcp://127.0.0.1:{port}"},
            "sampling": {"max_completion_tokens": 6},
        }
        config = OrchestratorConfig(
            model={"name": engine.tokenizer, "client": {"base_url": engine.url}},
            renderer={"name": "prime-qwen3"},
            train={"source": [source], "filter_zero_advantages": False},
            group_size=GROUP,
            batch_size=96,
            seq_len=512,
        )
        batch, groups = asyncio.run(asyncio.wait_for(orchestrate(config), 300))
    return engine, batch, groups, BatchPacker(config).pack(batch.samples)[0]


async def orchestrate(config):
    """What prime-rl's orchestrator does until a batch is full."""
    tokenizer = AutoTokenizer.from_pretrained(config.model.name)
    _, pool = await setup_policy_inference_pool(config=config, tokenizer=tokenizer)
    envs = TrainEnvs(config.train.source, config.env_addresses, policy_pool=pool, renderer_config=config.renderer)
    await envs.start()
    progress, source = Progress(), TrainSource(envs)
    dispatcher = Dispatcher(
        train_envs=envs, eval_envs=None, train_source=source, eval_source=None, policy_pool=pool,
        policy=Policy(model_name=config.model.name), progress=progress, initial_max_inflight=16,
        max_inflight_ceiling=16, tasks_per_minute=None, max_off_policy_steps=8, run_id="run", run_name=None,
    )  # fmt: skip
    groups = []

    def seen(group):
        groups.append(group)
        return source.on_result(group)

    sink = TrainSink(
        config, tokenizer=tokenizer, train_envs=envs, mm_token_type_ids_mapping=None, progress=progress,
        batch_size=config.batch_size, token_batch_size=None, on_result=seen,
    )  # fmt: skip
    running, batch = asyncio.create_task(dispatcher.start()), None
    while batch is None:
        batch = await sink.add(await dispatcher.out_q.get())
    await dispatcher.stop()
    await running
    return batch, groups


def clean(groups):
    return [episode.traces[0] for group in groups for episode in group if episode.ok]


def asked_of(traces, engine):
    """The requests of each episode."""
    return [[each for each in engine.asked if each.session == trace.id] for trace in traces]


def test_samples_are_the_ids_that_were_read_and_sampled_with_their_probabilities(played):
    engine, batch, groups, _ = played
    episodes = {tuple(turns[-1].prompt + turns[-1].said): turns for turns in asked_of(clean(groups), engine)}
    assert len(batch.samples) == 96
    for sample in batch.samples:
        turns = episodes[tuple(sample.token_ids)]
        trained = [number for number, mask in enumerate(sample.mask) if mask]
        assert [sample.token_ids[number] for number in trained] == [id for turn in turns for id in turn.said]
        assert [sample.logprobs[number] for number in trained] == [lp for turn in turns for lp in turn.logprobs]


def test_returns_are_those_of_a_replay_and_advantages_compare_those_of_a_group_that_did_not_fail(played):
    for group in played[2]:
        assert len(group) == GROUP
        traces = clean([group])
        for trace in traces:
            env = gem.make(TALK)
            env.reset(seed=trace.info["gem"]["seed"])
            rewards = [env.step(message.content).reward for message in trace.assistant_messages]
            assert trace.reward == pytest.approx(sum(rewards))
        assert len({trace.info["gem"]["seed"] for trace in traces}) <= 1
        mean = sum(trace.reward for trace in traces) / max(len(traces), 1)
        for trace in traces:
            advantages = {value for node in trace.nodes for value in node.advantages or []}
            assert list(advantages) == pytest.approx([trace.reward - mean], abs=1e-6)


def test_a_failed_episode_is_in_no_sample_and_has_no_advantage(played):
    engine, batch, groups, _ = played
    failed = [episode.traces[0] for group in groups for episode in group if not episode.ok]
    assert failed
    trained = {tuple(sample.token_ids) for sample in batch.samples}
    for trace, turns in zip(failed, asked_of(failed, engine), strict=True):
        assert (trace.rewards, trace.metrics) == ({"return": None}, {})
        assert "OSError: the env is broken" in trace.last_error.message
        assert not any(node.advantages for node in trace.nodes)
        assert tuple(turns[-1].prompt + turns[-1].said) not in trained


def test_a_step_on_the_loss_of_prime_rl_makes_what_was_better_likelier(played):
    from prime_rl.trainer.rl.loss import compute_loss, setup_rl_loss_fn  # warns while it is imported

    model, batches = played[0].model, played[3]
    assert len(batches) > 1  # episodes are packed

    def scores(batch):
        """The log-probability of each id of a pack, 0 for the first of each sample."""
        parts = []
        for ids in torch.tensor([batch.input_ids]).split(batch.sequence_lengths, 1):
            logits = model(ids).logits[0, :-1].float().log_softmax(-1)
            parts.append(torch.cat([torch.zeros(1), logits.gather(-1, ids[0, 1:, None])[:, 0]]))
        return parts

    def gain():
        with torch.no_grad():
            return sum(float(torch.cat(scores(batch)) @ torch.tensor(batch.advantages)) for batch in batches)

    before, trained = gain(), sum(sum(batch.loss_mask) for batch in batches)
    for batch in batches:
        kept, sampled = torch.tensor(batch.loss_mask), torch.tensor(batch.inference_logprobs)
        advantages, again = torch.tensor(batch.advantages), scores(batch)
        assert (torch.cat(again) - sampled)[kept].abs().max() < 2e-5
        assert advantages[~kept].abs().max() == 0
        parts = [each.split(batch.sequence_lengths) for each in (sampled, advantages, kept)]
        loss, metrics = compute_loss(
            again, parts[0], None, *parts[1:], None, None, None, setup_rl_loss_fn(DefaultLossConfig()), trained, 1, 1
        )
        assert metrics["unmasked_mismatch_kl"].abs().max() < 1e-6
        loss.backward()
    torch.optim.SGD(model.parameters(), lr=0.01).step()
    assert gain() > before
