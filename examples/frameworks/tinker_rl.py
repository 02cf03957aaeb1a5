"""RL by tinker-cookbook on an environment of GEM: python tinker_rl.py MODEL [--env ID] [--base-url URL] [--steps N] …

MODEL is a name that the service at URL knows, or the folder of a model that a server of your own has: such a server is
tinker_skyrl_server.py. What this was run with: tinker-constraints.txt.
"""

import argparse
import asyncio
import json
from pathlib import Path

from tinker_cookbook.rl.train import Config, main

from gem_interop.tinker import WITHOUT_FAILED, GemDatasetBuilder

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--base-url", help="by default Thinking Machines' service; TINKER_API_KEY is its key")
parser.add_argument("--env", default="game:GuessTheNumber-v0-easy", help="an id, or several between commas")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--groups", type=int, default=4, help="starts in a step")
parser.add_argument("--group", type=int, default=4, help="episodes from the same start")
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--rank", type=int, default=8)
parser.add_argument("--max-new-tokens", type=int, default=6)
parser.add_argument("--max-context", type=int, default=512)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, default=Path("tinker-run"))
given = parser.parse_args()

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
        max_context=given.max_context,
        max_new_tokens=given.max_new_tokens,
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
steps = [step for step in steps if "env/all/reward/total" in step]
success = [step["env/all/success"] for step in steps]
failed = steps[-1].get("rollout_errors/total", 0)
print(json.dumps({"steps": len(steps), "failed": failed, "success": sum(success) / len(success)}))
