"""Programs in the sandbox do what they do under Python itself."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import sandbox_levels

import gem_sandbox as sandbox
from gem_sandbox import Level, Sandbox

PROGRAMS = {
    "input": "print(input()[::-1], input())",
    "end of input": "input(); input(); input()",
    "all of the input": "import sys\nprint(len(sys.stdin.read().split()), sys.stdin.read() == '')",
    "binary input": "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])",
    "descriptor 0": "print(open(0).read().count('o'))",
    "unicode": "print('ärger 💎', '\\u2028')",
    "a lone surrogate": "print('\\udc80'.encode('utf-8', 'surrogateescape'))",
    "both outputs": "import sys\nprint('a', file=sys.stderr)\nprint('b')",
    "no flush": "import sys\nsys.stdout.write('x' * 10000)",
    "a closed output": "import sys\nprint('x')\nsys.stdout.close()",
    "no output object": "import sys\nprint('x')\nsys.stdout.flush()\nsys.stdout = None",
    "a replaced output": "import sys, io\nkeep = sys.stdout\nsys.stdout = io.StringIO()\nprint('x')\nsys.stdout = keep",
    "an output replaced for good": "import sys, io\nprint('x')\nsys.stdout = io.StringIO()\nprint('y')",
    "an output wrapped again": "import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\nprint('x')",
    "an open file": "f = open('a.txt', 'w')\nf.write('x' * 10)\nprint(f.tell())",
    "an output of its own": "import io\nout = io.TextIOWrapper(open(1, 'wb', closefd=False))\nout.write('late')",
    "files": "open('a.txt', 'w').write('x')\nprint(open('a.txt').read())",
    "exit": "print('x')\nexit(3)",
    "quit": "quit()",
    "sys.exit": "import sys\nsys.exit(256 + 7)",
    "sys.exit with a text": "import sys\nsys.exit('what a pity')",
    "os._exit": "import os\nprint('lost')\nos._exit(4)",
    "an exception": "def f(x):\n    return 1 / x\n\nf(0)",
    "a chain of exceptions": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e",
    "a syntax error": "print('x')\nif True print(2)",
    "an exception in exit": "class E(Exception):\n    def __str__(self): raise E\nraise E",
    "an exception group": "raise ExceptionGroup('both', [ValueError(1), TypeError(2)])",
    "excepthook": "import sys\nsys.excepthook = lambda *e: print('caught', e[0].__name__)\n1 / 0",
    "recursion": "def f(n): return f(n + 1)\nf(0)",
    "a warning": "import warnings\nwarnings.warn('careful')",
    "atexit": "import atexit\natexit.register(print, 'last')\nprint('first')",
    "__del__": "class A:\n    def __del__(self): print('gone')\na = A()",
    "a thread": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.05), print('t'))).start()\nprint('m')",
    "what a thread keeps": "import threading, time\nkept = threading.local()\n"
    "class A:\n    def __del__(self): time.sleep(0.05), print('gone')\n"
    "threading.Thread(target=lambda: setattr(kept, 'a', A())).start()",
    "a daemon": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint('m')",
    "a pool": "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(4)\n"
    "print(sum(p.map(abs, range(9))))",
    "asyncio": "import asyncio\nasync def main():\n    await asyncio.sleep(0.01)\n    print(1)\nasyncio.run(main())",
    "__name__": "print(__name__, [n for n in sorted(globals()) if not n.startswith('__')])",
    "pickle of a class": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))",
    "argv": "import sys\nprint(len(sys.argv))",
    "a deep stack": "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**26)\n"
    "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
    "t = threading.Thread(target=lambda: print(f(20000)))\nt.start()\nt.join()",
    "signals to itself": "import os, signal\nsignal.signal(signal.SIGUSR1, lambda *a: print('got it'))\n"
    "os.kill(os.getpid(), signal.SIGUSR1)",
    "an alarm": "import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: exit(5))\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.05)\ntime.sleep(5)",
    "a signal that ends it": "import os\nos.kill(os.getpid(), 15)",
    "abort": "import os\nos.abort()",
    "shutil": "import shutil\nopen('a', 'w').write('x')\nshutil.copyfile('a', 'b')\nprint(open('b').read())",
    "tempfile": "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n    print(open(d + '/a', 'w').write('x'))",
    "zoneinfo": "from zoneinfo import ZoneInfo\nprint(ZoneInfo('Asia/Tokyo'))",
    "sqlite in a file": "import sqlite3\na, b = sqlite3.connect('d'), sqlite3.connect('d', timeout=0)\n"
    "for mode in ('wal', 'delete'):\n    print(a.execute(f'pragma journal_mode = {mode}').fetchall())\n"
    "    a.execute(f'create table {mode}_ (x)')\n    a.execute(f'insert into {mode}_ values (1)')\n"
    "    try: b.execute(f'insert into {mode}_ values (2)')\n    except sqlite3.OperationalError as e: print(e)\n"
    "    a.commit()\n    print(b.execute(f'select * from {mode}_').fetchall())",
    "a file that is locked": "import fcntl\nwith open('a', 'w') as f:\n    fcntl.flock(f, fcntl.LOCK_EX)\n"
    "    fcntl.lockf(f, fcntl.LOCK_EX)\n    print(f.write('x'))",
    "sqlite": "import sqlite3\nprint(sqlite3.connect(':memory:').execute('select 1 + 1').fetchall())",
    "decimal": "from decimal import Decimal, getcontext\ngetcontext().prec = 50\nprint(Decimal(2).sqrt())",
    "ctypes": "import ctypes\nprint(ctypes.CDLL(None).abs(-5))",
    "mmap": "import mmap\nm = mmap.mmap(-1, 4096)\nm[:2] = b'ab'\nprint(m[:2])",
    "a pipe": "import os\nr, w = os.pipe()\nos.write(w, b'x')\nprint(os.read(r, 1))",
    "/dev/null": "print('x', file=open('/dev/null', 'w'))\nprint(open('/dev/null').read() == '')",
    "nothing": "",
}
INPUT = "hello wörld\nfoo bar\n"


@pytest.fixture(scope="module", params=[*sandbox_levels.CONFINED, "process"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_levels.box_at(request.param) as box:
        yield box


@cache
def under_python(name: str) -> subprocess.CompletedProcess[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "main.py").write_text(PROGRAMS[name], "utf-8")
        return subprocess.run(
            [sys.executable, "-P", "main.py"],
            cwd=folder,
            input=INPUT.encode(),
            capture_output=True,
            env={"LANG": "C.UTF-8"},
            check=False,
            timeout=60,
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_it_does_under_python(box: Sandbox, name: str) -> None:
    python = under_python(name)

    result = box.run(PROGRAMS[name], stdin=INPUT)

    assert result.stdout == python.stdout.decode(errors="replace")
    assert (result.exit_code, result.signal) == (
        (python.returncode, None) if python.returncode >= 0 else (None, -python.returncode)
    )
    last_words = python.stderr.decode().strip().splitlines()[-1:]
    assert result.stderr.strip().splitlines()[-1:] == last_words


def test_a_traceback_shows_the_program_and_nothing_of_the_sandbox(box: Sandbox) -> None:
    result = box.run("def f(x):\n    return 1 / x\n\nf(0)")

    lines = result.stderr.splitlines()
    assert [line for line in lines if line.startswith("  File")] == [
        '  File "main.py", line 4, in <module>',
        '  File "main.py", line 2, in f',
    ]
    assert "    return 1 / x" in lines


def test_files_are_there_and_can_be_imported_and_changed(box: Sandbox) -> None:
    files = {"data.txt": "1 2 3", "pack/tool.py": "def double(x): return 2 * x", "raw": b"\xff\x00"}
    code = """
