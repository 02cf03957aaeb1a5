"""`gemx eval` against a server that fails, killed again and again and resumed: the summary of an unbroken run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_llm import ECHO, say_it_back

from gem.record import read
from gem.testing.chat_server import Trouble, chat_server

LIMIT = 24
ASKED = 120
KINDS = ("fail", "limit", "truncate", "garble", "error", "hang_up")
TROUBLE = Trouble(**dict.fromkeys(KINDS, 0.2 / len(KINDS)), latency=lambda rng: rng.expovariate(50))


def sometimes_right(messages):
    word = say_it_back(messages)
    return word if sum(map(ord, word)) % 2 else "I do not know."


def evaluation(url: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "gem", "eval", ECHO, "--model", "openai:any", "--base-url", url]
    command += ["--episodes", "60", "--k", "2", "--num-envs", "64", "--model-arg", f"concurrency={LIMIT}"]
    command += ["--no-floors", "--out", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def summary(folder: Path) -> dict[str, Any]:
    """Without what differs between any two runs: the times of the replies."""

    def kept(pairs: list[tuple[str, object]]) -> dict[str, object]:
        return {name: value for name, value in pairs if not name.startswith("latency")}

    return json.loads((folder / "summary.json").read_text(), object_pairs_hook=kept)


@pytest.mark.full
def test_an_evaluation_that_is_killed_and_resumed_gives_the_summary_of_an_unbroken_one(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    with chat_server(sometimes_right, TROUBLE) as server:
        _, errors = evaluation(server.url, whole).communicate(timeout=120)
        assert errors == b""
        assert server.answered == ASKED
        assert server.most <= LIMIT

    recorded = broken / "episodes.jsonl"
    with chat_server(sometimes_right, TROUBLE) as server:
        for share in (0.3, 0.7):
            process = evaluation(server.url, broken)
            until = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < until:
                if recorded.exists() and recorded.read_bytes().count(b"\n") >= share * ASKED:
                    break
                time.sleep(0.005)
            assert process.poll() is None
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        _, errors = evaluation(server.url, broken).communicate(timeout=120)
        assert server.most <= LIMIT
        assert server.answered <= ASKED + 2 * LIMIT  # at most what was in progress is asked twice

    played = list(read(recorded))
    assert b"they are not played again" in errors
    assert len({(each.seed, each.group) for each in played}) == len(played) == ASKED
    assert all(each.failure is None for each in played)
    assert summary(broken) == summary(whole)
    assert 0.2 < summary(whole)["success"] < 0.8
