"""GRPO by TRL on an environment of GEM: python trl_grpo.py MODEL [--env ID] [--updates N] [--seed N] [--out FOLDER]

MODEL is a folder with a model, or a name on the Hugging Face hub. What this was run with: trl-constraints.txt. The
defaults suit the tiny model of docs/frameworks/trl.md; a large one needs a much smaller --lr and longer replies.
"""

import argparse
import json
import time
from pathlib import Path

from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from gem_interop.trl import Play

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--env", default="game:GuessTheNumber-v0-easy")
parser.add_argument("--updates", type=int, default=320, help="four for each batch of episodes")
parser.add_argument("--group", type=int, default=8, help="episodes from the same start")
parser.add_argument("--groups", type=int, default=16, help="starts in a batch; an even number")
parser.add_argument("--lr", type=float, default=1.5e-3)
parser.add_argument("--entropy", type=float, default=0.003)
parser.add_argument("--max-new-tokens", type=int, default=6)
parser.add_argument("--evaluate", type=int, default=1024, help="episodes before training, and after it")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, default=Path("trl-run"))
given = parser.parse_args()

play = Play(given.env, max_new_tokens=given.max_new_tokens, score="success")
trainer = GRPOTrainer(
    model=AutoModelForCausalLM.from_pretrained(given.model, dtype="float32"),
    processing_class=AutoTokenizer.from_pretrained(given.model, padding_side="left"),
    args=GRPOConfig(
        output_dir=str(given.out),
        max_steps=given.updates,
        # A batch is played at once, and learned from in two halves, twice.
        per_device_train_batch_size=given.group * given.groups // 2,
        steps_per_generation=2,
        num_iterations=2,
        num_generations=given.group,
        # An episode weighs the same however long it is. By tokens, as by default, those that are lost would weigh most:
        # they are the longest here.
        loss_type="grpo",
        scale_rewards="none",
        learning_rate=given.lr,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=20,
        adam_beta2=0.95,
        entropy_coef=given.entropy,
        beta=0.0,
        temperature=1.0,
        bf16=False,
        gradient_checkpointing=False,
        per_device_eval_batch_size=512,
        num_generations_eval=1,
        seed=given.seed,
        report_to="none",
        save_strategy="no",
        logging_steps=20,
        disable_tqdm=True,
    ),
    train_dataset=Dataset.from_list(play.rows(given.updates // 4 * given.groups, given.seed)),
    eval_dataset=Dataset.from_list(play.rows(given.evaluate, 1_000_000)),
    rollout_func=play,
    reward_funcs=play.reward,
)
started = time.process_time()
before = trainer.evaluate()["eval_gem/success"]
trainer.train()
after = trainer.evaluate()["eval_gem/success"]
trainer.save_model(str(given.out))
play.close()
summary = {"before": before, "after": after, "cpu_seconds": round(time.process_time() - started)}
curve = [[line["step"], line["gem/success"]] for line in trainer.state.log_history if "gem/success" in line]
(given.out / "curve.json").write_text(json.dumps({**summary, "success": curve}))
print(json.dumps(summary))