import pack.tool
with open('data.txt', 'a') as file:
    file.write(' 4')
print(pack.tool.double(sum(map(int, open('data.txt').read().split()))), open('raw', 'rb').read())
"""

    assert box.run(code, files=files).stdout == "20 b'\\xff\\x00'\n"


def test_many_files_with_long_names_pass_through(box: Sandbox) -> None:
    files = {f"{i:03}{'x' * 240}": str(i) for i in range(900)}

    assert box.run("import os\nprint(sum(int(open(name).read()) for name in os.listdir('.')))", files=files).stdout == (
        f"{sum(range(900))}\n"
    )


def test_every_program_begins_in_an_empty_folder(box: Sandbox) -> None:
    box.run("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nos.chmod('a', 0)")

    assert box.run("import os\nprint(os.listdir('.'))").stdout == "[]\n"


@pytest.mark.parametrize(
    "touch",
    [
        "pass",
        "open('a', 'w').close()\nos.remove('a')",
        "os.mkdir('a')\nos.rmdir('a')\nos.utime('.', (0, 0))",
        "os.chmod('.', 0o700)",
        "os.open('.', os.O_TMPFILE | os.O_RDWR)",
        "open('a', 'w').write('x' * 1000)",
        # A file and a lock that are there until the socket is read that they were sent through.
        "import fcntl, socket\na, b = socket.socketpair()\nfile = os.open('.', os.O_TMPFILE | os.O_RDWR)\n"
        "os.write(file, b'x' * 10**6)\nfolder = os.open('.', os.O_RDONLY)\nfcntl.flock(folder, fcntl.LOCK_EX)\n"
        "socket.send_fds(a, [b'x'], [file, folder, a.fileno(), b.fileno()])\n",
    ],
)
def test_a_program_cannot_tell_what_the_one_before_did_to_its_folder(box: Sandbox, touch: str) -> None:
    look = """
