"""Levels: found by trying them, named when they fail, and never taken without being asked for."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import sandbox_levels

import gem_sandbox as sandbox
from gem_sandbox import LEVELS, Level, NotIsolated, Sandbox, self_test
from gem_sandbox.diagnostics import diagnose
from gem_sandbox.errors import ConfigError, ModuleMissing, SandboxUnavailable
from gem_sandbox.probe import _open
from gem_sandbox.slot import SandboxSlot
from gem_sandbox.visible import INSIDE, view

PROBE = "import json, gem_sandbox\nprint(json.dumps([[r.level, r.works, r.reason] for r in gem_sandbox.levels()]))"


def probe(prefix: Sequence[str] = (), **environment: str) -> dict[str, tuple[bool, str]]:
    """What a process says of the levels that is started by `prefix` and has more in its environment."""
    done = subprocess.run(
        [*prefix, sys.executable, "-c", PROBE],
        env=dict(os.environ) | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {level: (works, reason) for level, works, reason in json.loads(done.stdout)}


def test_every_level_is_reported_strongest_first() -> None:
    reports = sandbox.levels()

    assert [report.level for report in reports] == list(LEVELS)
    assert all(report.works == (report.reason == "") for report in reports)


def test_the_diagnosis_is_of_the_strongest_level_that_works() -> None:
    diagnosis = diagnose()

    works = [level for level in LEVELS if level not in sandbox_levels.lacking()]
    assert diagnosis["status"] == ("none" if works[0] == "process" else f"level {works[0]}")
    assert diagnosis["ok"] == (works[0] != "process")
    assert len(diagnosis["details"]) == LEVELS.index(works[0])


def test_the_strongest_level_that_works_is_taken() -> None:
    sandbox_levels.need("landlock")
    strongest = next(report.level for report in sandbox.levels() if report.works)
    with Sandbox(slots=1) as box:
        assert box.run("").level == strongest


def test_a_machine_without_bubblewrap_says_what_to_install_and_takes_the_next(tmp_path: Path) -> None:
    levels = probe(PATH=str(tmp_path))

    assert levels["bubblewrap"] == (False, "bubblewrap is not installed: apt-get install bubblewrap")
    assert levels["unshare"][0] == ("unshare" not in sandbox_levels.lacking())


def test_a_bubblewrap_that_fails_is_named_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)

    assert probe(PATH=f"{tmp_path}:{os.environ['PATH']}")["bubblewrap"] == (
        False,
        "bwrap: No permissions to create new namespace",
    )


def test_a_bubblewrap_that_keeps_nothing_in_is_found_out(tmp_path: Path) -> None:
    sandbox_levels.need("landlock")
    # It starts the server directly, without the isolation of bubblewrap.
    (tmp_path / "bwrap").write_text(
        '#!/bin/bash\nwhile [ "$1" != -- ]; do [ "$1" = --info-fd ] && eval "exec $2>&-"; shift; done\n'
        'shift\nexec "$@"\n'
    )
    (tmp_path / "bwrap").chmod(0o755)

    works, reason = probe(PATH=f"{tmp_path}:{os.environ['PATH']}")["bubblewrap"]

    assert not works
    assert "process ids of its own" in reason


def test_without_user_namespaces_landlock_is_left() -> None:
    sandbox_levels.need("bubblewrap")
    sandbox_levels.need("landlock")
    if os.geteuid() != 0:
        pytest.skip("only root can forbid user namespaces")
    # A namespace of users in which no further one may be made, as in many containers.
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    levels = probe(["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh"])

    assert not levels["bubblewrap"][0]
    assert not levels["unshare"][0]
    assert levels["landlock"] == (True, "")


def test_a_user_without_rights_has_every_level_that_root_has() -> None:
    works = {level for level, ok, _ in json.loads(sandbox_levels.as_nobody(PROBE)) if ok}

    assert works >= set(LEVELS) - set(sandbox_levels.lacking())


def test_level_seccomp_lets_read_and_nothing_else() -> None:
    code = """
from gem_sandbox import Sandbox
with Sandbox(slots=1, level="seccomp") as box:
    print(box.run("print(open('/etc/passwd').read() != '')").stdout.strip())
    for code in ("open('a', 'w')", "import os\\nos.mkdir('a')", "import os\\nos.unlink('a')", "open('a', 'r+')"):
        print("Read-only file system" in box.run(code, files={"a": ""}).stderr)
    for code in ("import socket\\nsocket.socket()", "import os\\nos.fork()", "import os\\nos.kill(os.getppid(), 9)"):
        print("Operation not permitted" in box.run(code).stderr)
    print(box.run("print(input())", stdin="True").stdout.strip())
