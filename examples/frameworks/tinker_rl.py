"""RL by tinker-cookbook on environments of GEM: python tinker_rl.py MODEL [--env ID …] [--base-url URL] [--steps N] …

MODEL is a name that the service at URL knows, or the folder of a model that a server of your own has: such a server is
tinker_skyrl_server.py. What this was run with: tinker-constraints.txt.
"""

import asyncio
import json
import sys

from gem_interop.launching import arguments, count, named_if_missing

limits = ("max_new_tokens", "max_context", "score")
# A rate for LoRA, as in the cookbook's recipes: it is higher than one for all weights.
parser = arguments(__doc__, "steps", "groups", "group", *limits, lr=1e-4, out="tinker-run")
parser.add_argument("model")
parser.add_argument("--base-url", help="by default Thinking Machines' service; TINKER_API_KEY is its key")
parser.add_argument("--rank", type=count, default=32)
parser.add_argument("--resume", action="store_true", help="the run in the folder, on a server that can")
given = parser.parse_args()
if (given.out / "metrics.jsonl").exists() and not given.resume:
    parser.error(f"a run is in {given.out} already: give another --out, or --resume it")

with named_if_missing():
    from gem_interop.tinker import WITHOUT_FAILED, GemDatasetBuilder
from tinker_cookbook.rl.train import Config, main

config = Config(
    recipe_name="gem",
    model_name=given.model,
    base_url=given.base_url,
    dataset_builder=GemDatasetBuilder(
        env=given.env,
        model_name=given.model,
        batch_size=given.groups,
        group_size=given.group,
        batches=given.steps,
        seed=given.seed,
        **{name: getattr(given, name) for name in limits},
    ),
    rollout_error_tolerance=WITHOUT_FAILED,
    learning_rate=given.lr,
    lora_rank=given.rank,
    max_tokens=given.max_new_tokens,
    log_path=str(given.out),
    eval_every=0,
    save_every=0,
)
asyncio.run(main(config))

steps = [json.loads(line) for line in (given.out / "metrics.jsonl").read_text().splitlines()]
success = [step["env/all/success"] for step in steps if "env/all/success" in step]
if not success:
    sys.exit("no episode was trained on: every group was left out, for the reasons above")
last = {name: value for step in steps for name, value in step.items()}
counts = {
    "failed": last.get("rollout_errors/total", 0),
    "groups_left_out": last.get("rollout_errors/groups_skipped", 0),
}
print(json.dumps({"steps": len(success), **counts, "success": sum(success) / len(success)}))
