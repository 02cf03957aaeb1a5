"""Try hostile answers on every `rg:` grader: how long it takes, whether it raises, what runs, and what wins.

    python gem-envs-reasoning/tests/fuzz_graders.py [--ids chain_sum …] [--limit 10] [--constants 200] [--json FILE]

Each id is played in a process of its own, in an empty folder, with hostile answers, changed right answers, and constant
answers over many seeds. If an answer is not graded within the limit, it is counted and its process is ended; a new
process continues with the next answer.
"""

import argparse
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hostile_answers import CONSTANTS, GENERIC, mutations

ITEMS = 3
"""Items of an id whose right answers are changed."""


def answers_of(env, name):
    """(seed, kind, answer) to try; the same in every process."""
    stored = []
    for seed in range(ITEMS):
        env.reset(seed=seed)
        action = env.expert_action()
        stored.append(None if action is None else action.removeprefix("<answer>").removesuffix("</answer>"))
    for number, answer in enumerate(GENERIC):
        yield number % ITEMS, "hostile", answer
    for seed, answer in enumerate(stored):
        if answer is not None:
            for changed in mutations(answer, random.Random(seed)):
                yield seed, "changed", changed


def play(name, start):
    """In a process of its own: print the result of each answer from number `start`, a JSON object per line."""
    import gem

    env = gem.make(f"rg:{name}")
    tried = list(answers_of(env, name))
    send(ready=True)
    for number, (seed, kind, answer) in enumerate(tried):
        if number < start:
            continue
        env.reset(seed=seed)
        right = env.item["answer"]
        began, cpu = time.perf_counter(), time.process_time()
        raised = ""
        try:
            step = env.step(f"<answer>{answer}</answer>")
            reward, malformed = step.reward, "malformed" in step.info
        except Exception as error:
            reward, malformed, raised = 0.0, False, f"{type(error).__name__}: {error}"[:200]
        send(number=number, seed=seed, kind=kind, answer=answer[:300], reward=reward, malformed=malformed,
             raised=raised, seconds=time.perf_counter() - began, cpu=time.process_time() - cpu,
             right=right if reward >= 1 else None)  # fmt: skip
        if env.item["answer"] != right:
            send(spoiled=answer[:300])
    send(done=True)


def constants(name, seeds):
    """In a process of its own: how often answers win that do not depend on the question."""
    import gem

    env = gem.make(f"rg:{name}")
    items, stored = [], Counter()
    until = time.monotonic() + 150
    for seed in range(seeds):
        env.reset(seed=seed)
        items.append(env.item)
        action = env.expert_action()
        if action is not None:
            stored[action.removeprefix("<answer>").removesuffix("</answer>")] += 1
        if time.monotonic() > until:
            break
    tried = [*CONSTANTS, *(answer for answer, _ in stored.most_common(5))]
    wins = Counter()
    for seed in range(len(items)):
        for answer in dict.fromkeys(tried):
            env.reset(seed=seed)
            step = env.step(f"<answer>{answer}</answer>")
            wins[answer] += step.info["success"]
    best, won = wins.most_common(1)[0]
    send(best=best[:60], share=won / len(items), seeds=len(items), tried=len(dict.fromkeys(tried)))
    send(done=True)


def send(**what):
    os.write(_out, json.dumps(what).encode() + b"\n")


_out = 1


def messages_of(arguments, limit):
    """The messages of a process, until it is done or silent for `limit` seconds."""
    with tempfile.TemporaryDirectory(prefix="gem-fuzz-") as folder:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, start_new_session=True,
        )  # fmt: skip
        rest, fd, over = b"", process.stdout.fileno(), False
        first = True
        while True:
            if not select.select([fd], [], [], 60 + limit if first else limit)[0]:
                yield {"hung": True}
                break
            data = os.read(fd, 1 << 20)
            if not data:
                if not over:
                    yield {"died": process.wait(), "stderr": process.stderr.read().decode()[-300:]}
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                first = False
                try:
                    message = json.loads(line)
                except ValueError:
                    yield {"printed": line.decode(errors="replace")[:100]}
                    continue
                over = over or "done" in message
                yield message
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()
        if left := os.listdir(folder):
            yield {"ran": left}


def fuzz(name, limit, seeds):
    """The record of one id."""
    found = {
        "id": name,
        "answers": 0,
        "hung": [],
        "raised": [],
        "won": [],
        "printed": 0,
        "ran": [],
        "died": [],
        "spoiled": [],
    }
    slowest, start = (0.0, ""), 0
    while start is not None:
        number, start_next = start - 1, None
        for message in messages_of(["--play", name, start], limit):
            if "number" in message:
                number = message["number"]
                found["answers"] += 1
                slowest = max(slowest, (round(message["seconds"], 3), message["answer"][:60]))
                if message["raised"]:
                    found["raised"].append((message["answer"][:80], message["raised"]))
                if message["reward"] >= 1:
                    found["won"].append((message["kind"], message["seed"], message["answer"], message["right"]))
            elif "hung" in message or "died" in message:
                answer = f"answer {number + 1}"
                found["hung" if "hung" in message else "died"].append((answer, message.get("stderr", "")))
                found["answers"] += 1
                start_next = number + 2
            elif "printed" in message:
                found["printed"] += 1
            elif "ran" in message:
                found["ran"] += message["ran"]
            elif "spoiled" in message:
                found["spoiled"].append(message["spoiled"])
        start = start_next
        if len(found["hung"]) + len(found["died"]) > 30:
            break
    found["slowest"] = slowest
    if seeds:
        for message in messages_of(["--constant", name, seeds], 300):
            if "best" in message:
                found["constant"] = message
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ids", nargs="*")
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--constants", type=int, default=200, metavar="SEEDS")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--play", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--constant", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.play:
        return play(asked.play[0], int(asked.play[1]))
    if asked.constant:
        return constants(asked.constant[0], int(asked.constant[1]))
    from gem_envs_reasoning.plugin import NAMES

    records = []
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda name: fuzz(name, asked.limit, asked.constants), asked.ids or NAMES):
            records.append(found)
            constant = found.get("constant", {})
            print(
                f"{found['id']:27} {found['answers']:4} answers, slowest {found['slowest'][0]:6.3f} s, "
                f"hung {len(found['hung'])}, died {len(found['died'])}, raised {len(found['raised'])}, "
                f"ran {len(found['ran'])}, printed {found['printed']}, won {len(found['won'])}, "
                f"spoiled {len(found['spoiled'])}, "
                f"constant {constant.get('share', 0):.2f} {constant.get('best', '')!r}",
                flush=True,
            )
            if asked.json:
                asked.json.write_text(json.dumps(records, indent=1))
    print(f"{sum(r['answers'] for r in records)} answers to {len(records)} graders")
    return None


if __name__ == "__main__":
    main()
