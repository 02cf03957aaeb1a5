"""Rewards after a rollout: a judge's faults, its throughput, weights that are changed later, and training on a reward.

    python benchmarks/rewards.py [--judgements 300] [--latency 0.25] [--at-once 32] [--seeds 0] [--json FILE]

A chat server plays the judge, and answers after `--latency` seconds. In the first case it fails, stalls or says what
cannot be read in 30% of the judgements, and failed requests are not repeated. In the second it has no faults, and the
time is told beside the ideal: judgements times latency by calls at once. In the third `gemx rescore --weight` changes
what the first recorded. With `--seeds`, `gemx train` runs `examples/tool_reward` with these seeds, and as a control
with a tool that shows noise.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gem
from gem.record import Recorder, read
from gem.rewards import scored
from gem.rollout import rollout
from gem.testing.chat_server import Trouble, chat_server

EXAMPLE = Path(__file__).parents[1] / "examples" / "tool_reward"
CRITERIA = {"right": "It is the word.", "clear": "Nothing else is said."}
GOOD = json.dumps({name: {"reason": "so it is", "points": points} for name, points in (("right", 10), ("clear", 5))})


def judged(episodes, at_once, latency, *, share=0.0, out=None):
    """What becomes of so many episodes, of which a share of the judgements goes wrong, in three ways alike."""
    judge = gem.judge(CRITERIA, timeout=2.0 + latency)
    pipeline = gem.RewardPipeline([judge], weights={"env": 0, "judge/clear": 0.5}, at_once=at_once)
    numbers = iter(range(episodes))
    unreadable = set()

    def say(observation):
        return f"\\boxed{{apple}} ({next(numbers)})"

    def reply(messages):
        text = messages[1]["content"]
        number = int(text[text.rindex("(") + 1 : text.rindex(")")])
        if number < episodes * share / 3:  # asked again, it says the same
            unreadable.add(number)
            return "Ten of ten, I would say."
        return GOOD

    trouble = Trouble(fail=share / 3, stall=share / 3, latency=lambda rng: latency)
    with chat_server(reply, trouble) as server, gem.make_vec("core:Echo-v0", 16) as envs:
        model = {"name": "openai", "model": "judge", "base_url": server.url, "retries": 0, "concurrency": at_once}
        with gem.use_models({"judge": model}):
            began = time.perf_counter()
            found = list(scored(rollout(say, envs, range(episodes)), pipeline))
            seconds = time.perf_counter() - began
        asked, troubles, most = server.requests, dict(server.troubles), server.most
    if out is not None:
        with Recorder(out) as recorder:
            for episode in found:
                recorder.write(episode)
    sound = [episode for episode in found if episode.failure is None]
    turns = [turn for episode in sound for turn in episode.turns]
    return {
        "judgements": episodes,
        "counted": len(found),
        "failures": len(found) - len(sound),
        "scored_0": sum(episode.total_reward == 0 for episode in sound),
        "troubles": {**troubles, "unreadable": len(unreadable)},
        "turns": len(turns),
        "parts_sum_to_reward": all(turn.reward == math.fsum(turn.parts.values()) for turn in turns),
        "requests": asked,
        "most_at_once": most,
        "seconds": round(seconds, 2),
    }


def reweighed(recording):
    """The mean return of a recording before and after `gemx rescore --weight`, and how many models that asked."""
    new = recording.with_name("new.jsonl")
    began = time.perf_counter()
    # Nobody plays the role here, so to ask would be an error.
    command = [
        sys.executable,
        "-m",
        "gem",
        "rescore",
        recording,
        "--weight",
        "judge/right=0",
        "--weight",
        "judge/clear=3",
    ]
    done = subprocess.run([*command, "--out", new, "--json"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    seconds = time.perf_counter() - began
    before, after = ([e.total_reward for e in read(path) if e.failure is None] for path in (recording, new))
    return {
        "graded": told["graded"],
        "errors": told["errors"],
        "return_before": sum(before) / len(before),
        "return_after": sum(after) / len(after),
        "seconds": round(seconds, 2),
    }


def trained(seed, folder, *, noise):
    """The success of a model after `gemx train` with the reward of the example, and before."""
    out = folder / f"{seed}-{noise}"
    command = [
        sys.executable,
        "-m",
        "gem",
        "train",
        "--config",
        "run.toml",
        "--seed",
        str(seed),
        "--out",
        out,
        "--json",
    ]
    began = time.perf_counter()
    noisy = ["--set", "env.noise=true"] if noise else []
    done = subprocess.run([*command, *noisy], cwd=EXAMPLE, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    success = {when: round(told[when]["success"], 3) for when in ("before", "after")}
    return {"seed": seed, "noise": noise, **success, "seconds": round(time.perf_counter() - began)}


def table(report):
    """The report as Markdown."""
    faults, fast, later = report["faults"], report["throughput"], report["weights"]
    sizes = f"{fast['judgements']} judgements of {report['latency']:g} s, {report['at_once']} at once"
    lines = [
        "| | |",
        "|---|--:|",
        f"| judgements, of which so many failed, stalled or could not be read | {faults['judgements']}, "
        f"{faults['failures']} |",
        f"| episodes counted; scored 0 for it | {faults['counted']}; {faults['scored_0']} |",
        f"| turns whose parts sum to the reward | {'all' if faults['parts_sum_to_reward'] else 'not all'} of "
        f"{faults['turns']} |",
        f"| {sizes}: time, of the ideal | {fast['of_ideal']:.2f} |",
        f"| episodes with other weights by `gemx rescore`, which asks no model | {later['graded']} |",
    ]
    for each in report["training"]:
        tool = "a tool that shows noise" if each["noise"] else "the tool"
        lines.append(f"| success after training with {tool}, seed {each['seed']} | {each['after']:.3f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgements", type=int, default=300)
    parser.add_argument("--latency", type=float, default=0.25, help="seconds of an answer of the judge")
    parser.add_argument("--at-once", type=int, default=32, help="most judgements at once")
    parser.add_argument("--seeds", type=int, nargs="*", default=[], help="of training runs; none by default")
    parser.add_argument("--json", type=Path, help="write the report to a file, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        recording = folder / "judged.jsonl"
        judged(given.at_once, given.at_once, 0.0)  # warm up
        faults = judged(given.judgements, given.at_once, 0.0, share=0.3, out=recording)
        fast = judged(given.judgements, given.at_once, given.latency)
        ideal = given.judgements * given.latency / given.at_once
        report = {
            "latency": given.latency,
            "at_once": given.at_once,
            "faults": faults,
            "throughput": {**fast, "ideal_seconds": round(ideal, 2), "of_ideal": round(fast["seconds"] / ideal, 3)},
            "weights": reweighed(recording),
            "training": [trained(seed, folder, noise=noise) for seed in given.seeds for noise in (False, True)],
        }
    print(table(report), file=sys.stderr)
    print(json.dumps(report, indent=1))
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
