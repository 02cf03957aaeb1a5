"""GRPO by verl on environments of GEM: python verl_grpo.py MODEL [--env ID …] [--out FOLDER] [SETTING=VALUE …]

MODEL is a folder with a model, or a name on the Hugging Face hub. The settings are verl's own, such as
`trainer.n_gpus_per_node=8`. What this was run with: verl-constraints.txt; replies are sampled by vLLM, if no other
`actor_rollout_ref.rollout.name` is given.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from datasets import Dataset

from gem_interop.verl import rows

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--env", action="append", help="once for each id; the episodes are divided among them")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--groups", type=int, default=32, help="starts in a step")
parser.add_argument("--group", type=int, default=8, help="episodes from the same start")
parser.add_argument("--context", type=int, default=4096, help="ids of the first observation, and of what follows")
parser.add_argument("--max-new-tokens", type=int, default=512, help="of a reply")
parser.add_argument("--score", choices=["return", "success"], default="return")
parser.add_argument("--lr", type=float, default=1e-6)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, default=Path("verl-run"))
given, settings = parser.parse_known_args()

given.out.mkdir(parents=True, exist_ok=True)
out = given.out.absolute()
env = given.env or ["game:GuessTheNumber-v0-easy"]
Dataset.from_list(rows(env, given.steps * given.groups, given.seed)).to_parquet(out / "train.parquet")
Dataset.from_list(rows(env, 64, given.seed + 1)).to_parquet(out / "validation.parquet")
loop = {"max_new_tokens": given.max_new_tokens, "score": given.score}
# JSON is YAML too.
(out / "loop.yaml").write_text(json.dumps([{"name": "gem", "_target_": "gem_interop.verl.GemAgentLoop", **loop}]))

command = [
    *(sys.executable, "-m", "verl.trainer.main_ppo"),
    "algorithm.adv_estimator=grpo",
    f"data.train_files={out}/train.parquet",
    f"data.val_files={out}/validation.parquet",
    f"data.train_batch_size={given.groups}",
    f"data.max_prompt_length={given.context}",
    f"data.max_response_length={given.context}",
    "data.filter_overlong_prompts=false",
    f"actor_rollout_ref.model.path={given.model}",
    f"actor_rollout_ref.actor.optim.lr={given.lr}",
    f"actor_rollout_ref.actor.ppo_mini_batch_size={given.groups}",
    "actor_rollout_ref.actor.use_dynamic_bsz=true",
    f"actor_rollout_ref.actor.ppo_max_token_len_per_gpu={2 * given.context}",
    f"actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu={2 * given.context}",
    "actor_rollout_ref.rollout.name=vllm",
    f"actor_rollout_ref.rollout.n={given.group}",
    f"actor_rollout_ref.rollout.agent.agent_loop_config_path={out}/loop.yaml",
    f"trainer.total_training_steps={given.steps}",
    f"trainer.default_local_dir={out}",
    'trainer.logger=["console"]',
    "trainer.project_name=gem",
    *settings,
]
sys.exit(subprocess.run(command, check=False).returncode)
