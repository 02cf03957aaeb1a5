"""GRPO by slime on environments of GEM: python slime_grpo.py SLIME [--env ID …] [--out FOLDER] … OPTION…

SLIME is a clone of slime. This writes the dataset of starts into FOLDER and runs slime's train.py with what concerns
GEM. The OPTIONs are slime's own, for the model, the GPUs and the optimizer, as in its scripts: at least the arguments
of the model and --hf-checkpoint. Ray must run, as in these scripts. With --dry-run it only prints the command.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path

from gem_interop.launching import arguments, named_if_missing

limits = ("max_new_tokens", "max_context", "score")
parser = arguments(__doc__, "steps", "groups", "group", *limits, "dry_run", out="slime-run")
parser.add_argument("slime", type=Path)
given, more = parser.parse_known_args()

with named_if_missing():
    from gem_interop.slime import rows
if not (given.slime / "train.py").is_file():
    parser.error(f"{given.slime} is not a clone of slime: it has no train.py")

given.out.mkdir(parents=True, exist_ok=True)
out = given.out.absolute()
starts = out / "starts.jsonl"
made = rows(given.env, given.steps * given.groups, given.seed)
starts.write_text("".join(json.dumps(row) + "\n" for row in made))
options = {
    "custom-generate-function-path": f"gem_interop.slime.generate{'_success' if given.score == 'success' else ''}",
    "custom-reward-post-process-path": "gem_interop.slime.rewards",
    "prompt-data": starts,
    "input-key": "input",
    "num-rollout": given.steps,
    "rollout-batch-size": given.groups,
    "n-samples-per-prompt": given.group,
    "global-batch-size": given.groups * given.group,
    "rollout-max-response-len": given.max_new_tokens,
    "rollout-max-context-len": given.max_context,
    "advantage-estimator": "grpo",
    "rollout-seed": given.seed,
    "save": out / "checkpoints",
    "save-interval": given.steps,
    "save-hf": out / "model",
}
command = [sys.executable, "train.py", *(part for name, value in options.items() for part in (f"--{name}", str(value)))]
print(shlex.join([*command, *more]), flush=True)
status = 0 if given.dry_run else subprocess.run([*command, *more], cwd=given.slime, check=False).returncode
if (out / "model").exists() and not (status or given.dry_run):
    print(f"The model is in {out}/model")
sys.exit(status)
