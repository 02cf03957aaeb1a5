"""Tools that wait for a server: without a barrier, turn by turn, and one after another; several calls in one reply.

    python benchmarks/tool_calls.py [--episodes 64] [--turns 6] [--mean 0.2] [--repeats 3] [--json FILE]

A server in a process of its own answers after a latency that it draws for each call, the same in every form, and counts
on its own side how many calls are in flight. Episodes of so many calls are played by a rollout in threads (`async`), by
`VectorEnv.step` for all at once (`barrier`), and one after another in one env (`serial`, once). The observations of the
three are compared. With a constant latency there is nothing to gain: the control. Then a limit of 16 calls at once, and
replies with eight calls. Prints JSON, and what of it was asked for.
"""

import argparse
import asyncio
import functools
import json
import platform
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import gem
from gem.core import Step
from gem.rollout import rollout
from gem.tool import tool
from gem.wrappers.tool_env import ToolEnv

LIMIT = 64
"""Calls at once of the tool; of the runtime there are as many."""
FEW = 16
AT_ONCE = 8
"""Calls in a reply."""


async def serve():
    """Answer lines of JSON: `{"call": …, "kind": …, "mean": …}`, or `{"ask": "count"}`, which sets the count back."""
    now, most, served = 0, 0, 0

    async def answer(reader, writer):
        nonlocal now, most, served
        asked = json.loads(await reader.readline())
        if "ask" in asked:
            told = {"most": most, "served": served}
            most, served = now, 0
        else:
            now += 1
            most = max(most, now)
            draw = random.Random(asked["call"]).expovariate(1 / asked["mean"])
            await asyncio.sleep(draw if asked["kind"] == "exponential" else asked["mean"])
            now -= 1
            served += 1
            told = {"answer": random.Random(asked["call"]).getrandbits(32)}
        writer.write(json.dumps(told).encode() + b"\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def request(port, message):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(json.dumps(message).encode() + b"\n")
        return json.loads(await reader.readline())
    finally:
        writer.close()


def asking(port, kind, mean, limit):
    """The tool `ask`."""

    @tool(max_concurrency=limit, timeout=600)
    async def ask(call: str) -> str:
        """Ask the server."""
        return str((await request(port, {"call": call, "kind": kind, "mean": mean}))["answer"])

    return ask


class Talk(gem.TurnEnv):
    """Ends with the first reply that is no call."""

    def _reset(self, options):
        return f"Start {self.rng.getrandbits(32)}."

    def _step(self, action):
        return Step.final("Well.", 1.0, success=True)

    def sample_action(self):
        return "Done."


def make(port, kind, mean, limit):
    wrapper = functools.partial(ToolEnv, tools=[asking(port, kind, mean, limit)], format="tags", max_calls=None)
    return {"ids": f"{__name__}:Talk", "wrappers": [wrapper]}


def reply(start, turn, turns):
    return f"<ask>{start} {turn}</ask>" if turn < turns else "Done."


def played_async(settings, episodes, turns):
    seen = {}
    with gem.make_vec(**settings, num_envs=episodes, backend="thread") as envs:

        def policy(transcript):
            first = transcript.turns[0].observation if transcript.turns else transcript.observation
            start = first.split("\n")[0]
            return reply(start, len(transcript.turns), turns)

        began = time.perf_counter()
        for episode in rollout(policy, envs, range(episodes)):
            assert episode.failure is None, episode.failure
            seen[episode.start.seed] = [str(turn.observation) for turn in episode.turns]
        return time.perf_counter() - began, seen


def played_barrier(settings, episodes, turns):
    with gem.make_vec(**settings, num_envs=episodes, backend="thread", autoreset="off") as envs:
        began = time.perf_counter()
        observations, _ = envs.reset(seed=list(range(episodes)))
        seen = {seed: [observation] for seed, observation in enumerate(observations)}
        starts = [observation.split("\n")[0] for observation in observations]
        for turn in range(turns + 1):
            step = envs.step([reply(start, turn, turns) for start in starts])
            for seed, observation in enumerate(step.observations if turn < turns else ()):
                seen[seed].append(observation)
        return time.perf_counter() - began, seen


def played_serial(settings, episodes, turns):
    seen = {}
    with gem.make(settings["ids"], wrappers=settings["wrappers"]) as env:
        began = time.perf_counter()
        for seed in range(episodes):
            observation, _ = env.reset(seed=seed)
            start = observation.split("\n")[0]
            seen[seed] = [observation]
            for turn in range(turns):
                seen[seed].append(env.step(reply(start, turn, turns)).observation)
            env.step(reply(start, turns, turns))
        return time.perf_counter() - began, seen


FORMS = {"async": played_async, "barrier": played_barrier, "serial": played_serial}


def measured(port, form, kind, arguments, limit=LIMIT, episodes=None):
    asyncio.run(request(port, {"ask": "count"}))
    settings = make(port, kind, arguments.mean, limit)
    seconds, seen = FORMS[form](settings, episodes or arguments.episodes, arguments.turns)
    return {"seconds": seconds, **asyncio.run(request(port, {"ask": "count"}))}, seen


def several(port, mean, repeats):
    """Seconds of a reply with several calls, over those of its slowest call and over their sum."""
    env = ToolEnv(Talk(), [asking(port, "exponential", mean, LIMIT)], format="hermes", parallel=True, max_calls=None)
    env.reset(seed=0)
    rows = []
    for repeat in range(repeats):
        calls = [f"several {repeat} {number}" for number in range(AT_ONCE)]
        latencies = [random.Random(call).expovariate(1 / mean) for call in calls]
        text = "\n".join(
            f"<tool_call>{json.dumps({'name': 'ask', 'arguments': {'call': call}})}</tool_call>" for call in calls
        )
        began = time.perf_counter()
        step = env.step(text)
        seconds = time.perf_counter() - began
        assert [each["answer"].split("\n")[1] for each in step.info["calls"]] == [
            str(random.Random(call).getrandbits(32)) for call in calls
        ]
        rows.append({"of_slowest": seconds / max(latencies), "of_sum": seconds / sum(latencies)})
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def run(arguments):
    program = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = int(server.stdout.readline())
            measured(port, "async", "constant", argparse.Namespace(mean=0.001, turns=2), episodes=8)  # imports
            cases, seen = {}, {}
            for kind in ("exponential", "constant"):
                rounds = {form: [] for form in FORMS}
                for repeat in range(arguments.repeats):
                    for form in FORMS:
                        if form == "serial" and (repeat or kind == "constant"):
                            continue
                        figures, episodes = measured(port, form, kind, arguments)
                        rounds[form].append(figures)
                        seen.setdefault(kind, []).append(episodes)
                cases[kind] = {
                    form: {
                        "seconds": statistics.median(each["seconds"] for each in every),
                        "most_in_flight": [each["most"] for each in every],
                        "served": every[0]["served"],
                    }
                    for form, every in rounds.items()
                    if every
                }
            few, _ = measured(port, "async", "exponential", arguments, limit=FEW)
            at_once = several(port, arguments.mean, 5)
        finally:
            server.kill()
    exponential, constant = cases["exponential"], cases["constant"]
    ratio = exponential["barrier"]["seconds"] / exponential["async"]["seconds"]
    serial = exponential["serial"]["seconds"] / exponential["async"]["seconds"]
    control = constant["barrier"]["seconds"] / constant["async"]["seconds"]
    most = [n for kind in cases.values() for n in kind["async"]["most_in_flight"]]
    equal = all(episodes == every[0] for every in seen.values() for episodes in every)
    ids = f"{arguments.episodes} episodes of {arguments.turns} calls, mean {arguments.mean:g} s"
    return {
        "what": ids,
        "repeats": arguments.repeats,
        "python": platform.python_version(),
        "cases": cases,
        "limit_of_16": few,
        "several_calls": at_once,
        "asked": {
            "async over barrier, exponential (>= 1.6)": [ratio, ratio >= 1.6],
            "async over one after another (>= 15)": [serial, serial >= 15],
            "async over barrier, constant (0.95 to 1.10)": [control, 0.95 <= control <= 1.10],
            f"in flight of {LIMIT} (never above, >= 0.9)": [most, max(most) <= LIMIT and min(most) >= 0.9 * LIMIT],
            f"in flight of {FEW} (never above, >= 0.9)": [few["most"], 0.9 * FEW <= few["most"] <= FEW],
            "episodes equal in all forms": [equal, equal],
            "several calls: of the slowest, not the sum": [at_once["of_slowest"], at_once["of_slowest"] <= 1.2],
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--turns", type=int, default=6, help="calls of an episode")
    parser.add_argument("--mean", type=float, default=0.2, help="latency in seconds")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the report there, too")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve())
        return
    text = json.dumps(run(arguments), indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