"""
    assert sandbox_levels.as_nobody(code).split() == ["True"] * 9


@pytest.mark.parametrize("level", ["bubblewrap", "unshare"])
def test_no_signal_of_a_program_ends_the_server_of_its_user(level: Level) -> None:
    sandbox_levels.need(level)
    code = f"""
from gem_sandbox import Sandbox
with Sandbox(slots=1, level={level!r}) as box:
    for number in range(1, 65):
        result = box.run(f"import os\\nos.kill(1, {{number}})", processes=1)
        if (result.reason, result.stderr) != ("ok", ""):
            print(number, result)
    print(box.run("import os, time\\nos.kill(0, 2)\\ntime.sleep(5)", processes=1).stderr.split()[-1])
"""
    assert sandbox_levels.as_nobody(code) == "KeyboardInterrupt\n"


def command_line(pid: str) -> bytes:
    """The words that a process was started with; none, if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_root_without_capabilities_has_what_is_left_and_is_told_why() -> None:
    sandbox_levels.need("landlock")
    if os.geteuid() != 0:
        pytest.skip("only root can give up its capabilities")
    processes = "import os, ctypes\nctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER\n" + PROBE
    processes += "\nimport time\ntime.sleep(0.5)\nprint(open(f'/proc/self/task/{os.getpid()}/children').read())"
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-W", "ignore", "-c", processes]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()
    levels = {level: (works, reason) for level, works, reason in json.loads(lines[0])}

    assert [pid for pid in lines[1].split() if command_line(pid)] == []
    assert levels["landlock"] == (True, "")
    for level in ("bubblewrap", "unshare"):
        if level not in sandbox_levels.lacking():
            assert levels[level] == (False, "user 0 may not map users into a namespace: Operation not permitted")


def test_a_process_that_is_limited_itself_has_a_sandbox_within_its_limits() -> None:
    sandbox_levels.need("bubblewrap")
    code = """
import resource
import gem_sandbox as sandbox
for which, most in [(resource.RLIMIT_AS, 2 << 30), (resource.RLIMIT_FSIZE, 1 << 20), (resource.RLIMIT_CORE, 0)]:
    resource.setrlimit(which, (most, most))
print(sandbox.run("print(len(bytearray(10 ** 7)))", level="bubblewrap").stdout)
print(sandbox.run("bytearray(3 << 30)", level="bubblewrap", memory=8 << 30).reason)
print(sandbox.run("open('a', 'wb').write(bytes(2 << 20))", level="bubblewrap").reason)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)

    assert done.stdout.split() == ["10000000", "memory", "disk"], done.stderr


@pytest.mark.parametrize("level", sandbox_levels.CONFINED)
def test_programs_run_where_no_process_may_choose_its_processor(level: Level) -> None:
    sandbox_levels.need(level)
    code = f"""
import ctypes, os, platform, struct
from gem_sandbox import run
from gem_sandbox.inside import calls
number = {{"x86_64": 203, "aarch64": 122}}[platform.machine()]  # sched_setaffinity, which is refused from here on
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7fff0000)]
filter = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps), 8 * len(steps))
calls.prctl(calls.SET_NO_NEW_PRIVS)
calls.install_filter(calls.filter_of(filter))
try:
    os.sched_setaffinity(0, os.sched_getaffinity(0))
except PermissionError:
    print("refused", run("print(1)", level={level!r}).stdout)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)

    assert done.stdout.split() == ["refused", "1"], done.stderr


