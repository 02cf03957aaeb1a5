"""Episodes in verl's own trainer: what is trained on is what was read and said, and nothing else."""

import pickle

import pytest
import ray
import transfer_queue
import verl_cpu  # first: it makes verl use the CPU
from agreement import (
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from omegaconf import OmegaConf
from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl_parts import GROUP, PROMPTS, STEPS, Watched, environment, settings

pytestmark = pytest.mark.filterwarnings("default")  # verl's own


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two steps of verl's synchronous trainer, as its TaskRunner runs them."""
    folder = tmp_path_factory.mktemp("verl")
    (folder / "results").mkdir()
    config = settings(folder, max_new_tokens=6, retries=0)
    OmegaConf.resolve(config)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(folder / "results").items():
            patch.setenv(name, value)
        # verl asks Ray for a GPU, which Ray counts and does not look at.
        ray.init(num_cpus=32, num_gpus=1, include_dashboard=False, log_to_driver=False)
        try:
            transfer_queue.init(config.transfer_queue)
            trainer = Watched(config)
            trainer.init()
            manager = AgentLoopManagerTQ.create(
                config=config,
                llm_client=trainer.get_llm_client(),
                teacher_client=trainer.get_teacher_client(),
                reward_loop_worker_handles=trainer.get_reward_handles(),
            )
            trainer.fit(manager)
            transfer_queue.close()
        finally:
            ray.shutdown()
    return trainer, [pickle.loads(path.read_bytes()) for path in sorted((folder / "results").iterdir())]


def test_what_was_read_and_said_is_trained_and_a_failed_episode_changes_nothing(trained):
    trainer, results = trained
    pairs = assert_what_was_read_and_said_is_trained(trainer.seen, results)
    assert_failed_episodes_are_left_out_of_their_groups(pairs)

    failed = sum(result.failure is not None for result in results)
    assert len(results) == PROMPTS * GROUP * STEPS
    assert 0 < failed == len(results) - len(pairs)
    used = [id(row) for row, _ in pairs]
    padding = [row for row in trainer.seen if id(row) not in used]
    assert len(padding) == trainer.padding
    assert all((sum(row.mask), row.advantage) == (0, 0.0) for row in padding)
    assert all(metrics["actor/grad_norm"] > 0 for metrics in trainer.metrics)


def test_returns_are_those_of_a_local_replay_and_groups_start_alike(trained):
    _, results = trained
    assert_returns_are_those_of_a_replay(results)
    seeds = [result.episode.seed for result in results]
    assert {seeds.count(seed) for seed in seeds} == {GROUP}
