"""What playing while learning brings where envs take their time: episodes per hour with `rollout.async`, and without.

    python benchmarks/async_play.py [--latency 0.05 0.5] [--steps 8] [--episodes 64] [--seeds 0 1 2 3 4] [--max-lag 2]

A tiny model learns to guess a number, and each turn of its env takes a time of this mean, drawn lognormally (σ = 1) by
seed and turn. The runs of a seed are whole `gemx train`s from the model after one warm-up, one after the other, in this
process; with `vllm_server` (on a CPU: `.venv/vllm/bin/python`) all of them sample with one server. Time is that of the
steps; success is measured without latency, on the same episodes before and after.
"""

import argparse
import json
import math
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, stdev
from urllib.request import urlopen

from peers import show

from gem import seeding
from gem.core import Wrapper
from gem_train.config.training import TINY, load_config
from gem_train.runs.display import Display
from gem_train.train import train

ID = "game:GuessTheNumber-v0-easy"
EVALUATED = 256
SIGMA = 1.0
T_975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""Quantiles of Student's distribution, by degrees of freedom."""
SERVER = {"max_model_len": 512, "kv_cache_gib": 0.2}
"""Settings of the engine `vllm_server`."""


class SlowEnv(Wrapper):
    """Takes a lognormal time in every step, of so many seconds on average."""

    def __init__(self, env, *, seconds):
        super().__init__(env)
        self.seconds = seconds
        self.waits = None

    def reset(self, *, seed=None, options=None):
        self.waits = random.Random(seeding.derive(seed or 0, "waits"))
        return super().reset(seed=seed, options=options)

    def step(self, action):
        time.sleep(self.waits.lognormvariate(math.log(self.seconds) - SIGMA**2 / 2, SIGMA))
        return super().step(action)


def config(steps, sampler, episodes=64, **settings):
    """The settings of a run; the later ones go over the earlier ones."""
    rollout = {"engine": sampler, "episodes": episodes, "num_envs": 2 * episodes, "max_new_tokens": 16, "record": 0}
    base = {
        "id": ID,
        "steps": steps,
        "eval": {"episodes": EVALUATED},
        "engine": SERVER if sampler == "vllm_server" else {},
        "watch": {"stop": False},
        "checkpoint_every": 10**6,
    }
    return load_config([TINY, {**base, "rollout": rollout}, settings])


def warm_up(folder, steps, engine):
    """The folder of a model that plays well-formed guesses."""
    with Display(quiet=True) as display:
        train(config(1, engine, warmup={"steps": steps}, checkpoint_every=1, eval={"episodes": 8}), folder, display)
    return folder / "checkpoint" / "step-1" / "model"


