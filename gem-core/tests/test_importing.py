"""Objects by name, in programs of many threads and forks."""

import subprocess
import sys
from pathlib import Path

import pytest

from gem.core import Env
from gem.errors import PackError, SpecError, UnknownId
from gem.packs.component_ref import as_list, name_and_settings
from gem.packs.importing import check_arguments, import_object, import_path, is_import_path

SLOW = "import time\ntime.sleep(0.2)\nclass Thing:\n    pass\n"


def run(program: str, folder: Path) -> str:
    """What a fresh interpreter prints that finds modules in `folder`."""
    (folder / "slow_package").mkdir()
    (folder / "slow_package" / "__init__.py").write_text(f"{SLOW}from slow_package.inner import Thing\n")
    (folder / "slow_package" / "inner.py").write_text(SLOW)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout + done.stderr


def test_threads_import_a_package_and_a_module_of_it_at_once(tmp_path: Path) -> None:
    program = """
import sys, threading, time
from gem.packs.importing import import_object
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "slow_package":
            time.sleep(0.2)
sys.meta_path.insert(0, Slow())
done = []
def get(number):
    import_object("slow_package.inner:Thing" if number % 2 else "slow_package:Thing")
    done.append(number)
threads = [threading.Thread(target=get, args=(number,)) for number in range(6)]
for thread in threads:
    thread.start()
    time.sleep(0.02)
for thread in threads: thread.join()
print(len(done))
"""
    assert run(program, tmp_path) == "6\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_fork_in_the_middle_of_an_import_finds_it_done(tmp_path: Path) -> None:
    program = """
import os, signal, threading, time
from gem.packs.importing import import_object
thread = threading.Thread(target=import_object, args=("slow_package:Thing",))
thread.start()
time.sleep(0.1)
if os.fork() == 0:
    signal.alarm(20)
    import_object("slow_package:Thing")
    os._exit(7)
print(os.waitstatus_to_exitcode(os.wait()[1]))
thread.join()
"""
    assert run(program, tmp_path) == "7\n"


def test_a_direct_name_reads_module_colon_name() -> None:
    assert is_import_path("os.path:join")
    assert is_import_path(" os:system ")
    assert not any(map(is_import_path, ("python", "http://localhost:8000", "a: b", "game:Sudoku-v0")))


def test_an_object_is_imported_by_its_dotted_name() -> None:
    assert import_object("gem.core:Env.reset") is Env.reset
    with pytest.raises(PackError, match=r"gem\.core has no 'Envs'\. Did you mean 'Env'"):
        import_object("gem.core:Envs")
    with pytest.raises(UnknownId, match=r"the module 'gem\.cores' of the tool 'gem\.cores:x' does not exist"):
        import_path("tool", "gem.cores:x")


def test_arguments_are_checked_before_a_call() -> None:
    def build(env: Env, size: int, *rest: int, colour: str = "red") -> None: ...

    check_arguments("it", build, {"size": 3, "colour": "blue"}, given=1)
    with pytest.raises(SpecError, match=r"it takes no argument 'sizes'\. Did you mean 'size'\? It takes: size, colour"):
        check_arguments("it", build, {"sizes": 3}, given=1)
    with pytest.raises(SpecError, match=r"it needs the argument 'size'\. It takes: size, colour\."):
        check_arguments("it", build, {"colour": "blue"}, given=1)
    check_arguments("it", lambda **settings: None, {"whatever": 3})
    check_arguments("it", str, {"object": 3})


def test_components_are_listed_however_they_are_given() -> None:
    limit = {"name": " turn_limit", "max_turns": 3}

    assert as_list("a, b,,") == ["a", "b"]
    assert as_list(limit) == [limit]
    assert as_list((limit, "a")) == [limit, "a"]
    assert name_and_settings(limit) == ("turn_limit", {"max_turns": 3})
    assert name_and_settings(" a ") == ("a", {})
    for wrong in (3, None, 1.5):
        with pytest.raises(SpecError, match="neither names with commas between, nor a list"):
            as_list(wrong)  # type: ignore[arg-type]
        with pytest.raises(SpecError, match="neither a name nor"):
            name_and_settings(wrong)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="settings need a 'name'"):
        name_and_settings({"name": 3})
