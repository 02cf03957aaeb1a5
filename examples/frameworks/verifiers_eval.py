"""Rollouts of verifiers on an environment of GEM: python verifiers_eval.py MODEL --url URL [--env ID …] [--starts N]

MODEL answers at URL by OpenAI's protocol for chats. What this was run with: verifiers-constraints.txt.
"""

import asyncio
import sys

from gem_interop.launching import arguments, count, named_if_missing

parser = arguments(__doc__, "starts", "max_new_tokens", group=1)
parser.add_argument("model")
parser.add_argument("--url", required=True, help="such as http://localhost:8000/v1")
parser.add_argument("--key", default="OPENAI_API_KEY", help="environment variable with the key")
parser.add_argument("--at-once", type=count, default=64)
parser.add_argument("--harness", help="another than GEM's, such as null")
given = parser.parse_args()

with named_if_missing():
    import gem_verifiers  # noqa: F401 - the plugin
import verifiers.v1 as vf

taskset = {"id": "gem-verifiers", "env": given.env, "tasks": given.starts, "seed": given.seed, "evaluation": True}
harness = {"harness": {"id": given.harness}} if given.harness else {}
env = vf.load_environment(vf.resolve_env_config({"taskset": taskset, "agent": harness}))
model = vf.ModelContext(
    given.model,
    vf.EvalClientConfig(base_url=given.url, api_key_var=given.key),
    vf.SamplingConfig(max_tokens=given.max_new_tokens),
)


async def main() -> list[vf.Episode]:
    at_once = asyncio.Semaphore(given.at_once)
    async with env.serving():
        slots = [slot for task in env.taskset for slot in env.slots(task, given.group)]
        return await asyncio.gather(*(env.run_slot(slot, model, at_once) for slot in slots))


episodes = asyncio.run(main())
good = [episode.traces[0] for episode in episodes if episode.ok]
for name, values in {
    "return": [trace.reward for trace in good],
    "success": [trace.metrics["success"] for trace in good],
    "turns": [trace.metrics["turns"] for trace in good],
}.items():
    if good:
        print(f"{name:8} {sum(values) / len(values):.3f}")
print(f"{len(good)} rollouts; {len(episodes) - len(good)} failed and are in no mean")
for episode in episodes:
    if not episode.ok:
        errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
        print(f"{episode.task.data.name}: {errors[-1].message}")
sys.exit(0 if good else "every rollout failed")
