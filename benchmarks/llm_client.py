"""Calls per second of a chat API and what each costs this machine, beside the client of verifiers.

    python benchmarks/llm_client.py [--episodes 256] [--mean 0.05] [--seconds 5] [--repeats 3] [--json FILE]

A server in a process of its own answers each request after a lognormal time with that mean. Each side plays so many
episodes of 8 turns at once for some seconds after a warm-up, or asks without episodes, in a process of its own; they
take turns. The share of the ideal is that of the time in which the server works on a request of each episode: the ideal
is the calls per second if nothing else took time. The time of a processor is that of the client's process, per call;
the share of a core that it was given says what other programs left of the machine.
"""

import importlib
import json
import statistics
import subprocess
import sys
from argparse import SUPPRESS
from pathlib import Path

from peers import PEERS, ask, options, python_of, show

SIDES = {
    ("GEM", "rollouts"): ("sides.chat_ours", "rollouts"),
    ("verifiers", "rollouts"): ("sides.chat_verifiers", "rollouts"),
    ("GEM", "client alone"): ("sides.chat_ours", "client"),
    ("verifiers", "client alone"): ("sides.chat_verifiers", "client"),
    ("verifiers-newest", "client alone"): ("sides.chat_verifiers_newest", "client"),
}


def measure(python, side, episodes, mean, seconds):
    """Calls per second, their share of the ideal, and milliseconds of a processor per call."""
    server = subprocess.Popen(
        [sys.executable, Path(__file__).parent / "sides" / "chat_latency.py", str(mean)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        case = {"url": server.stdout.readline().strip(), "episodes": episodes, "seconds": seconds}
        counted = json.loads(ask(python, __file__, "--play", *SIDES[side], json.dumps(case)))
        server.stdin.close()
    speed = counted["calls"] / counted["seconds"]
    return speed, counted["busy"], 1000 * counted["cpu"] / counted["calls"]


def run(arguments):
    """Every number, by side and number of episodes."""
    peers = {peer: PEERS[peer] for peer in ("verifiers", "verifiers-newest")}
    pythons = {"GEM": sys.executable, **{peer: python_of(peer, arguments.venv_dir) for peer in peers}}
    results = []
    for episodes in arguments.episodes:
        taken = {side: [] for side in SIDES}
        for _ in range(arguments.repeats):
            for side, numbers in taken.items():
                numbers.append(measure(pythons[side[0]], side, episodes, arguments.mean, arguments.seconds))
        for (side, what), numbers in taken.items():
            speed, share, cpu = (statistics.median(each) for each in zip(*numbers, strict=True))
            result = {"side": side, "what": what, "episodes": episodes, "calls_per_second": speed}
            results.append({**result, "of_ideal": share, "cpu_ms_per_call": cpu})
    return {"peers": peers, "mean": arguments.mean, "repeats": arguments.repeats, "results": results}


def table(report):
    """The report as Markdown."""
    lines = [
        "| | at once | calls/s | of the ideal | of a core | processor, ms per call |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for each in report["results"]:
        speed, cpu = each["calls_per_second"], each["cpu_ms_per_call"]
        name = f"{report['peers'].get(each['side'], each['side']).replace('==', ' ')}, {each['what']}"
        shares = f"{each['of_ideal']:.1%} | {speed * cpu / 1000:.0%}"
        lines.append(f"| {name} | {each['episodes']} | {speed:,.0f} | {shares} | {cpu:.2f} |")
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--episodes", type=lambda text: [int(each) for each in text.split(",")], default=[256])
    parser.add_argument("--mean", type=float, default=0.05, help="seconds of an answer")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each side is counted")
    parser.add_argument("--play", nargs=3, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        module, function, case = arguments.play
        getattr(importlib.import_module(module), function)(**json.loads(case))
    else:
        report = run(arguments)
        show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
