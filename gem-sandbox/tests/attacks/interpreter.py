"""Attacks on the interpreter: to crash it, and to leave something behind for the next program."""

from attacks.model import Attack

HELLO = 'print("intact")'

ATTACKS = (
    Attack("segfault", "reads address 0", "import ctypes; ctypes.string_at(0)", "died", runner="here"),
    Attack("abort", "aborts", "import os; os.abort()", "died", runner="here"),
    Attack("leave_at_once", "ends its process without a word", "import os; os._exit(0)", "died", runner="here"),
    Attack("raise_exit", "raises SystemExit", "raise SystemExit(0)", "died", runner="here"),
    Attack(
        "raise_exit_256",
        "raises SystemExit with a status that is truncated to 0",
        "raise SystemExit(256)",
        "died",
        runner="here",
    ),
    Attack("raise_interrupt", "raises KeyboardInterrupt", "raise KeyboardInterrupt", "died", runner="here"),
    Attack(
        "recursion",
        "recurses until the stack is full",
        """
import sys
sys.setrecursionlimit(10**9)
def descend(value):
    return descend([value]) if value else descend([])
class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x" if len(name) < 3 else name)
Deep().x
""",
        "died",
        runner="here",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "parse_deeply",
        "makes the compiler recurse",
        """
import ast
tree = ast.Constant(1)
for _ in range(200000):
    tree = ast.UnaryOp(ast.USub(), tree)
import _ast, sys
sys.setrecursionlimit(10**8)
compile(ast.fix_missing_locations(ast.Expression(tree)), "", "eval")
""",
        "died",
        runner="here",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "fault_handler",
        "writes where it may not",
        """
import ctypes
ctypes.memset(id(None), 0, 4096)
""",
        "died",
        runner="here",
    ),
    Attack(
        "poison_builtins",
        "changes what `print` means for the next program",
        """
import builtins
say = builtins.print
builtins.print = lambda *words: say("poisoned")
""",
        "poisoned",
        runner="here",
        then=HELLO,
    ),
    Attack(
        "poison_module",
        "changes a module for the next program",
        "import json; json.dumps = lambda value: 'poisoned'",
        "poisoned",
        runner="here",
        then='import json; print(json.loads(json.dumps("intact")) if json.dumps("") == \'""\' else "")',
    ),
    Attack(
        "poison_import",
        "puts a finder of its own before all imports of the next program",
        """
import sys
class Finder:
    def find_spec(name, path=None, target=None):
        print("poisoned")
sys.meta_path.insert(0, Finder)
sys.modules.pop("this", None)
sys.modules.pop("colorsys", None)
""",
        "poisoned",
        runner="here",
        then="import colorsys; print('intact')",
    ),
    Attack(
        "poison_constant",
        "changes a small number in the interpreter's memory",
        """
import ctypes, sys
ctypes.c_uint32.from_address(id(77) + 24).value = 78
""",
        "poisoned",
        runner="here",
        then='print("intact" if 70 + 7 == 80 - 3 and str(70 + 7) == "77" else "")',
    ),
    Attack(
        "poison_type",
        "gives a built-in type another method, by the interpreter's memory",
        """
import gc
gc.get_referents(str.__dict__)[0]["upper"] = lambda text: "poisoned"
import ctypes
ctypes.pythonapi.PyType_Modified(ctypes.py_object(str))
""",
        "poisoned",
        runner="here",
        then='print("intact" if "a".upper() == "A" else "")',
    ),
    Attack(
        "poison_state",
        "changes the environment, the folder, the mask and the seed of the next program",
        """
import os, random
os.environ["LANG"] = "poisoned"
os.umask(0o777)
os.chdir("/")
random.seed(0)
random.seed = lambda *a: None
""",
        "poisoned",
        runner="here",
        then='import os; print("intact" if os.getcwd() != "/" and os.environ.get("LANG") != "poisoned" else "")',
    ),
    Attack(
        "late_output",
        "prints into the next program's output, by a thread",
        """
import threading, time
def later():
    for _ in range(100):
        time.sleep(0.01)
        print("poisoned", flush=True)
threading.Thread(target=later, daemon=True).start()
""",
        "poisoned",
        runner="here",
        then='import time; time.sleep(0.2); print("intact")',
    ),
    Attack(
        "shadow_module",
        "leaves a module in its folder that hides one of the library",
        """
open("colorsys.py", "w").write("print('poisoned')")
""",
        "poisoned",
        runner="stay",
        then='import os, sys; sys.path.insert(0, ""); import colorsys; print("intact"); os.path.exists("colorsys.py") '
        'and os.remove("colorsys.py")',
    ),
    Attack(
        "leave_file",
        "leaves a file for the next program",
        """
import os
for folder in (os.getcwd(), os.environ.get("TMPDIR", "/tmp"), "/tmp", "/dev/shm", "/run"):
    try:
        open(folder + "/gem-breach", "w").write("poisoned")
    except OSError:
        pass
""",
        "poisoned",
        runner="stay",
        then="""
import os
folders = {os.getcwd(), os.environ.get("TMPDIR", "/tmp"), "/tmp", "/dev/shm", "/run"}
print("intact" if not any(os.path.exists(folder + "/gem-breach") for folder in folders) else "")
""",
    ),
    Attack(
        "startup_file",
        "leaves a module that every interpreter runs when it starts",
        """
import sys
for folder in sys.path:
    try:
        open(folder + "/sitecustomize.py", "w").write("print('poisoned')")
    except OSError:
        pass
""",
        "poisoned",
        then=HELLO,
    ),
    Attack(
        "bytecode",
        "forges the bytecode of a module",
        """
import importlib.util, marshal, os, sys
code = marshal.dumps(compile("print('poisoned')", "helper", "exec"))
for folder in sys.path:
    path = folder + "/helper.py"
    try:
        found = os.stat(path)
        forged = importlib.util.cache_from_source(path)
        os.makedirs(os.path.dirname(forged), exist_ok=True)
        stamp = b"".join(int(n).to_bytes(4, "little") for n in (0, found.st_mtime, found.st_size))
        open(forged, "wb").write(importlib.util.MAGIC_NUMBER + stamp + code)
    except OSError:
        pass
""",
        "poisoned",
        then="""
try:
    import helper
except ImportError:
    pass
print("intact")
""",
    ),
    Attack(
        "seal_output",
        "seals its outputs, closes its descriptors and damages what it has of the runner",
        """
import fcntl, os
for number in range(1024):
    for seals in (15, 31):
        try:
            fcntl.fcntl(number, 1033, seals)
        except OSError:
            pass
    try:
        os.ftruncate(number, 0)
    except OSError:
        pass
os.closerange(3, 1024)
os._exit(0)
""",
        "died",
        runner="here",
        then=HELLO,
    ),
    Attack(
        "talk_to_runner",
        "writes garbage to every descriptor that is open in it",
        """
import os, struct
garbage = b'{"reason": "sandbox_error", "passed": true}\\n' * 4 + struct.pack("<QQ", 1 << 40, 7) + bytes(100)
for number in range(3, 1024):
    try:
        os.write(number, garbage)
    except OSError:
        pass
""",
        "died",
        runner="here",
        then=HELLO,
    ),
)
