"""Episodes in tinker-cookbook's own training loop, against SkyRL's server: it trains on what was read and said."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from agreement import (
    Trained,
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from samples import tiny_model, tokenizer
from tinker_cookbook.rl import train

from gem_interop.session import Result
from gem_interop.tinker import WITHOUT_FAILED, GemDatasetBuilder, GemGroup

pytestmark = pytest.mark.filterwarnings("default")  # the frameworks' own
EXAMPLES = Path(__file__).parents[2] / "examples" / "frameworks"
SERVER = EXAMPLES / "tinker_skyrl_server.py"
STEPS, GROUPS, GROUP = 40, 2, 4
# Batches of fixed sizes, and little optimisation: JAX compiles for each shape.
BACKEND = {
    "max_lora_adapters": 3,
    "max_lora_rank": 8,
    "sample_max_num_sequences": GROUPS * GROUP,
    "train_micro_batch_size": 1,
}
XLA = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
COMPILING = 1200  # seconds, at most


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tiny_model().save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        SERVER,
        "--base-model",
        model,
        "--backend",
        "jax",
        "--backend-config",
        json.dumps(BACKEND),
    ]
    command += ["--database-url", f"sqlite:///{folder}/tinker.db", "--checkpoints-base", folder, "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            list(map(str, command)), stdout=log, stderr=log, env={**os.environ, "XLA_FLAGS": XLA}
        )
    until = time.monotonic() + COMPILING
    try:
        while True:
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()  # it ends its engine
        process.wait(60)


@pytest.fixture(scope="module")
def run(server, model, tmp_path_factory):
    """What the loop trains on in each of its steps, and the episodes that it keeps."""
    steps, results = [], []
    train_step = train.train_step

    async def watched(**settings):
        logprobs = await train_step(**settings)
        steps.append([row(datum, again) for datum, again in zip(settings["data_D"], logprobs, strict=True)])
        return logprobs

    async def keep(self, trajectory_group, env_group):
        results.extend(sampled(env.result, each) for env, each in zip(env_group, trajectory_group, strict=True))
        return [(0.0, {})] * len(env_group)

    log = tmp_path_factory.mktemp("run")
    config = train.Config(
        recipe_name="gem",
        model_name=str(model),
        base_url=server,
        dataset_builder=GemDatasetBuilder(
            env="interop_envs:Talk",
            model_name=str(model),
            batch_size=GROUPS,
            group_size=GROUP,
            batches=STEPS,
            max_new_tokens=6,
            max_context=384,
        ),
        rollout_error_tolerance=WITHOUT_FAILED,
        learning_rate=1e-2,
        lora_rank=8,
        max_tokens=6,
        log_path=str(log),
        eval_every=0,
        save_every=0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "train_step", watched)
        patch.setattr(GemGroup, "compute_group_rewards", keep)
        patch.setenv("TINKER_API_KEY", "tml-none")
        asyncio.run(train.main(config))
    store = train.checkpoint_utils.get_last_checkpoint(str(log), required_key="sampler_path")
    assert store is not None
    assert store.batch == STEPS
    return steps, results, list(map(json.loads, (log / "metrics.jsonl").read_text().splitlines()))


def row(datum, logprobs) -> Trained:
    """A datum of the cookbook: the ids but the last, targets that are the ids but the first, and a number for each."""
    fields = {name: tensor.to_torch().tolist() for name, tensor in datum.loss_fn_inputs.items()}
    read = datum.model_input.to_ints()
    assert read[1:] == fields["target_tokens"][:-1]
    mask = list(map(int, fields["mask"]))
    first = mask.index(1)
    [advantage] = {value for value, on in zip(fields["advantages"], mask, strict=True) if on}
    assert not any(value for value, on in zip(fields["advantages"], mask, strict=True) if not on)
    ids = [*read, fields["target_tokens"][-1]]
    return Trained(ids, mask[first:], logprobs.tolist()[first:], advantage)


def sampled(result, trajectory) -> Result:
    """The episode with the log-probabilities of its replies: the cookbook keeps them, and does not show an env."""
    turns = [
        replace(turn, completion=replace(turn.completion, logprobs=tuple(each.ac.logprobs)))
        for turn, each in zip(result.episode.turns, trajectory.transitions, strict=True)
    ]
    return Result(replace(result.episode, turns=tuple(turns)))


def test_the_whole_loop_trains_on_what_was_read_and_said(run):
    steps, results, metrics = run
    rows = [each for step in steps for each in step]
    pairs = assert_what_was_read_and_said_is_trained(rows, results)
    assert_failed_episodes_are_left_out_of_their_groups(pairs)
    assert_returns_are_those_of_a_replay(results)

    # Of a group that failed as a whole, the cookbook counts no episodes.
    failed = metrics[STEPS - 1]["rollout_errors/EpisodeFailed"]
    skipped = metrics[STEPS - 1]["rollout_errors/groups_skipped"]
    assert len(results) + failed + skipped * GROUP == STEPS * GROUPS * GROUP
    assert STEPS >= len(steps) >= STEPS - skipped // GROUPS
    assert failed > 0
    assert not any(result.failure for result in results)
    assert len(pairs) == len(rows) == len(results)


def test_the_first_step_has_the_log_probabilities_of_the_model_by_transformers(run, model):
    steps, _, _ = run
    local = tiny_model().eval()
    for each in steps[0]:
        with torch.no_grad():
            scores = local(torch.tensor([each.ids])).logits[0, :-1].log_softmax(-1)
        logprobs = scores.gather(-1, torch.tensor(each.ids)[1:, None])[-len(each.mask) :, 0].tolist()
        assert logprobs == pytest.approx(each.logprobs, abs=2e-5, rel=0)
    # And the weights do change.
    assert any(step["skyrl.ai/grad_norm"] > 0 for step in run[2][:STEPS])


def launch(server, model, out, **sizes):
    """The launch file, on two environments."""
    command = [sys.executable, EXAMPLES / "tinker_rl.py", model, "--base-url", server, "--out", out]
    command += ["--env", "game:GuessTheNumber-v0-easy", "--env", "core:Echo-v0"]
    sizes = {"steps": 1, "groups": GROUPS, "group": GROUP, "max_new_tokens": 6, "max_context": 384, "rank": 8} | sizes
    return subprocess.run(
        [*map(str, command), *(f"--{name.replace('_', '-')}={value}" for name, value in sizes.items())],
        env={**os.environ, "TINKER_API_KEY": "tml-any"},
        capture_output=True,
        text=True,
        timeout=COMPILING,
        check=False,
    )


def test_the_launch_file_trains_as_the_page_shows_it(server, model, tmp_path):
    done = launch(server, model, tmp_path / "run")
    assert done.returncode == 0, done.stderr[-3000:]
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["steps"], summary["failed"], summary["groups_left_out"]) == (1, 0, 0)
    assert 0 <= summary["success"] <= 1
    steps = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    for id in ("game:GuessTheNumber-v0-easy", "core:Echo-v0"):
        assert f"env/{id}/reward/total" in steps[0]


def test_the_launch_file_says_that_no_start_fits(server, model, tmp_path):
    done = launch(server, model, tmp_path / "run", max_context=8)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "no episode was trained on: every group was left out, for the reasons above"
    assert "leaves no room for a reply in max_context=8" in done.stderr + done.stdout
