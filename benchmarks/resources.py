"""Resources with a capacity: every backend, episodes that end in every way, the order of who waits, a planted fault.

    python benchmarks/resources.py [--episodes 1000] [--json FILE]

1. Of a resource there are two; 200 episodes on each backend, with more envs than that: all finish, or the settings are
   refused at once. The states are files, so that those of all processes are counted.
2. Of so many episodes at once, each with a program of its own (`cat`) of which there may be 16, 20% raise, 10% are
   cancelled while they wait or call, and 5% cannot open the program. What is left afterwards is counted: states, places
   in the queue, descriptors, children and threads.
3. The order in which episodes get a state, beside that of asking.
4. The same with a pool that wakes nobody: it has to be noticed.

Prints JSON.
"""

import argparse
import asyncio
import contextlib
import gc
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from uuid import uuid4

import gem
from gem.core import Step
from gem.errors import ConfigError, MissingExtra
from gem.rollout import rollout
from gem.tool import Resource, ToolRuntime, tool
from gem.work.permits import Permits

NAME = Path(__file__).stem
"""What other processes import this file as."""
CAPACITY = 2
EPISODES = 200
HANGS = 300.0
"""Seconds after which something that has not ended hangs."""


class File(Resource[Path]):
    """A file for each open state, and a line in a log: how many are open with it."""

    capacity = CAPACITY

    def __init__(self, folder):
        super().__init__(name=f"file in {folder}")
        self.folder = Path(folder)

    def open(self):
        state = self.folder / f"open-{os.getpid()}-{uuid4().hex}"
        state.touch()
        with (self.folder / "log").open("a") as log:
            log.write(f"{len(list(self.folder.glob('open-*')))}\n")
        return state

    def renew(self, state):
        return True

    def close(self, state):
        state.unlink()


def writing(folder):
    """The tool `write`."""

    @tool(resource=File(folder))
    def write(state: Path, text: str) -> str:
        """Write."""
        time.sleep(0.001)
        return text

    return write


class Talk(gem.TurnEnv):
    """Ends with the first reply that is no call."""

    def _reset(self, options):
        return "Say something."

    def _step(self, action):
        return Step.final("Well.", 1.0, success=True)

    def sample_action(self):
        return "Done."


def says(transcript):
    return f"<write>{len(transcript.turns)}</write>" if len(transcript.turns) < 3 else "Done."


