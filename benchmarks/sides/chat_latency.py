"""The server of `llm_client.py`, and how both sides are counted. It costs little: it parses as much as it must.

    python chat_latency.py MEAN [TEXT]     prints its address, and serves until its standard input ends

It says TEXT, or something about hats.

It answers each request after a time from a lognormal distribution: every thousand answers have its quantiles, so that
their mean is exact.
"""

import asyncio
import json
import math
import os
import random
import statistics
import sys
import threading
import time
import urllib.request

SIGMA = 1.2
DRAWS = 1000
TURNS = 8
"""Replies of an episode, on every side."""
QUESTION, ANSWER = "Say something about hats. " * 20, "Hats are worn on heads. " * 10
WARM_UP = 1.25
"""Answers to each episode before the first that is counted."""


def head(content):
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(content),
        content,
    )


def reply(text):
    said = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "any",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
    }
    return head(json.dumps(said).encode())


def waits(mean):
    """Seconds before each answer, without end."""
    normal = statistics.NormalDist(0, SIGMA)
    drawn = [math.exp(normal.inv_cdf((number + 0.5) / DRAWS)) for number in range(DRAWS)]
    scale = mean / statistics.fmean(drawn)
    rng = random.Random(0)
    while True:
        rng.shuffle(drawn)
        yield from (scale * value for value in drawn)


class Connection(asyncio.Protocol):
    """One connection of a client that sends its next request after an answer."""

    answered = 0
    now = 0
    """Requests that wait for their answer."""
    waited = since = 0.0
    """Seconds that all of them have waited, up to a moment."""

    def __init__(self, loop, times, said):
        self.loop, self.times, self.said, self.seen = loop, times, said, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.seen += data
        end = self.seen.find(b"\r\n\r\n")
        if end < 0:
            return
        if self.seen.startswith(b"GET"):
            self.seen = b""
            self.turn(0)
            self.transport.write(head(json.dumps([Connection.answered, Connection.waited]).encode()))
            return
        lines = self.seen[:end].lower()
        length = int(lines.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(self.seen) >= end + 4 + length:
            self.seen = b""
            self.turn(1)
            self.loop.call_later(next(self.times), self.answer)

    def answer(self):
        Connection.answered += 1
        self.turn(-1)
        self.transport.write(self.said)

    def turn(self, more):
        """Count the time up to now, and so many more requests from now on."""
        now = self.loop.time()
        Connection.waited += Connection.now * (now - Connection.since)
        Connection.since = now
        Connection.now += more


async def serve(mean, text=ANSWER):
    loop, times, said = asyncio.get_running_loop(), waits(mean), reply(text)
    server = await loop.create_server(lambda: Connection(loop, times, said), "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def count(url):
    """Answers so far, the seconds that requests waited for them, those of a processor here, and those of the clock."""
    with urllib.request.urlopen(url, timeout=60) as response:
        return *json.loads(response.read()), time.process_time(), time.monotonic()


def report_after(url, episodes, seconds):
    """Count answers for some seconds after a warm-up, in a thread; then print the count and end this process."""

    def watch():
        while count(url)[0] - before < WARM_UP * episodes:
            time.sleep(0.1)
        first = count(url)
        time.sleep(seconds)
        calls, waited, cpu, wall = (later - earlier for later, earlier in zip(count(url), first, strict=True))
        print(json.dumps({"calls": calls, "busy": waited / wall / episodes, "cpu": cpu, "seconds": wall}), flush=True)
        os._exit(0)

    before = count(url)[0]
    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]), *sys.argv[2:]))
