"""Every `rg:` grader and what leans on it: how long it takes, whether it raises, what runs, and what wins.

    python gem-envs-reasoning/tests/fuzz.py [--ids chain_sum …] [--limit 10] [--constants 200] [--json FILE]

Each id is played in a process of its own, in an empty folder: hostile answers, right answers that were changed, and
constant answers over many seeds. An answer that is not graded within the limit is counted, its process ended, and the
next one begins with the next answer.
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

from hostile import CONSTANTS, GENERIC, mutations

ITEMS = 3
"""Items of an id whose right answers are changed."""


def answers_of(env, name):
    """(seed, kind, answer) of what is tried, the same in every process."""
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
    """In a process of its own: say what comes of each answer from `start` on, a JSON object per line."""
    import gem

    env = gem.make(f"rg:{name}")
    tried = list(answers_of(env, name))
    tell(ready=True)
    for number, (seed, kind, answer) in enumerate(tried):
        if number < start:
            continue
        env.reset(seed=seed)
        right = env.item["answer"]
        began, cpu = time.perf_counter(), time.process_time()
        said = ""
        try:
            step = env.step(f"<answer>{answer}</answer>")
            reward, malformed = step.reward, "malformed" in step.info
        except Exception as error:
            reward, malformed, said = 0.0, False, f"{type(error).__name__}: {error}"[:200]
        tell(number=number, seed=seed, kind=kind, answer=answer[:300], reward=reward, malformed=malformed, raised=said,
             seconds=time.perf_counter() - began, cpu=time.process_time() - cpu,
             right=right if reward >= 1 else None)  # fmt: skip
        if env.item["answer"] != right:
            tell(spoiled=answer[:300])
    tell(done=True)


def constants(name, seeds):
    """In a process of its own: what answers win that never look at the question."""
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
    tell(best=best[:60], share=won / len(items), seeds=len(items), tried=len(dict.fromkeys(tried)))
    tell(done=True)


def tell(**what):
    os.write(_out, json.dumps(what).encode() + b"\n")


_out = 1


def watched(arguments, limit):
    """What a process of ours says, until it is done or says nothing for `limit` seconds."""
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
                    said = json.loads(line)
                except ValueError:
                    yield {"printed": line.decode(errors="replace")[:100]}
                    continue
                over = over or "done" in said
                yield said
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()
        if left := os.listdir(folder):
            yield {"ran": left}


def examined(name, limit, seeds):
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
        for said in watched(["--play", name, start], limit):
            if "number" in said:
                number = said["number"]
                found["answers"] += 1
                slowest = max(slowest, (round(said["seconds"], 3), said["answer"][:60]))
                if said["raised"]:
                    found["raised"].append((said["answer"][:80], said["raised"]))
                if said["reward"] >= 1:
                    found["won"].append((said["kind"], said["seed"], said["answer"], said["right"]))
            elif "hung" in said or "died" in said:
                answer = f"answer {number + 1}"
                found["hung" if "hung" in said else "died"].append((answer, said.get("stderr", "")))
                found["answers"] += 1
                start_next = number + 2
            elif "printed" in said:
                found["printed"] += 1
            elif "ran" in said:
                found["ran"] += said["ran"]
            elif "spoiled" in said:
                found["spoiled"].append(said["spoiled"])
        start = start_next
        if len(found["hung"]) + len(found["died"]) > 30:
            break
    found["slowest"] = slowest
    if seeds:
        for said in watched(["--constant", name, seeds], 300):
            if "best" in said:
                found["constant"] = said
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
        for found in pool.map(lambda name: examined(name, asked.limit, asked.constants), asked.ids or NAMES):
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
