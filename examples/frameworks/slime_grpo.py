"""GRPO by slime on an environment of GEM: python slime_grpo.py SLIME [--env ID] [--out FOLDER] … OPTION…

SLIME is a clone of slime. This writes the dataset of starts into FOLDER and runs slime's train.py with what concerns
GEM. The OPTIONs are slime's own, for the model, the GPUs and the optimizer, as in its scripts: at least the arguments
of the model and --hf-checkpoint. Ray must run, as in these scripts. With --dry-run it only prints the command.
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

from gem_interop.slime import rows

parser = argparse.ArgumentParser()
parser.add_argument("slime", type=Path)
parser.add_argument("--env", default="game:GuessTheNumber-v0-easy")
parser.add_argument("--updates", type=int, default=320)
parser.add_argument("--group", type=int, default=8, help="episodes from the same start")
parser.add_argument("--groups", type=int, default=32, help="starts in an update")
parser.add_argument("--max-new-tokens", type=int, default=64)
parser.add_argument("--max-context", type=int, default=2048)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, default=Path("slime-run"))
parser.add_argument("--dry-run", action="store_true")
given, more = parser.parse_known_args()

given.out.mkdir(parents=True, exist_ok=True)
starts = given.out.absolute() / "starts.jsonl"
made = rows(given.env, given.updates * given.groups, given.seed)
starts.write_text("".join(json.dumps(row) + "\n" for row in made))
options = {
    "custom-generate-function-path": "gem_interop.slime.generate",
    "custom-reward-post-process-path": "gem_interop.slime.rewards",
    "prompt-data": starts,
    "input-key": "input",
    "num-rollout": given.updates,
    "rollout-batch-size": given.groups,
    "n-samples-per-prompt": given.group,
    "global-batch-size": given.groups * given.group,
    "rollout-max-response-len": given.max_new_tokens,
    "rollout-max-context-len": given.max_context,
    "advantage-estimator": "grpo",
}
command = [sys.executable, "train.py", *(part for name, value in options.items() for part in (f"--{name}", str(value)))]
print(shlex.join([*command, *more]), flush=True)
sys.exit(0 if given.dry_run else subprocess.run([*command, *more], cwd=given.slime, check=False).returncode)
