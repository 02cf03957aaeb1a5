"""How busy `gemx eval` keeps a server that plays the agent and a judge, and what a budget counts.

    python benchmarks/roles.py [--episodes 256] [--mean 1.0] [--seconds 10] [--json FILE]

A server in a process of its own answers each request after a lognormal time with that mean. `gemx eval` plays so many
episodes of 4 turns at once, with the judge on the same server, asked by the env in every step, or by a reward at the
end of each episode while others are played. After a warm-up the requests in progress are counted: if nothing else took
time, each episode would always have one, which is the ideal; judgements of rewards come on top of it.

Then a budget of tokens ends an evaluation: what the server has answered, at 1,050 tokens a reply, is beside the limit
and beside what the summary says that each role used.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from sides.chat_latency import WARM_UP, count
from sides.chat_roles import SAID

HERE = Path(__file__).parent
TOKENS = 1050
"""Of every answer, with what was read for it."""
CASES = {
    "in the env": ["sides.chat_roles:Judged"],
    "as a reward": ["sides.chat_roles:Talk", "--reward", "sides.chat_roles:good"],
}


@contextmanager
def server(mean):
    command = [sys.executable, HERE / "sides" / "chat_latency.py", str(mean), SAID]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def evaluation(url, words, **settings):
    roles = ["--role", "judge=openai:judge", "--model", "openai:agent", "--base-url", url]
    command = [sys.executable, "-m", "gem", "eval", *words, *roles, "--no-floors", "--json"]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(HERE)}, text=True, **settings)


def busy(words, episodes, mean, seconds):
    """Calls per second, and requests in progress as a share of the episodes at once."""
    with server(mean) as url:
        sizes = ["--episodes", "100000", "--num-envs", str(episodes)]
        playing = evaluation(url, [*words, *sizes], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while count(url)[0] < 2 * WARM_UP * episodes:
            if playing.poll() is not None:
                raise SystemExit(playing.stderr.read())
            time.sleep(0.1)
        first = count(url)
        time.sleep(seconds)
        calls, waited, _, wall = (later - earlier for later, earlier in zip(count(url), first, strict=True))
        playing.send_signal(signal.SIGINT)
        playing.communicate()
    return {"calls_per_second": calls / wall, "ideal": episodes / mean, "of_ideal": waited / wall / episodes}


def budget(words, episodes, limit):
    """What a budget counts: by the server, and by the summary of the evaluation."""
    with server(0.05) as url:
        sizes = ["--episodes", "100000", "--num-envs", str(episodes), "--max-tokens", str(limit)]
        out, _ = evaluation(url, [*words, *sizes], stdout=subprocess.PIPE).communicate()
        answered = count(url)[0]
    found = json.loads(out)
    of_judge = found["roles"]["judge"]
    return {
        "limit": limit,
        "answered": answered * TOKENS,
        "of_judge": of_judge["prompt_tokens"] + of_judge["completion_tokens"],
        "of_finished_episodes": found["prompt_tokens"] + found["completion_tokens"],
        "budget_spent": found["budget_spent"],
        "failures": found["failures"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--mean", type=float, default=1.0, help="seconds of an answer")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long requests are counted")
    parser.add_argument("--json", type=Path, help="write the report there, too")
    given = parser.parse_args()
    report = {
        "episodes": given.episodes,
        "mean": given.mean,
        "busy": {name: busy(words, given.episodes, given.mean, given.seconds) for name, words in CASES.items()},
        "budget": {name: budget(words, 32, 2_000_000) for name, words in CASES.items()},
    }
    text = json.dumps(report, indent=1)
    print(text)
    if given.json:
        given.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
