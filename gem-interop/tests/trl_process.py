"""One of several processes of TRL's trainer, started by test_trl_processes: writes what it saw into a folder."""

import json
import os
import sys
from pathlib import Path

from datasets import Dataset
from samples import tiny_model, tokenizer
from trl import GRPOConfig, GRPOTrainer

from gem_interop.trl import Play

out = Path(sys.argv[1])
play = Play("interop_envs:Talk", max_new_tokens=6)


class Watched(GRPOTrainer):
    """Keeps the batch of the loss, without its order being shuffled."""

    def _generate_and_score_completions(self, inputs):
        self.batch = super()._generate_and_score_completions(inputs)
        return self.batch


trainer = Watched(
    model=tiny_model(),
    processing_class=tokenizer(),
    args=GRPOConfig(
        output_dir=str(out),
        per_device_train_batch_size=12,
        num_generations=8,
        max_steps=1,
        learning_rate=1e-3,
        scale_rewards="none",
        bf16=False,
        gradient_checkpointing=False,
        use_cpu=True,
        ddp_backend="gloo",
        dataloader_pin_memory=False,
        report_to="none",
        save_strategy="no",
        logging_steps=1,
    ),
    train_dataset=Dataset.from_list(play.rows(4)),
    rollout_func=play,
    reward_funcs=play.reward,
)
trainer.train()
play.close()
seen = {
    "seeds": [result.episode.seed for result in play.results],
    "returns": [result.total_reward for result in play.results],
    "advantages": trainer.batch["advantages"].tolist(),
    "failed": [line["gem/failed"] for line in trainer.state.log_history if "gem/failed" in line],
    "weights": [each.double().sum().item() for each in trainer.accelerator.unwrap_model(trainer.model).parameters()],
}
(out / f"{os.environ['RANK']}.json").write_text(json.dumps(seen))
trainer.accelerator.end_training()  # without it, a thread of Gloo may abort the process at its end