@contextmanager
def server(model: Path) -> Iterator[dict]:
    """Settings of the engine, for a vLLM server with this model that all runs use; see docs/engines.md."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = {
        "model": model,
        "host": "127.0.0.1",
        "port": port,
        "dtype": "float32",
        "max-model-len": SERVER["max_model_len"],
        "kv-cache-memory-bytes": int(SERVER["kv_cache_gib"] * 2**30),
        "logprobs-mode": "processed_logprobs",
        "generation-config": "vllm",
        "max-num-batched-tokens": 8192,
        "worker-extension-cls": "gem_train.engines.vllm.weights.Extension",
        "weight-transfer-config": '{"backend": "gem-files"}',
    }
    words = [word for name, value in flags.items() for word in (f"--{name}", str(value))]
    words += ["--enable-scale-out", "--no-enable-chunked-prefill", "--enforce-eager", "--no-async-scheduling"]
    environment = {"VLLM_SERVER_DEV_MODE": "1", "TORCHDYNAMO_DISABLE": "1", "VLLM_LOGGING_LEVEL": "WARNING"}
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gem_train.engines.vllm.launch",
            *words,
        ],  # ends with its input, and so with this program
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=sys.stderr,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                urlopen(f"{url}/health", timeout=2).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise SystemExit("the vLLM server has not started") from None
                time.sleep(0.5)
        yield {"urls": [url]}
    finally:
        process.stdin.close()
        process.wait(60)


def run(folder, model, arguments, engine, latency, seed, **play):
    """What one run shows."""
    settings = config(
        arguments.steps,
        arguments.engine,
        arguments.episodes,
        seed=seed,
        model=str(model),
        warmup={"steps": 0},
        wrappers=[{"name": "async_play:SlowEnv", "seconds": latency}],
        eval={"wrappers": []},
        engine=engine,
        rollout={"backend": "thread", **play},
    )
    with Display(quiet=True) as display:
        summary = train(settings, folder, display).as_json()
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    steps = [line for line in lines if line["phase"] == "train"]
    spent = {doing: sum(line[f"seconds_{doing}"] for line in steps) for doing in ("play", "learn", "sync")}
    learned = sum(arguments.episodes - line["failures"] for line in steps)
    return {
        "episodes_per_hour": 3600 * learned / sum(spent.values()),
        "seconds": spent,
        "lag": fmean(line["lag"] for line in steps),
        "lag_max": max(line["lag_max"] for line in steps),
        "engine_gap": max(line.get("engine_gap", 0.0) for line in steps),
        "steps_with_gap": sum("engine_gap" in line for line in steps),
        "counts": {name: value for name, value in steps[-1].items() if name.startswith("episodes/")},
        "before": summary["before"]["success"],
        "after": summary["after"]["success"],
    }


def interval(values):
    """Mean of paired differences, and half of its 95% interval."""
    half = T_975[len(values) - 1] * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return fmean(values), half


def pair(latency, seeds, plain, beside):
    """What the runs of some seeds show, synchronous and asynchronous."""
    ratios = [other["episodes_per_hour"] / one["episodes_per_hour"] for one, other in zip(plain, beside, strict=True)]
    return {
        "latency": latency,
        "seeds": seeds,
        "ratio": sum(each["episodes_per_hour"] for each in beside) / sum(each["episodes_per_hour"] for each in plain),
        "ratios": ratios,
        "success": interval([other["after"] - one["after"] for one, other in zip(plain, beside, strict=True)]),
        "synchronous": plain,
        "asynchronous": beside,
    }


def table(report):
    """The report as Markdown."""
    lines = [
        "| env | | episodes/h | play, learn, sync: s per run | lag, largest | success before | after | ratio |",
        "|--:|---|--:|---|---|--:|--:|--:|",
    ]
    for each in report["pairs"]:
        for kind in ("synchronous", "asynchronous"):
            runs = each[kind]
            spent = ", ".join(f"{fmean(made['seconds'][doing] for made in runs):.1f}" for doing in runs[0]["seconds"])
            mean = {
                name: fmean(made[name] for made in runs) for name in ("episodes_per_hour", "lag", "before", "after")
            }
            lines.append(
                f"| {1000 * each['latency']:.0f} ms | {kind} | {mean['episodes_per_hour']:,.0f} | {spent} | "
                f"{mean['lag']:.2f}, {max(made['lag_max'] for made in runs)} | {mean['before']:.2f} | "
                f"{mean['after']:.2f} | {each['ratio'] if kind == 'asynchronous' else 1:.2f} |"
            )
        mean, half = each["success"]
        lines.append(f"| | difference of success, {len(each['seeds'])} seeds | | | | | {mean:+.3f} ± {half:.3f} | |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=float, nargs="+", default=[0.05, 0.5], help="means of a step, in seconds")
    parser.add_argument("--steps", type=int, default=8, help="of each run")
    parser.add_argument("--episodes", type=int, default=64, help="of a step, in twice as many envs")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)), help="of pairs of runs, in turns")
    parser.add_argument("--warm-up", type=int, default=250, help="steps of the warm-up")
    parser.add_argument("--max-lag", type=int, default=2, help="of the asynchronous runs")
    parser.add_argument("--late", choices=("wait", "drop"), default="wait")
    parser.add_argument("--engine", choices=("hf", "vllm_server"), default="vllm_server")
    parser.add_argument("--model", type=Path, help="of an earlier warm-up; it is put there if it does not exist")
    parser.add_argument("--json", type=Path, help="also write the report there")
    arguments = parser.parse_args()
    sys.path.append(str(Path(__file__).parent))
    beside = {"async": True, "max_lag": arguments.max_lag, "late": arguments.late}
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or Path(folder) / "warm"
        if not model.exists():
            warm_up(Path(folder) / "run", arguments.warm_up, arguments.engine).rename(model)
        with server(model) if arguments.engine == "vllm_server" else contextmanager(lambda: iter([{}]))() as engine:
            for latency in arguments.latency:
                made = {"synchronous": [], "asynchronous": []}
                for seed in arguments.seeds:
                    for kind, play in (("synchronous", {}), ("asynchronous", beside)):
                        path = Path(folder) / f"{kind}-{latency}-{seed}"
                        made[kind].append(run(path, model, arguments, engine, latency, seed, **play))
                        print(kind, latency, seed, made[kind][-1], file=sys.stderr)
                pairs.append(pair(latency, arguments.seeds, *made.values()))
    show({"pairs": pairs}, table({"pairs": pairs}), arguments.json)


if __name__ == "__main__":
    main()
