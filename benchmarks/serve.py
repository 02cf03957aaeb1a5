"""Calls per second of `gemx serve`, and of OpenEnv's own server, with envs that take 50 ms.

    python benchmarks/serve.py [--sessions 8,64,256] [--clients 2] [--seconds 5] [--repeats 3] [--json FILE]

Each session is a WebSocket that sends its next action when the last is answered, so that the ideal is sessions / 50
ms. The clients are programs of their own with the same code for both servers. `no server` is the same envs in the
threads of the vector engine, asked in the same way without a network: what the machine allows at that time. The time of
the processor is the server's, per call. Calls count from a second after the last session has begun; sides take turns.
"""

import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from argparse import SUPPRESS
from pathlib import Path

from peers import PEERS, options, python_of, show
from websockets.asyncio.client import connect

HERE = Path(__file__).resolve().parent
LATENCY = 0.05
WARM_UP = 1.0
ENV = "sides.serve_waits:Waits"
STEP = '{"type": "step", "data": {"message": "go"}}'
SIDES = ("no server", "gemx serve", "OpenEnv's create_app")


async def count(sessions, seconds, ready, ask_of):
    """How many of these sessions' calls are answered within some seconds, once all have begun."""
    counted, window, begun, begins = 0, asyncio.Event(), 0, float("inf")
    until = float("inf")

    async def session(number):
        nonlocal counted, begun
        async with ask_of(number) as ask:
            begun += 1
            if begun == sessions:
                window.set()
            await window.wait()
            while time.time() < until:
                await ask()
                counted += begins <= time.time() < until

    tasks = [asyncio.create_task(session(number)) for number in range(sessions)]
    await window.wait()
    begins = await ready() + WARM_UP
    until = begins + seconds
    await asyncio.gather(*tasks)
    return counted


async def by_network(url, sessions, seconds):
    """The client program: says that it is ready, and reads from its input when to begin."""

    class Ask:
        def __init__(self, number):
            self.connection = connect(url, compression=None, proxy=None, ping_interval=None, max_queue=4)

        async def __aenter__(self):
            self.socket = await self.connection.__aenter__()
            await self.socket.send('{"type": "reset", "data": {"seed": 1}}')
            assert "observation" in await self.socket.recv()
            return self

        async def __call__(self):
            await self.socket.send(STEP)
            answer = await self.socket.recv()
            assert answer.startswith(('{"type": "observation"', '{"type":"observation"')), answer

        async def __aexit__(self, *error):
            await self.connection.__aexit__(*error)

    async def ready():
        print("ready", flush=True)
        return float(await asyncio.to_thread(sys.stdin.readline))

    print(json.dumps(await count(sessions, seconds, ready, Ask)))


async def in_threads(sessions, seconds):
    """The same without a server."""
    from gem.vector.make import SpecMaker, get_spec
    from gem.vector.messages import Reset
    from gem_interop.session.threads import EnvThreads

    threads = EnvThreads(SpecMaker(get_spec(ENV)), sessions, 60.0)

    class Ask:
        def __init__(self, number):
            self.number = number

        async def __aenter__(self):
            self.slot = await threads.take()
            await threads.run(self.slot, Reset(1))
            return self

        async def __call__(self):
            await threads.run(self.slot, "go")

        async def __aexit__(self, *error):
            threads.give_back(self.slot)

    async def ready():
        return time.time()

    begun = time.process_time()
    counted = await count(sessions, seconds, ready, Ask)
    spent = time.process_time() - begun
    await threads.close()
    print(json.dumps([counted, spent * seconds / (seconds + WARM_UP)]))


def command(*arguments, python=sys.executable):
    return subprocess.Popen(
        [str(python), *map(str, arguments)], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def processor_time(program):
    fields = Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(side, sessions, arguments):
    """The calls of a side within the window, and the seconds of processor time that they took."""
    if side == "no server":
        return json.loads(command(HERE / "serve.py", "--threads", sessions, arguments.seconds).communicate()[0])
    if side == "gemx serve":
        server = command("-m", "gem", "serve", ENV, "--port", 0, "--json", "--sessions", sessions)
    else:
        python = python_of("openenv", arguments.venv_dir)
        server = command(HERE / "sides" / "serve_openenv.py", sessions, python=python)
    with server:
        try:
            url = json.loads(server.stdout.readline())["url"].replace("http", "ws") + "/ws"
            program = (HERE / "serve.py", "--client", url, sessions // arguments.clients, arguments.seconds)
            clients = [command(*program) for _ in range(arguments.clients)]
            assert all(client.stdout.readline() == "ready\n" for client in clients)
            begins = time.time()
            for client in clients:
                client.stdin.write(f"{begins}\n")
                client.stdin.flush()
            time.sleep(WARM_UP)
            spent = processor_time(server)
            time.sleep(arguments.seconds)
            spent = processor_time(server) - spent
            return sum(json.loads(client.communicate()[0]) for client in clients), spent
        finally:
            server.kill()


def run(arguments):
    results = []
    for sessions in arguments.sessions:
        taken = {side: [] for side in arguments.sides}
        for _ in range(arguments.repeats):
            for side, numbers in taken.items():
                calls, spent = measure(side, sessions, arguments)
                numbers.append(
                    (calls / arguments.seconds, calls / (arguments.seconds * sessions / LATENCY), spent / calls)
                )
        for side, numbers in taken.items():
            speed, share, spent = (statistics.median(column) for column in zip(*numbers, strict=True))
            results.append(
                {"sessions": sessions, "side": side, "calls_per_second": speed, "of_ideal": share, "seconds": spent}
            )
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "openenv": PEERS["openenv"],
        "repeats": arguments.repeats,
        "clients": arguments.clients,
        "results": results,
    }


def table(report):
    """The report as Markdown."""
    lines = ["| sessions | side | calls/s | of the ideal | processor time of a call |", "|--:|---|--:|--:|--:|"]
    lines += [
        f"| {each['sessions']} | {each['side']} | {each['calls_per_second']:,.0f} | {each['of_ideal']:.1%} "
        f"| {each['seconds'] * 1e6:,.0f} µs |"
        for each in report["results"]
    ]
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--sessions", type=lambda text: [int(each) for each in text.split(",")], default=[8, 64, 256])
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--sides", type=lambda text: text.split(","), default=list(SIDES))
    parser.add_argument("--client", nargs=3, help=SUPPRESS)
    parser.add_argument("--threads", nargs=2, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.client:
        url, sessions, seconds = arguments.client
        asyncio.run(by_network(url, int(sessions), float(seconds)))
    elif arguments.threads:
        asyncio.run(in_threads(int(arguments.threads[0]), float(arguments.threads[1])))
    else:
        report = run(arguments)
        show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