def test_where_seccomp_asks_somebody_else_already_level_landlock_says_so() -> None:
    sandbox_levels.need("landlock")
    code = f"""
import ctypes, struct
from gem_sandbox.inside import calls
allow = ctypes.create_string_buffer(struct.pack("<HBBI", 0x06, 0, 0, 0x7fff0000), 8)
calls.prctl(calls.SET_NO_NEW_PRIVS)
calls.install_listener(calls.filter_of(allow))
{PROBE}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    reasons = {level: reason for level, _, reason in json.loads(done.stdout)}

    assert "this container has another" in reasons["landlock"]


def test_below_the_level_asked_for_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with Sandbox(slots=1, min_level="bubblewrap") as box, pytest.raises(SandboxUnavailable) as caught:
        box.run("open('/tmp/ran', 'w')")

    assert "apt-get install bubblewrap" in str(caught.value)
    assert "min_level" in str(caught.value)


def test_no_isolation_must_be_written_out_and_warns() -> None:
    with pytest.raises(ConfigError, match="level='process'"):
        Sandbox(min_level="process")
    with pytest.warns(NotIsolated, match="limits alone"):
        box = Sandbox(slots=1, level="process")
    with box:
        result = box.run("print(1)")

    assert (result.stdout, result.level, result.isolated) == ("1\n", "process", False)


@pytest.mark.parametrize("level", sandbox_levels.CONFINED)
def test_the_self_test_passes_where_a_level_holds(level: Level) -> None:
    with sandbox_levels.box_at(level) as box:
        assert box.run("").isolated  # after the self-test, and because of it


def test_the_self_test_fails_a_slot_that_keeps_nothing_in() -> None:
    with sandbox_levels.box_at("process") as box:
        box.run("")
        (slot,) = box._state.idle["python"]
        disguised = SandboxSlot(slot._server, "bubblewrap")
        with pytest.raises(SandboxUnavailable) as caught:
            self_test.check(disguised)

    for escape in ("read files", "write files", "use the network", "signal other processes", "start processes"):
        assert escape in str(caught.value)


@pytest.mark.parametrize("level", sandbox_levels.CONFINED)
def test_the_self_test_passes_where_gem_is_installed_beside_the_interpreters_library(level: Level) -> None:
    sandbox_levels.need(level)
    gem = Path(sandbox.__file__).parents[1]
    sight = view((), ())
    sight = replace(sight, paths=(*sight.paths, str(gem.parent)), hidden=(*sight.hidden, str(gem)))

    _open(level, sight, (), trusted=False).close()


def test_the_self_test_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    with sandbox_levels.own_temporary_folder(monkeypatch) as folder:
        assert any(report.works for report in sandbox.levels())

        assert os.listdir(folder) == []


def test_a_module_that_is_not_installed_is_named() -> None:
    with pytest.raises(ModuleMissing, match="pip install nonsense_module"):
        Sandbox(modules=("nonsense_module",))


def test_a_module_shows_what_it_requires_and_nothing_else_that_is_installed() -> None:
    seen = view(("pytest",), ())
    names = {Path(path).name for path in seen.shown}

    assert {"pytest", "_pytest", "pluggy", "iniconfig"} <= names
    assert not {"numpy", "pytest_timeout", "pip"} & names
    packages = set(seen.shown) - {str(INSIDE)}
    assert all(any(Path(path).is_relative_to(folder) for folder in seen.search) for path in packages)


def test_a_slots_own_program_is_seen_where_installed_packages_are_not() -> None:
    # GEM may be one of the installed packages whose folder is hidden.
    assert str(INSIDE) in view((), ()).shown


@pytest.mark.parametrize("level", ["bubblewrap", "unshare"])
def test_a_temporary_folder_can_be_shown_to_programs(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gem_sandbox.probe._trusted", set[Level]())
    with sandbox_levels.box_at(level, readable=(tempfile.gettempdir(),)) as box:
        result = box.run(f"import os\nopen('a', 'w').write('x')\nprint(os.listdir('.'), os.getcwd())\n"
                         f"print(len(os.listdir({tempfile.gettempdir()!r})) >= 0)")  # fmt: skip

    assert result.stdout == "['a'] /sandbox\nTrue\n"


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_file_of_this_machine_is_readable_where_asked_for(tmp_path: Path, mode: int) -> None:
    (tmp_path / "shown").write_text("yes")
    (tmp_path / "other").write_text("no")
    tmp_path.chmod(mode)
    (tmp_path / "shown").chmod(mode & 0o666)
    for level in sandbox_levels.CONFINED:
        if level in sandbox_levels.lacking():
            continue
        with sandbox_levels.box_at(level, readable=(str(tmp_path / "shown"),)) as box:
            assert box.run(f"print(open({str(tmp_path / 'shown')!r}).read())").stdout == "yes\n"
            assert box.run(f"open({str(tmp_path / 'other')!r})").reason == "error"
            assert box.run(f"open({str(tmp_path / 'shown')!r}, 'w')").reason == "error"
    assert (tmp_path / "shown").read_text() == "yes"
