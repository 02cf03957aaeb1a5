"""Envs of sessions are closed at the end of the process, because frameworks do not say when they have finished."""

import subprocess
import sys

import pytest

HANG_LIMIT = 60
ENV = """
import os, pathlib, time, gem

class Closing(gem.TurnEnv):
    def _reset(self, options):
        return "go"

    def _step(self, action):
        while action == "hang":
            pathlib.Path("hangs").touch()
            time.sleep(1)
        return gem.Step.ongoing("")

    def sample_action(self):
        return "x"

    def close(self):
        with pathlib.Path("closed").open("a") as file:
            print(os.getpid(), self._seed, file=file)
"""
PROGRAM = """
import asyncio, os, sys
from gem_interop.session import Sessions

async def play():
    sessions = Sessions("closing_env:Closing", most=4)
    each = [sessions.message_session() for seed in range(3)]
    for seed, session in enumerate(each):
        await session.start(seed)
    if how == "hangs":
        asyncio.create_task(each[2].said("hang"))
        while not os.path.exists("hangs"):
            await asyncio.sleep(0.01)
    return sessions, each

how = sys.argv[1]
kept = asyncio.run(play())
if how == "forks" and os.fork() == 0:
    try:
        asyncio.run(asyncio.wait_for(kept[1][0].start(0), 20))  # it hung: a fork has no threads
    except RuntimeError as error:
        asyncio.run(kept[0].close())
        sys.exit("make Sessions in each process" not in str(error))
if how == "forks":
    assert os.wait()[1] == 0
print(os.getpid())
if how == "raises":
    raise ValueError("the training failed")
"""
FULL = pytest.mark.full


@pytest.mark.parametrize(
    ("how", "closed"),
    [
        pytest.param("ends", [0, 1, 2], marks=FULL),
        ("raises", [0, 1, 2]),
        pytest.param("hangs", [0, 1], marks=FULL),
        pytest.param("forks", [0, 1, 2], marks=FULL),
    ],
)
def test_a_process_that_ends_without_closing_its_sessions_closes_every_env_once(tmp_path, how, closed):
    (tmp_path / "closing_env.py").write_text(ENV)
    command = [sys.executable, "-c", PROGRAM, how]
    done = subprocess.run(command, check=False, cwd=tmp_path, timeout=HANG_LIMIT, capture_output=True, text=True)
    assert done.returncode == (how == "raises"), done.stderr
    assert done.stderr.count("Error") == (how == "raises"), done.stderr
    process = done.stdout.strip()
    assert sorted((tmp_path / "closed").read_text().splitlines()) == [f"{process} {seed}" for seed in closed]
