"""GRPO by TRL on an environment of GEM: python trl_grpo.py MODEL [--env ID] [--updates N] [--seed N] [--out FOLDER]

MODEL is a folder with a model, or a name on the Hugging Face hub. What this was run with: trl-requirements.txt.
"""

import argparse
import json
from pathlib import Path

from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from gem_interop.trl import Play

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--env", default="game:GuessTheNumber-v0-easy")
parser.add_argument("--updates", type=int, default=320)
parser.add_argument("--group", type=int, default=8, help="episodes from the same start")
parser.add_argument("--groups", type=int, default=4, help="starts in an update")
parser.add_argument("--lr", type=float, default=3e-4)
parser.add_argument("--entropy", type=float, default=0.003)
parser.add_argument("--max-new-tokens", type=int, default=6)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, default=Path("trl-run"))
given = parser.parse_args()


class Curve(TrainerCallback):
    """Keeps the success of every update."""

    def __init__(self, play):
        self.play, self.success, self.failed = play, [], 0

    def on_step_end(self, args, state, control, **_):
        kept = [result for result in self.play.results if result.failure is None]
        self.failed += len(self.play.results) - len(kept)
        self.success.append(sum(result.success for result in kept) / max(1, len(kept)))
        if len(self.success) % 20 == 0:
            print(f"update {len(self.success)}: success {sum(self.success[-20:]) / 20:.3f}", flush=True)


play = Play(given.env, max_new_tokens=given.max_new_tokens, score="success")
curve = Curve(play)
trainer = GRPOTrainer(
    model=AutoModelForCausalLM.from_pretrained(given.model, dtype="float32"),
    processing_class=AutoTokenizer.from_pretrained(given.model, padding_side="left"),
    args=GRPOConfig(
        output_dir=str(given.out),
        max_steps=given.updates,
        learning_rate=given.lr,
        lr_scheduler_type="constant",
        per_device_train_batch_size=given.group * given.groups,
        num_generations=given.group,
        entropy_coef=given.entropy,
        beta=0.0,
        temperature=1.0,
        bf16=False,
        seed=given.seed,
        gradient_checkpointing=False,
        report_to="none",
        save_strategy="no",
        logging_strategy="no",
    ),
    train_dataset=Dataset.from_list(play.rows(given.updates * given.groups, given.seed)),
    rollout_func=play,
    reward_funcs=play.reward,
    callbacks=[curve],
)
trainer.train()
trainer.save_model(str(given.out))
play.close()
first, last = (sum(part) / len(part) for part in (curve.success[:20], curve.success[-20:]))
summary = {"updates": len(curve.success), "failed": curve.failed, "first": first, "last": last}
(given.out / "curve.json").write_text(json.dumps({**summary, "success": curve.success}))
print(json.dumps(summary))
