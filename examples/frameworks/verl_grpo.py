"""GRPO by verl on environments of GEM: python verl_grpo.py MODEL [--env ID …] [--out FOLDER] [SETTING=VALUE …]

MODEL is a folder with a model, or a name on the Hugging Face hub. The settings are verl's own, such as
`trainer.n_gpus_per_node=8`. What this was run with: verl-constraints.txt; replies are sampled by vLLM, if no other
`actor_rollout_ref.rollout.name` is given.
"""

import json
import subprocess
import sys

from gem_interop.launching import arguments, check_model, count, named_if_missing

limits = ("max_new_tokens", "max_context", "score")
parser = arguments(__doc__, "steps", "groups", "group", *limits, "lr", out="verl-run")
parser.add_argument("model")
parser.add_argument("--evaluate", type=count, default=512, help="episodes of each validation")
given, settings = parser.parse_known_args()

with named_if_missing():
    from gem_interop.verl import rows
from datasets import Dataset

check_model(given.model)
given.out.mkdir(parents=True, exist_ok=True)
out = given.out.absolute()
last = out / "latest_checkpointed_iteration.txt"
if last.exists() and int(last.read_text()) >= given.steps:
    parser.error(f"{out} has a run of {last.read_text()} steps, which has ended: name another --out, or more --steps")
Dataset.from_list(rows(given.env, given.steps * given.groups, given.seed)).to_parquet(out / "train.parquet")
validation = rows(given.env, given.evaluate, given.seed, evaluation=True)
Dataset.from_list(validation).to_parquet(out / "validation.parquet")
loop = {"max_new_tokens": given.max_new_tokens, "score": given.score}
# JSON is YAML too.
(out / "loop.yaml").write_text(json.dumps([{"name": "gem", "_target_": "gem_interop.verl.GemAgentLoop", **loop}]))

command = [
    *(sys.executable, "-m", "verl.trainer.main_ppo"),
    "algorithm.adv_estimator=grpo",
    f"data.train_files={out}/train.parquet",
    f"data.val_files={out}/validation.parquet",
    f"data.train_batch_size={given.groups}",
    # Half of a context is for the first observation, the other for what follows it.
    f"data.max_prompt_length={given.max_context // 2}",
    f"data.max_response_length={given.max_context // 2}",
    "data.filter_overlong_prompts=false",
    f"data.seed={given.seed}",
    f"actor_rollout_ref.model.path={given.model}",
    f"actor_rollout_ref.actor.optim.lr={given.lr}",
    f"actor_rollout_ref.actor.ppo_mini_batch_size={given.groups}",
    "actor_rollout_ref.actor.checkpoint.save_contents=[model,optimizer,extra,hf_model]",
    "actor_rollout_ref.actor.use_dynamic_bsz=true",
    f"actor_rollout_ref.actor.ppo_max_token_len_per_gpu={given.max_context}",
    f"actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu={given.max_context}",
    "actor_rollout_ref.rollout.name=vllm",
    f"actor_rollout_ref.rollout.n={given.group}",
    f"actor_rollout_ref.rollout.agent.agent_loop_config_path={out}/loop.yaml",
    f"trainer.total_training_steps={given.steps}",
    f"trainer.default_local_dir={out}",
    # At the end, too.
    f"trainer.save_freq={given.steps}",
    f"trainer.test_freq={given.steps}",
    'trainer.logger=["console"]',
    "trainer.project_name=gem",
    *settings,
]
status = subprocess.run(command, check=False).returncode
if last.exists() and not status:
    print(f"The model is in {out}/global_step_{last.read_text()}/actor/huggingface")
sys.exit(status)