import os
found = os.stat('.')
print(os.listdir('.'), oct(found.st_mode), found.st_nlink)
if os.getcwd() == '/sandbox':  # in another folder a full disk ends the program
    for name in 'ab':
        print(open(name, 'wb', buffering=0).write(bytes(10 ** 7)))
"""
    before = box.run(look).stdout
    box.run(f"import os\n{touch}")

    assert before.startswith("[]")
    assert [box.run(look).stdout for _ in range(2)] == [before] * 2


@pytest.mark.parametrize("level", sandbox_levels.CONFINED)
def test_the_folder_around_a_programs_own_is_closed(level: sandbox.Level) -> None:
    program = """
import os
name = os.path.basename(os.getcwd())
for attempt in (lambda: open('../left', 'w'), lambda: os.mkdir('../left'), lambda: os.rename(f'../{name}', '../left'),
                lambda: os.rmdir(f'../{name}'), lambda: os.symlink('/', '../left')):
    try:
        attempt()
        print('done')
    except OSError:
        pass
print(os.path.lexists('../left'), os.listdir('.'))
"""
    with sandbox_levels.box_at(level) as box:
        assert [box.run(program).stdout for _ in range(2)] == ["False []\n"] * 2


def test_nothing_that_a_program_does_to_python_reaches_the_next(box: Sandbox) -> None:
    poison = """
import builtins, json, math, os, sys, random
builtins.print = builtins.len = None
json.dumps = math.sqrt = os.getcwd = lambda *a, **k: 'poison'
sys.modules['collections'] = None
sys.path.clear()
sys.setrecursionlimit(50)
os.environ['POISON'] = '1'
os.umask(0o777)
"""
    check = """
import json, math, os, sys, collections
print(json.dumps([len('abc'), math.sqrt(4), 'poison' in os.getcwd(), 'POISON' in os.environ, sys.getrecursionlimit()]))
"""
    assert box.run(poison).reason == "ok"

    assert box.run(check).stdout == "[3, 2.0, false, false, 1000]\n"


def test_random_numbers_differ_and_orders_of_sets_do_not(box: Sandbox) -> None:
    rolls = {box.run("import random\nprint(random.random())").stdout for _ in range(3)}
    orders = {box.run("print({'a', 'b', 'c', 'd', 'e', 'f'})").stdout for _ in range(3)}

    assert len(rolls) == 3
    assert len(orders) == 1


def test_a_program_sees_three_descriptors_and_a_clean_environment(box: Sandbox) -> None:
    code = """
