"""GRPO by TRL on environments of GEM: python trl_grpo.py MODEL [--env ID …] [--steps N] [--seed N] [--out FOLDER] …

MODEL is a folder with a model, or a name on the Hugging Face hub. What this was run with: trl-constraints.txt. The tiny
model of docs/frameworks/trl.md needs other settings than the defaults, which are there.
"""

import json
import time

from gem_interop.launching import arguments, check_model, count, named_if_missing

limits = ("max_new_tokens", "max_context", "score")
parser = arguments(__doc__, "steps", "groups", "group", *limits, "lr", out="trl-run")
parser.add_argument("model")
parser.add_argument("--entropy", type=float, default=0.003, help="weight of the entropy in the loss")
parser.add_argument("--evaluate", type=count, default=512, help="episodes before training, and after it")
given = parser.parse_args()
if given.groups % 2:
    parser.error("--groups must be even: a batch is learned from in two halves")

with named_if_missing():
    from gem_interop.trl import Play
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

check_model(given.model)
play = Play(given.env, **{name: getattr(given, name) for name in limits})
trainer = GRPOTrainer(
    model=AutoModelForCausalLM.from_pretrained(given.model, dtype="float32"),
    processing_class=AutoTokenizer.from_pretrained(given.model, padding_side="left"),
    args=GRPOConfig(
        output_dir=str(given.out),
        # A batch is played at once, and learned from in two halves, twice: in four updates.
        max_steps=4 * given.steps,
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
    train_dataset=Dataset.from_list(play.rows(given.steps * given.groups, given.seed)),
    eval_dataset=Dataset.from_list(play.rows(given.evaluate, given.seed, evaluation=True)),
    rollout_func=play,
    reward_funcs=play.reward,
)
started = time.process_time()
before = trainer.evaluate()["eval_gem/success"]
trainer.train()
after = trainer.evaluate()["eval_gem/success"]
trainer.save_model(str(given.out))
play.close()
trainer.accelerator.end_training()
summary = {"before": before, "after": after, "cpu_seconds": round(time.process_time() - started)}
curve = [[line["step"], line["gem/success"]] for line in trainer.state.log_history if "gem/success" in line]
(given.out / "curve.json").write_text(json.dumps({**summary, "success": curve}))
print(json.dumps(summary))
