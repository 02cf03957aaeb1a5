"""A program with many sessions at a server, which leave in the middle of calls and come back.

`python serve_client.py URL TOKEN SESSIONS SECONDS SEED` prints how many answers it got; it fails at one that is wrong.
The seconds begin when all sessions have begun.
"""

import asyncio
import json
import random
import sys
import time

from websockets.asyncio.client import connect


async def main(url, token, sessions, seconds, seed):
    until, begun, all_begun = float("inf"), 0, asyncio.Event()
    headers = {"Authorization": f"Bearer {token}"}
    answers = left = failed = 0

    async def session(number):
        nonlocal answers, left, failed, begun, until
        rng = random.Random(f"{seed} {number}")
        while time.monotonic() < until:
            async with connect(url, additional_headers=headers, compression=None, proxy=None) as socket:

                async def ask(kind, **data):
                    await socket.send(json.dumps({"type": kind, "data": data}))
                    answer = json.loads(await asyncio.wait_for(socket.recv(), 60))
                    return answer["type"], answer["data"]

                begun += 1
                if begun == sessions:
                    until = time.monotonic() + seconds
                    all_begun.set()
                await all_begun.wait()
                while time.monotonic() < until:
                    kind, data = await ask("reset", seed=rng.randrange(100))
                    assert kind == "observation", data
                    for turn in range(1, rng.randint(2, 20)):
                        text = f"{seed} {number} {rng.random()}"
                        chance = rng.random()
                        if chance < 0.02:
                            await socket.send(json.dumps({"type": "step", "data": {"message": text}}))
                            left += 1
                            break
                        if chance < 0.04:
                            kind, data = await ask("step", message="fail")
                            assert (kind, data["code"]) == ("error", "EXECUTION_ERROR"), data
                            failed += 1
                            break
                        kind, data = await ask("step", message=text)
                        assert (kind, data["observation"]["message"]) == ("observation", f"{text} at turn {turn}"), data
                        answers += 1
                    if chance < 0.02:
                        socket.transport.abort()
                        break

    await asyncio.gather(*(session(number) for number in range(sessions)))
    print(json.dumps({"answers": answers, "left": left, "failed": failed}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])))