def ended(work, seconds=HANGS):
    """Whether it ends within that time."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def on(backend, num_envs, **settings):
    """What becomes of 200 episodes on a backend."""
    with tempfile.TemporaryDirectory() as folder:
        wrapper = {"name": "tool_env", "tools": [{"name": f"{NAME}:writing", "folder": folder}], "format": "tags"}
        began = time.perf_counter()
        try:
            envs = gem.make_vec(f"{NAME}:Talk", num_envs, backend=backend, wrappers=[wrapper], **settings)
        except (ConfigError, MissingExtra) as error:
            return {"refused": str(error), "seconds": time.perf_counter() - began}
        episodes = []
        with envs:
            finished = ended(lambda: episodes.extend(rollout(says, envs, range(EPISODES))))
            figures = gem.tool.shared_runtime().figures()[f"file in {folder}"]
        most = max(map(int, (Path(folder) / "log").read_text().split()))
        failures = sum(episode.failure is not None for episode in episodes)
        return {
            "finished": finished,
            "episodes": len(episodes),
            "failures": failures,
            "most_open": most,
            "served": figures.served,
            "waited_seconds": figures.waited,
            "seconds": time.perf_counter() - began,
        }


class Cat(Resource):
    """A program with two pipes, of which there may be 16; each twentieth cannot be opened."""

    capacity, name = 16, "cat"

    def __init__(self):
        super().__init__()
        self.opened = self.most = self.live = 0
        self._lock = threading.Lock()

    def open(self):
        with self._lock:
            self.opened += 1
            if self.opened % 19 == 0:  # of those that get so far, so 5% of all
                raise OSError("no more programs")
            self.live += 1
            self.most = max(self.most, self.live)
        return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self, state):
        state.kill()
        state.communicate()
        with self._lock:
            self.live -= 1


def held():
    gc.collect()
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "children": len(children),
        "threads": threading.active_count(),
    }


def every_end(count):
    """Episodes that end in every way, and what is left of them."""
    before = held()
    runtime, cat, rng = ToolRuntime(), Cat(), random.Random(0)

    @tool(resource=cat, timeout=600)
    def say(process, text: str) -> str:
        """Send it text."""
        if text == "raise":
            raise RuntimeError("raised")
        process.stdin.write(text.encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline().decode()

    ends = ["raise"] * (count // 5) + ["cancel"] * (count // 10) + ["end"] * (count - count // 5 - count // 10)
    rng.shuffle(ends)

    async def play(end):
        session = runtime.session([cat])
        try:
            if end == "cancel":
                call = asyncio.create_task(runtime.acall(say, {"text": end}, session))
                await asyncio.sleep(rng.uniform(0, 2))
                call.cancel()
                await asyncio.wait([call])
                return "cancelled" if call.cancelled() else "end"
            for _ in range(2):
                await runtime.acall(say, {"text": end}, session)
            return "end"
        except RuntimeError:
            return "raised"
        except OSError:
            return "not opened"
        finally:
            await asyncio.to_thread(session.close)

    async def everybody():
        return await asyncio.gather(*map(play, ends))

    outcomes = []
    finished = ended(lambda: outcomes.extend(asyncio.run(everybody())))
    until = time.monotonic() + 30
    while runtime.states.in_use and time.monotonic() < until:
        time.sleep(0.01)
    figures = runtime.figures()["cat"]
    left = {"in use": figures.in_use, "idle": figures.idle, "waiting": figures.waiting, "programs": cat.live}
    runtime.close()
    after = held()
    return {
        "finished": finished,
        "outcomes": {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))},
        "most_open": cat.most,
        "left": left,
        "more_than_before": {name: after[name] - before[name] for name in after if after[name] > before[name]},
    }


async def in_order(permits, count):
    """Whether permits are given in the order of asking, with cancelled ones in between; it hangs if nobody is woken."""
    rng, order = random.Random(1), []

    async def play(number):
        permit = await permits.acquire("any", permits.release, 600.0)
        order.append(number)
        await asyncio.sleep(rng.choice([0, 0.0005]))
        permits.release(permit)

    tasks = [asyncio.create_task(play(number)) for number in range(count)]
    for task in rng.sample(tasks, count // 10):
        asyncio.get_running_loop().call_later(rng.uniform(0, 0.05), task.cancel)
    await asyncio.gather(*tasks, return_exceptions=True)
    return order == sorted(order) and permits.figures()[1:4] == (0, 0, 0)


class Asleep(Permits):
    """The planted fault: who waits is never woken."""

    def _wake(self, served):
        super()._wake(served if len(self._all) and self._served <= self.limit else [])


def run(episodes):
    backends = {
        "sync, 8 envs": on("sync", 8),
        "sync, 2 envs": on("sync", 2),
        "thread, 8 envs": on("thread", 8),
        "thread, 8 envs in 2 threads": on("thread", 8, num_workers=2),
        "process, 4 envs in 4 workers": on("process", 4, num_workers=4),
        "process, 4 envs in 2 workers": on("process", 4, num_workers=2),
        "ray, 4 envs": on("ray", 4, num_workers=2),
    }
    ends = every_end(episodes)
    order = asyncio.run(asyncio.wait_for(in_order(Permits("order", 2), 1000), HANGS))
    try:
        asyncio.run(asyncio.wait_for(in_order(Asleep("asleep", 2), 1000), 5.0))
        noticed = False
    except TimeoutError:
        noticed = True
    fine = [
        "refused" in each
        or (
            each["finished"] and (each["episodes"], each["failures"]) == (EPISODES, 0) and each["most_open"] <= CAPACITY
        )
        for each in backends.values()
    ]
    return {
        "python": platform.python_version(),
        "backends": backends,
        "every_end": ends,
        "asked": {
            "all finish, or the settings are refused": all(fine),
            "nothing is left after episodes that end in every way": ends["finished"]
            and not any(ends["left"].values())
            and not ends["more_than_before"],
            "order of getting is that of asking": order,
            "a pool that wakes nobody is noticed": noticed,
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=1000, help="that end in every way")
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    with contextlib.redirect_stdout(sys.stderr):  # that of Ray
        report = run(arguments.episodes)
    text = json.dumps(report, indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