import os
def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
print([fd for fd in range(300) if is_open(fd)])
print(sorted(os.environ))
"""
    descriptors, environment = box.run(code).stdout.splitlines()

    assert descriptors == "[0, 1, 2]"
    assert not {"PYTHONPATH", "VIRTUAL_ENV", "USER", "PWD"} & set(eval(environment))


def test_large_input_code_and_output_pass_through(box: Sandbox) -> None:
    stdin = "line of text\n" * 100_000
    code = f"import sys\ndata = {'x' * 1_000_000!r}\nprint(len(data))\nsys.stdout.write(sys.stdin.read())"

    assert box.run(code, stdin=stdin).stdout == f"1000000\n{stdin}"


def test_bytes_that_are_not_text_are_replaced(box: Sandbox) -> None:
    assert box.run("import sys\nsys.stdout.buffer.write(b'a\\xffb')").stdout == "a\ufffdb"


def test_half_a_surrogate_pair_is_not_a_fault(box: Sandbox) -> None:
    assert box.run("print(input(), '\ud800')", stdin="\udc00\n").stdout == "? ?\n"


def test_the_docstring_of_the_package_is_true() -> None:
    sandbox_levels.need("landlock")

    result = sandbox.run("print(input()[::-1])", stdin="olleh")

    assert (result.stdout, result.reason, result.isolated) == ("hello\n", "ok", True)


@pytest.mark.parametrize(
    ("hook", "seen"),
    [
        ("lambda: forks.append(1)", "[1] {'a': 1} True 1"),
        ("functools.partial(forks.append, 2)", "[2] {'a': 1} True 1"),
        ("cache.clear", "[] {} True 1"),
        ("generator.seed", "[] {'a': 1} False 1"),
    ],
)
def test_fork_handlers_of_modules_run(hook: str, seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "careful.py").write_text(
        "import functools, os, random\nforks, cache, generator = [], {'a': 1}, random.Random(0)\n"
        f"os.register_at_fork(after_in_child={hook})\n"
    )
    (tmp_path / "threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
    )
    look = """
import random, threading
from careful import cache, forks, generator
print(forks, cache, generator.random() == random.Random(0).random(), threading.active_count())
"""
    monkeypatch.syspath_prepend(tmp_path)
    for modules in (["careful", "threaded"], ["careful"]):
        with sandbox_levels.box_at("process", modules=modules) as box:
            assert box.run(look).stdout == f"{seen}\n"


def test_modules_with_threads_logs_and_loops_work_after_a_fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "busy.py").write_text(
        "import asyncio, logging\nfrom concurrent.futures import ThreadPoolExecutor\nlogging.basicConfig()\n"
    )
    program = """
import asyncio, busy, logging
async def work():
    return await asyncio.to_thread(abs, -1)
logging.warning('careful')
print(list(busy.ThreadPoolExecutor(2).map(abs, [-1, -2])), asyncio.run(work()))
"""
    monkeypatch.syspath_prepend(tmp_path)
    with sandbox_levels.box_at("process", modules=("busy",)) as box:
        result = box.run(program)

    assert (result.stdout, result.stderr) == ("[1, 2] 1\n", "WARNING:root:careful\n")


def test_numpy_draws_other_numbers_in_every_program() -> None:
    with sandbox_levels.box_at("bubblewrap", modules=("numpy",)) as box:
        rolls = {box.run("import numpy as np\nprint(np.random.rand())").stdout for _ in range(3)}

    assert len(rolls) == 3


@pytest.mark.parametrize("level", sandbox_levels.CONFINED)
def test_modules_are_there_when_asked_for_and_only_then(level: Level) -> None:
    with sandbox_levels.box_at(level, modules=("numpy",)) as box:
        seen = box.run("import numpy as np\nimport numpy.fft\nprint(np.linalg.det(np.eye(3)))\nimport pydantic")
    with sandbox_levels.box_at(level) as box:
        unseen = box.run("import numpy")

    assert seen.stdout == "1.0\n"
    assert "No module named 'pydantic'" in seen.stderr
    assert "No module named 'numpy'" in unseen.stderr
