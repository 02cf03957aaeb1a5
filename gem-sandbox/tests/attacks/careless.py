"""Runners as one finds them: each lacks something, and the attacks that it invites are controls here.

Every function takes the attack and gives an `Outcome`. What keeps them from harm is the container around them.
"""

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from attacks.model import Attack

ENOUGH = 64 * 2**20
"""Bytes of output that a control reads; by then it has been seen to be flooded."""
PATIENCE = 10.0
"""Seconds after which a control is ended that nothing else ends."""
TIMEOUT = 0.5


@dataclass
class Outcome:
    """What a program printed, whether it was taken to have passed its tests, and how the sandbox says it ended."""

    stdout: str = ""
    stderr: str = ""
    passed: bool = False
    note: str = ""


def subprocess_(attack: Attack, **settings: object) -> Outcome:
    """An interpreter per program, in a folder of its own, with no limit at all."""
    folder = tempfile.mkdtemp()
    try:
        return _interpret(attack.code, cwd=folder, **settings)
    finally:
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)


def stay(attack: Attack) -> Outcome:
    """The same folder for every program."""
    return _interpret(attack.code, cwd=os.getcwd())


def soft_limits(attack: Attack) -> Outcome:
    """Limits that the program may raise."""
    return subprocess_(attack, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 20)))


def to_file(attack: Attack) -> Outcome:
    """Output goes to a file, which is then read."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([sys.executable, "-c", attack.code], stdout=out, stderr=subprocess.DEVNULL)
        process.wait(PATIENCE)
        out.seek(0)
        return Outcome(out.read(ENOUGH).decode())


def until_end_of_file(attack: Attack) -> Outcome:
    """Read the output to its end, taking that for the program's end."""
    with subprocess.Popen([sys.executable, "-c", attack.code], stdout=subprocess.PIPE) as process:
        text = process.communicate(timeout=None)[0]
        return Outcome(text.decode())


def terminate(attack: Attack) -> Outcome:
    """A signal that a program may ignore, and patience."""
    process = subprocess.Popen([sys.executable, "-c", attack.code], stdout=subprocess.PIPE, text=True)
    time.sleep(TIMEOUT)
    process.terminate()
    return Outcome(process.communicate()[0])


def kill_group(attack: Attack) -> Outcome:
    """Kill the program's group, which any of its processes may have left."""
    command = [sys.executable, "-c", attack.code]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(TIMEOUT)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return Outcome()


def here(attack: Attack) -> Outcome:
    """In the runner's own interpreter, both programs one after the other."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        _execute(attack.code, {})
    return Outcome(output.getvalue())


def here_with_alarm(attack: Attack) -> Outcome:
    """In the runner's own interpreter, with an exception when time is up."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, TIMEOUT, TIMEOUT)
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(TimeoutError):
        _execute(attack.code, {})
    signal.setitimer(signal.ITIMER_REAL, 0)
    return Outcome(output.getvalue())


def forked(attack: Attack) -> Outcome:
    """In a fork of the runner, which has the runner's memory."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(writing, 1)
        _execute(attack.code, {})
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        output = pipe.read().decode()
    os.wait()
    return Outcome(output)


def graded_here(attack: Attack, answer: str) -> Outcome:
    """Output is compared in the interpreter that has run the program."""
    import __main__

    answers = [answer]
    output = io.StringIO()
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(output):
        _execute(attack.code, names)
    passed = bool(__main__.same(output.getvalue(), answers[0])) or names.get("answer") == answers[0]
    return Outcome(output.getvalue(), passed=passed)


def graded_by_exit(attack: Attack, answer: str) -> Outcome:
    """Tests stand below the program, and an exit status of 0 says that they passed."""
    code = f"{attack.code}\nassert solve() == {answer!r}\n"
    done = subprocess.run([sys.executable, "-"], input=code.encode(), capture_output=True, check=False)
    return Outcome(passed=done.returncode == 0)


def graded_beside_answer(attack: Attack, answer: str) -> Outcome:
    """The answers are in a file beside the program."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "expected.txt").write_text(answer)
        outcome = _interpret(attack.code, cwd=folder)
    return Outcome(outcome.stdout, passed=outcome.stdout.strip() == answer)


def graded_by_report(attack: Attack, answer: str) -> Outcome:
    """The graded process reports the verdict itself, on a pipe that the program inherits."""
    reading, writing = os.pipe()
    code = f"{attack.code}\nimport os, json\nos.write({writing}, json.dumps(solve() == {answer!r}).encode())"
    command = [sys.executable, "-"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=[writing])
    process.communicate(code.encode())
    os.close(writing)
    with open(reading, "rb") as pipe:
        report = pipe.read()
    return Outcome(passed=bool(report) and bool(json.JSONDecoder().raw_decode(report.decode())[0]))


def graded_apart(attack: Attack, answer: str) -> Outcome:
    """An interpreter of its own for the program, beside a grader that every user may read."""
    held = bytearray(answer.encode())
    outcome = subprocess_(attack)
    return Outcome(outcome.stdout, passed=outcome.stdout.strip() == held.decode())


RUNNERS: dict[str, Callable[[Attack], Outcome]] = {
    "subprocess": subprocess_,
    "stay": stay,
    "soft limits": soft_limits,
    "to file": to_file,
    "until end of file": until_end_of_file,
    "terminate": terminate,
    "kill group": kill_group,
    "here": here,
    "here with alarm": here_with_alarm,
    "forked": forked,
}
GRADERS: dict[str, Callable[[Attack, str], Outcome]] = {
    "here": graded_here,
    "by exit": graded_by_exit,
    "beside answer": graded_beside_answer,
    "by report": graded_by_report,
    "apart": graded_apart,
}


def _execute(code: str, names: dict[str, object]) -> None:
    names["__name__"] = "__main__"
    exec(compile(code, "<program>", "exec"), names)


def _interpret(code: str, **settings: object) -> Outcome:
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        close_fds=False,
        **settings,  # type: ignore[call-overload]
    )
    assert process.stdout is not None
    assert process.stderr is not None
    pieces: dict[IO[bytes], bytes] = {}

    def read(pipe: IO[bytes]) -> None:
        pieces[pipe] = pipe.read(ENOUGH)
        if len(pieces[pipe]) == ENOUGH:
            process.kill()

    threads = [threading.Thread(target=read, args=(pipe,)) for pipe in (process.stdout, process.stderr)]
    for thread in threads:
        thread.start()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    process.kill()
    for thread in threads:
        thread.join(PATIENCE)
    output, complained = (pieces.get(pipe, b"").decode() for pipe in (process.stdout, process.stderr))
    return Outcome(output, complained)
