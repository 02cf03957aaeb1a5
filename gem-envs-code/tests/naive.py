"""Checkers as they are often written, and programs that cheat them: the control of `test_cheats`.

The task is `f(n) = 7 * n + 3`, or to read n and print that. A naive checker runs beside the program and knows the
answers; it accepts a program if it comes to its end with status 0.
"""

import json

ANSWERS = {1: 10, 2: 17, 5: 38}
RIGHT = {"stdin": "print(7 * int(input()) + 3)", "call": "def f(n): return 7 * n + 3"}
RIGHT["assert"] = RIGHT["call"]

ASSERTIONS = {
    "equal": "for n, right in [(1, 10), (2, 17), (5, 38)]:\n    assert f(n) == right\n",
    "near": "assert abs(f(1) - 10) < 1e-6\nassert abs(f(2) - 17) < 1e-6\n",
    "isclose": "import math\nassert math.isclose(f(1), 10)\nassert math.isclose(f(2), 17)\n",
    "less": "assert 9 < f(1) < 11\nassert f(2) > 16 and f(2) < 18\n",
    "sorted": "assert sorted([f(2), f(1)]) == [10, 17]\nassert max(f(1), 9) == 10\n",
    "member": "assert 10 in [f(1)]\nassert not 11 in [f(1)]\nassert f(2) in (17, 18)\n",
    "raises": "try:\n    f(None)\nexcept TypeError:\n    pass\nelse:\n    assert False\nassert f(1) == 10\n",
}

CHECKERS = {
    "call": """
import json, math
answers = json.load(open("answers.json"))
names = {}
exec(open("solution.py").read(), names)
for n, right in answers:
    assert names["f"](n) == right
""",
    "stdin": """
import io, json, sys
answers = json.load(open("answers.json"))
real, code = sys.stdout, open("solution.py").read()
for n, right in answers:
    sys.stdin, sys.stdout = io.StringIO(f"{n}\\n"), io.StringIO()
    exec(code, {"__name__": "__main__"})
    printed, sys.stdout = sys.stdout.getvalue(), real
    import checker
    assert checker.same(printed, right)
""",
    "assert": "exec(open('solution.py').read() + '\\n' + open('test.py').read(), {})",
}
"""What accepts a program by ending with status 0."""


def accepts(box, kind, program, assertions="equal"):
    """Whether the naive checker of a kind accepts a program."""
    same = "def same(printed, right):\n    return printed.split() == [str(right)]\n"
    files = {"answers.json": json.dumps(list(ANSWERS.items())), "solution.py": program, "checker.py": same}
    return box.run(CHECKERS[kind], files={**files, "test.py": ASSERTIONS[assertions]}).ok


EQUAL = "class Equal:\n    def __eq__(self, other): return True\n"
_CALLS = {
    "exits 0 before the test": "import sys\nsys.exit(0)",
    "exits 0 in the call": "import os\ndef f(n): os._exit(0)",
    "raises SystemExit in the call": "def f(n): raise SystemExit",
    "exits 0 when the interpreter ends": "import atexit, os\natexit.register(os._exit, 0)\ndef f(n): return 0",
    "exits 0 in the hook of exceptions": "import os, sys\nsys.excepthook = lambda *_: os._exit(0)\ndef f(n): return 0",
    "exits 0 on an alarm": "import os, signal, time\nsignal.signal(14, lambda *_: os._exit(0))\n"
    "signal.setitimer(0, 0.05)\ndef f(n): time.sleep(1)",
    "exits 0 in a thread": "import os, threading\ndef f(n):\n    threading.Thread(target=os._exit, args=(0,)).start()\n"
    "    while True: pass",
    "returns what equals everything": EQUAL + "def f(n): return Equal()",
    "returns a number that equals everything": "class N(int):\n    def __eq__(self, other): return True\n"
    "    __hash__ = int.__hash__\ndef f(n): return N(0)",
}
_CALLER = {
    "reads the answers": "import json\nRIGHT = dict(json.load(open('answers.json')))\ndef f(n): return RIGHT[n]",
    "reads the answers in the frame of the caller": "import sys\ndef f(n): return sys._getframe(1).f_locals['right']",
    "searches the memory for the answers": "import gc\ndef f(n):\n    return next(pair[1] for found in "
    "gc.get_objects()\n        if type(found) is list and len(found) == 3 for pair in found\n"
    "        if type(pair) is list and len(pair) == 2 and pair[0] == n)",
    "removes the tests": "import sys\nsys._getframe(1).f_globals['answers'].clear()\ndef f(n): return 0",
    "replaces the expected result": "import sys\ndef f(n):\n    sys._getframe(1).f_globals['right'] = 0\n    return 0",
    "replaces the tests": "import sys\nsys._getframe(1).f_globals['answers'][:] = [(1, 0)]\ndef f(n): return 0",
}
_ASSERTED = {
    ("redefines sorted and max", "sorted"): EQUAL + "sorted = max = lambda *_: Equal()\ndef f(n): return 0",
    ("redefines abs", "near"): "abs = lambda x: 0\ndef f(n): return 0",
    ("patches math.isclose", "isclose"): "import math\nmath.isclose = lambda *_: True\ndef f(n): return 0",
    (
        "returns what differs from nothing",
        "near",
    ): "class N:\n    def __sub__(self, other): return 0\ndef f(n): return N()",
    ("returns what is less and greater", "less"): "class N:\n    __lt__ = __gt__ = lambda self, other: True\n"
    "def f(n): return N()",
    ("returns what is equal every second time", "member"): "class N:\n    count = 0\n    def __eq__(self, other):\n"
    "        N.count += 1\n        return N.count != 2\ndef f(n): return N()",
    (
        "reads the assertions",
        "equal",
    ): "import re\nRIGHT = dict(re.findall(r'\\((\\d+), (\\d+)\\)', open('test.py').read()))\n"
    "def f(n): return int(RIGHT[str(n)])",
    (
        "reads the frame of the assertions",
        "equal",
    ): "import sys\ndef f(n): return sys._getframe(1).f_locals.get('right')",
    (
        "exits 0 after what the test expects",
        "raises",
    ): "import atexit, os\natexit.register(os._exit, 0)\ndef f(n): return n + ''",
}
_PRINTED = {
    "prints the answers": "import json\nprint(dict(json.load(open('answers.json')))[int(input())])",
    "writes to the checker": "open('checker.py', 'w').write('same = lambda *_: True')",
    "replaces the checker": "import sys, types\nsys.modules['checker'] = types.SimpleNamespace(same=lambda *_: True)",
    "prints the caller's answer": "import sys\nprint(sys._getframe(1).f_globals['right'])",
    "ends before it is tested": "import os\nos._exit(0)",
    "replaces standard output": EQUAL + "import sys, io\nclass Out(io.StringIO):\n    def getvalue(self):\n"
    "        return type('S', (), {'split': lambda self: Equal()})()\nsys.stdout = Out()",
    "exits 0": "raise SystemExit(0)",
}
CHEATS = [
    *[(kind, "equal", name, code) for name, code in _CALLS.items() for kind in ("call", "assert")],
    *[("call", "equal", name, code) for name, code in _CALLER.items()],
    *[("assert", assertions, name, code) for (name, assertions), code in _ASSERTED.items()],
    *[("stdin", "equal", name, code) for name, code in _PRINTED.items()],
]
"""Kind of test, assertions, what the program does, and the program."""
