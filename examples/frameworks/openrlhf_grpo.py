"""GRPO by OpenRLHF on environments of GEM: python openrlhf_grpo.py MODEL [--env ID …] [--gpus N] [--out FOLDER] …

MODEL is a folder with a model, or a name on the Hugging Face hub. It writes the dataset of starts and the file for
--train.agent_func_path into FOLDER, and runs OpenRLHF's trainer with them, sampler and learner on the same GPUs.
Further options are OpenRLHF's own, and win. With --dry-run it only prints the command.
"""

import json
import shlex
import subprocess
import sys

from gem_interop.launching import arguments, check_model, count, named_if_missing

AGENT = """from gem_interop.openrlhf import Executor


class AgentExecutor(Executor):
    def __init__(self):
        super().__init__(max_new_tokens={max_new_tokens}, score={score!r})
"""

limits = ("max_new_tokens", "max_context", "score")
parser = arguments(__doc__, "steps", "groups", "group", *limits, "lr", "dry_run", out="openrlhf-run")
parser.add_argument("model")
parser.add_argument("--gpus", type=count, default=1)
given, more = parser.parse_known_args()

with named_if_missing():
    from gem_interop.openrlhf import rows
check_model(given.model)

out = given.out.absolute()
out.mkdir(parents=True, exist_ok=True)
starts = rows(given.env, given.steps * given.groups, given.seed)
(out / "starts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in starts))
(out / "agent.py").write_text(AGENT.format(**vars(given)))
episodes = given.group * given.groups
options = {
    "actor.model_name_or_path": given.model,
    "train.agent_func_path": out / "agent.py",
    "data.prompt_dataset": out / "starts.jsonl",
    "data.input_key": "input",
    "data.max_len": given.max_context,
    "data.max_samples": len(starts),
    "rollout.batch_size": given.groups,
    "rollout.n_samples_per_prompt": given.group,
    "train.batch_size": episodes,
    "train.num_episodes": 1,
    "algo.advantage.estimator": "group_norm",
    "algo.advantage.is_correction_level": "token",
    "algo.kl.init_coef": 0,
    "actor.adam.lr": given.lr,
    "actor.num_gpus_per_node": given.gpus,
    "vllm.num_engines": given.gpus,
    "vllm.gpu_memory_utilization": 0.5,
    "train.seed": given.seed,
    "ckpt.output_dir": out / "model",
    "ckpt.path": out / "checkpoints",
}
switches = ["train.colocate_all", "vllm.enable_sleep", "ds.enable_sleep"]
command = [sys.executable, "-m", "openrlhf.cli.train_ppo_ray"]
command += [part for name, value in options.items() for part in (f"--{name}", str(value))]
command += [f"--{name}" for name in switches] + more
print(shlex.join(command), flush=True)
status = 0 if given.dry_run else subprocess.run(command, check=False).returncode
if (out / "model").exists() and not (status or given.dry_run):
    print(f"The model is in {out}/model")
sys.exit(status)
