"""What the tests of verl share: its settings for a tiny model on a CPU, and what it trains on, kept."""

import os
import pickle
import sys
from pathlib import Path
from uuid import uuid4

import pytest
import ray
import transfer_queue as tq
import verl_cpu  # first: it makes verl use the CPU
from agreement import Trained
from datasets import Dataset
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf
from samples import tiny_model, tokenizer
from verl.experimental.agent_loop import AgentLoopWorker
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.protocol import DataProto
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories as of_outputs
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput

from gem_interop.verl import GemAgentLoop, rows

# So that verl is imported after verl_cpu.
__all__ = [
    "AgentLoopWorker",
    "DataProto",
    "DictConfigWrap",
    "RLHFDataset",
    "TokenOutput",
    "compute_advantage",
    "of_outputs",
]

PROMPTS, GROUP, STEPS = 10, 4, 2


# A tiny model on a CPU, in float32, with the server of verl_cpu, in as few processes as verl allows.
CPU = [
    "actor_rollout_ref.model.use_remove_padding=false",
    "actor_rollout_ref.model.enable_gradient_checkpointing=false",
    "+actor_rollout_ref.model.override_config.attn_implementation=sdpa",
    "actor_rollout_ref.actor.strategy=fsdp2",
    "actor_rollout_ref.actor.fsdp_config.use_torch_compile=false",
    "+actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype=fp32",
    "actor_rollout_ref.rollout.name=tiny",
    "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
    "actor_rollout_ref.rollout.temperature=0.8",
    "actor_rollout_ref.rollout.agent.num_workers=1",
    "data.dataloader_num_workers=0",
    "reward.num_workers=1",
    "transfer_queue.backend.SimpleStorage.num_data_storage_units=1",
    "trainer.device=cpu",
    "trainer.n_gpus_per_node=1",
    "trainer.save_freq=-1",
    "trainer.test_freq=-1",
    "trainer.resume_mode=disable",
]


class Kept(GemAgentLoop):
    """Leaves the result of each episode in a folder: verl plays in a process of its own."""

    def _outputs(self, result, *more):
        Path(os.environ["GEM_RESULTS"], uuid4().hex).write_bytes(pickle.dumps(result))
        return super()._outputs(result, *more)


class Watched(PPOTrainerSync):
    """Keeps what the loss is computed from, before the weights change."""

    def __init__(self, config):
        super().__init__(config)
        self.seen, self.rewards, self.metrics, self.padding = [], [], [], 0

    def _update_actor(self, batch, metrics):
        names = ["prompts", "responses", "response_mask", "old_log_probs", "advantages", "rm_scores"]
        data = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=names)
        for number, tag in enumerate(batch.tags):
            prompt, response, mask, logprobs, advantages, rewards = (data[name][number].tolist() for name in names)
            advantage = next((each for each, on in zip(advantages, mask, strict=True) if on), 0.0)
            self.seen.append(Trained([*prompt, *response], mask, logprobs, advantage))
            self.rewards.append(sum(rewards))
            self.padding += tag.get("is_padding", False)
        batch = super()._update_actor(batch, metrics)
        self.metrics.append(metrics)
        return batch


def settings(folder, *more, **loop):
    """verl's own, with a tiny model, and the agent loop file with these settings of the loop."""
    model = folder / "model"
    tiny_model().save_pretrained(model)
    tokenizer().save_pretrained(model)
    Dataset.from_list(rows("interop_envs:Talk", PROMPTS * STEPS)).to_parquet(folder / "rows.parquet")
    lines = [f"  {name}: {value}" for name, value in loop.items()]
    (folder / "loop.yaml").write_text("\n".join(["- name: gem", "  _target_: verl_parts.Kept", *lines]))
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose(
            "ppo_trainer",
            [
                f"data.train_files={folder}/rows.parquet",
                f"data.val_files={folder}/rows.parquet",
                f"data.train_batch_size={PROMPTS}",
                "data.shuffle=false",
                "data.filter_overlong_prompts=false",
                "data.max_prompt_length=200",
                "data.max_response_length=200",
                f"actor_rollout_ref.model.path={model}",
                "actor_rollout_ref.actor.optim.lr=1e-2",
                f"actor_rollout_ref.actor.ppo_mini_batch_size={PROMPTS}",
                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8",
                "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8",
                f"actor_rollout_ref.rollout.n={GROUP}",
                f"actor_rollout_ref.rollout.agent.agent_loop_config_path={folder}/loop.yaml",
                "algorithm.adv_estimator=grpo",
                "transfer_queue.enable=true",
                f"trainer.total_training_steps={STEPS}",
                "trainer.total_epochs=1",
                "trainer.val_before_train=false",
                "trainer.logger=[]",
                f"trainer.default_local_dir={folder}/out",
                *CPU,
                *more,
            ],
        )


def environment(results):
    """With which Ray starts verl's processes."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "GEM_RESULTS": str(results),
        "OMP_NUM_THREADS": "1",
        "TRANSFER_QUEUE_ENABLE": "1",
        "VERL_PLATFORM": "cpu",
        "VERL_USE_EXTERNAL_MODULES": verl_cpu.__name__,
    }


def train(config, results):
    """Train as verl's TaskRunner does; returns the trainer, and the results of the episodes."""
    OmegaConf.resolve(config)
    results.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(results).items():
            patch.setenv(name, value)
        # verl asks Ray for a GPU, which Ray counts and does not look for.
        ray.init(num_cpus=32, num_gpus=1, include_dashboard=False, log_to_driver=False)
        try:
            tq.init(config.transfer_queue)
            trainer = Watched(config)
            trainer.init()
            manager = AgentLoopManagerTQ.create(
                config=config,
                llm_client=trainer.get_llm_client(),
                teacher_client=trainer.get_teacher_client(),
                reward_loop_worker_handles=trainer.get_reward_handles(),
            )
            trainer.fit(manager)
            tq.close()
        finally:
            ray.shutdown()
    return trainer, [pickle.loads(path.read_bytes()) for path in sorted(results.iterdir())]
