"""A server as a process of a run: how long its start is waited for, and what is said about one that failed.

A program of each test stands in for vLLM's.
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gem.errors import ConfigError
from gem_train.engines.vllm import launch
from gem_train.engines.vllm.launch import ServerProcess

WARNING = (
    "(APIServer pid=7) WARNING 11-25 05:00:57 [system_utils.py:299] Found ulimit of 4096 and failed to automatically "
    "increase with error current limit exceeds maximum limit. This can cause fd limit errors like `OSError: [Errno 24] "
    "Too many open files`. Consider increasing with ulimit -n"
)


@contextmanager
def serving(folder: Path, program: str) -> Iterator[ServerProcess]:
    """A server that is `program`, run in `folder`."""
    package = folder / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    (package / "api_server.py").write_text(f"import os, sys, time\nos.chdir({str(folder)!r})\n{program}\n")
    with closing(ServerProcess({}, {"PYTHONPATH": str(folder)}, folder)) as process:
        yield process


@pytest.mark.parametrize("work", ["print('loading', flush=True); time.sleep(0.1)", "sum(range(10**5))"])
def test_a_server_is_waited_for_as_long_as_it_writes_or_computes(tmp_path, monkeypatch, work):
    monkeypatch.setattr(launch, "_COMPUTED", 0.01)
    program = f"until = time.time() + 1.6\nwhile time.time() < until: {work}\nopen('ready', 'w'); time.sleep(60)"
    with serving(tmp_path, program) as process:
        process.wait_until((tmp_path / "ready").exists, 0.5)


def test_a_server_that_neither_writes_nor_computes_is_given_up(tmp_path):
    with (
        serving(tmp_path, "time.sleep(60)") as process,
        pytest.raises(ConfigError, match=r"has done nothing for 0\.5 s; engine\.start_timeout .* It still runs"),
    ):
        process.wait_until(lambda: False, 0.5)


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["ValueError: no memory", WARNING], "ended with status 3. ValueError: no memory"),
        (["site.py:1: UserWarning: as in OSError: no"], "status 3. Its log ends with: site.py:1: UserWarning"),
        (
            ["ERROR 11-25 05:00:57 [core.py:1] engine.Dead.HeadError: 7", "RuntimeError: See root cause above."],
            "status 3. HeadError: 7",
        ),
    ],
)
def test_the_error_of_a_server_that_ended_is_shown_and_not_a_warning(tmp_path, lines, shown):
    program = f"print({chr(10).join(lines)!r}); sys.exit(3)"
    with serving(tmp_path, program) as process, pytest.raises(ConfigError, match="ended before it was ready") as found:
        process.wait_until(lambda: False, 60)
    assert shown in str(found.value)


def test_a_server_that_is_about_to_end_is_said_to_have_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "_DYING", 60)
    with serving(tmp_path, "open('ready', 'w'); time.sleep(0.5); sys.exit(9)") as process:
        process.wait_until((tmp_path / "ready").exists, 60)
        assert process.last_words().startswith("It ended with status 9.")


def test_what_a_server_that_was_killed_has_started_ends_with_it(tmp_path):
    program = (
        "import subprocess\nengine = subprocess.Popen(['sleep', '600'])\nprint(engine.pid, flush=True)\nengine.wait()"
    )
    with serving(tmp_path, program) as process:
        process.wait_until(lambda: (tmp_path / "log").read_text().endswith("\n"), 60)
        engine = int((tmp_path / "log").read_text())
        process._process.kill()
        process._process.wait()
        os.kill(engine, 0)  # it is there
    for _ in range(1000):
        try:
            os.kill(engine, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)  # until whoever adopted it has noticed
    pytest.fail("it is still there")
