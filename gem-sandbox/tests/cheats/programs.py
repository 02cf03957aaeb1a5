"""Programs that pass tests without solving anything, where the judge lets them.

Each is written for any task: it knows its possible answers A and B, and what it finds. `given` is its input.
"""

PRELUDE = """
import os, sys
A, B = {answers!r}
given = sys.stdin.readline()
"""
DESCRIPTORS = """
def descriptors():
    for number in range(3, 256):
        try:
            os.fstat(number)
        except OSError:
            continue
        yield number
"""
EVERYWHERE = (
    DESCRIPTORS
    + """
def write(content):
    for number in descriptors():
        try:
            os.write(number, content)
        except OSError:
            pass
"""
)
FIND = """
def right_in(text):
    import json
    for start in range(len(text)):
        if text.startswith('[["', start):
            return dict(json.JSONDecoder().raw_decode(text, start)[0])[given].strip()
"""

TELLS = {
    "open descriptors": DESCRIPTORS + "first = bool([*descriptors()])",
    "kind of standard input": "import stat\nfirst = not stat.S_ISFIFO(os.fstat(0).st_mode)",
    "place in standard input": "first = os.fstat(0).st_size > 0",
    "frames": "first = sys._getframe().f_back is not None and 'cases' in sys._getframe().f_back.f_globals",
    "arguments": "first = 'driver' in sys.argv[0]",
    "modules": "first = 'json' in sys.modules",
    "name of the main module": "first = sys.modules['__main__'].__dict__ is not globals()",
    "a file left behind": "name = given.strip()\nfirst = not os.path.exists(name)\nopen(name, 'w').close()",
    "a file that counts": "open('count', 'ab').write(b'.')\nfirst = os.path.getsize('count') <= 2",
    "limits": "import resource\nfirst = resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 200",
    "seed": "import random\nfirst = random.random() == 0.8444218515250481",
    "process id": "try:\n    pid = open('pid').read()\nexcept OSError:\n    pid = str(os.getpid())\n"
    "    open('pid', 'w').write(pid)\nfirst = pid == str(os.getpid())",
    "environment": "first = 'CASES' in os.environ",
    "what the collector knows": "import gc\n"
    "first = any(isinstance(thing, dict) and 'cases' in thing for thing in gc.get_objects())",
}
"""How to know whether a case is run with the others or again: A the first time, B the second, and one is right."""

FORGERIES = {
    "log": EVERYWHERE + "write(b'1' * 100)\nos._exit(0)",
    "log, and a failure": EVERYWHERE + "write(b'1' * 100)\nos._exit(9)",
    "log by its name": "open('log', 'ab').write(b'1' * 100)\nos._exit(0)",
    "later outputs": EVERYWHERE + "os.write(1, A.encode())\nwrite(f'{A}\\n{B}\\n'.encode())\nos._exit(9)",
    "comparison": "sys._getframe().f_back.f_globals['same'] = lambda *_: True",
    "expected output": "for case in sys._getframe().f_back.f_globals['cases']:\n    case[1] = A\nprint(A)",
    "a builtin": "import builtins\nbuiltins.dict = lambda *_: {given: A}\nprint(A)",
}
"""Verdicts of the program's own making."""

LEAKS = {
    "frames": "print(dict(sys._getframe().f_back.f_globals['cases'])[given])",
    "collector": "import gc\nprint(*(thing[1].strip() for thing in gc.get_objects()\n"
    "    if isinstance(thing, list) and len(thing) == 2 and thing[0] == given))",
    "file beside it": FIND + "print(right_in(open('cases.json').read()))",
    "descriptor of the cases": FIND
    + DESCRIPTORS
    + """
for number in descriptors():
    try:
        print(right_in(os.pread(number, 1 << 16, 0).decode()) or "", end="")
    except (OSError, KeyError):
        pass
""",
    "environment": FIND + "print(right_in(os.environ['CASES']))",
    "environment by its file": FIND + "print(right_in(open('/proc/self/environ').read()))",
}
"""Answers that the program could find."""

EXITS = {
    "with status 0": "os._exit(0)",
    "with a status that is truncated to 0": "os._exit(256)",
    "by an exception": "raise SystemExit",
    "by a signal": "os.kill(os.getpid(), 9)",
    "for want of memory": "raise MemoryError",
    "as another program": "os.execv('/bin/true', ['true'])",
}
"""Ends that a judge takes for no fault of the program's."""

FLOODS = {
    "every answer": "print(A)\nprint(B)",
    "every answer on one line": "print(A, B, end='\\r')",
    "every answer, and no end": "while True:\n    print(A, B, sep='\\n')",
    "errors": "print(A, B)\nwhile True:\n    os.write(2, b'x' * 65536)",
}
"""Outputs that contain every possible answer."""


def program(code: str, answers: tuple[str, str]) -> str:
    """The whole of a program of this page, for a task with these answers."""
    return PRELUDE.format(answers=answers) + code


CHEATS: dict[str, str] = {
    **{f"tells by {name}": f"{code}\nprint(A if first else B)" for name, code in TELLS.items()},
    **{f"forges: {name}": code for name, code in FORGERIES.items()},
    **{f"leak: {name}": code for name, code in LEAKS.items()},
    **{f"ends {name}": code for name, code in EXITS.items()},
    **{f"writes {name}": code for name, code in FLOODS.items()},
}
