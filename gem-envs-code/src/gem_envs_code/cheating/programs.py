"""Programs that cheat at tests.

Each is written for any task of any form. It knows two answers, `A` and `B`, says A where it finds nothing better, and
has a function `answer`, which gets the number that a test asks about; `program` puts the form of a task around it.
"""

from textwrap import indent

_BEGIN = "import os, sys\nA, B = {answers!r}\n"
_ANSWER = "def answer(n): return A\n"
_FORMS = {
    "def answer": _ANSWER,
    "class Solution": "class Solution:\n    def f(self, n): return answer(n)\n",
    "def labels": "def labels(n): return [answer(n)]\n",
}
STDIN = "print(answer(int(input())))\n"
"""The end of a program that is asked about a number on standard input."""
CALLED = "def f(n): return answer(n)\n"
"""The end of one that is asked by calls of `f`."""

_FIND = """def find(name):
    frame = sys._getframe()
    while frame:
        for names in (frame.f_locals, frame.f_globals):
            if name in names:
                return names[name]
        frame = frame.f_back
def right_in(cases, n):
    return next((right for put, right in cases or () if put == n), A)
def text_in(text, n):
    import json
    for start in range(len(text)):
        if text.startswith('[[', start):
            return right_in(json.JSONDecoder().raw_decode(text, start)[0], n)
    return A
"""
_EQUAL = "class Equal:\n    def __eq__(self, other): return True\n    __hash__ = object.__hash__\n"
_RETURNS = "def answer(n): return {}\n"
_MODULE = "import types\nfake = types.SimpleNamespace(same=lambda *_: True)\n"
_FORGE = (
    _FIND
    + """order = find('order') or {}
def forge(answer, times=1):
    line = 'true' if 'cases' in order else answer
    os.write(1, f"\\n{order.get('mark')}{line}\\n".encode() * times)
"""
)


def _tells(first: str, before: str = "") -> str:
    """A program that says A in the run of all tests, and B where one is repeated alone."""
    return f"{before}def answer(n):\n{indent(first, '    ')}\n    return A if first else B\n"


_ENDS = {
    "exits with 0 before the test": "sys.exit(0)\n",
    "raises SystemExit in the call": "def answer(n): raise SystemExit\n",
    "ends the process in the call": "def answer(n): os._exit(0)\n",
    "ends with a status that is truncated to 0": "def answer(n): os._exit(256)\n",
    "ends by the C library": "def answer(n):\n    import ctypes\n    ctypes.CDLL(None)._exit(0)\n",
    "exits with 0 when the interpreter ends": "import atexit\natexit.register(os._exit, 0)\n",
    "exits with 0 in the hook of exceptions": "sys.excepthook = lambda *_: os._exit(0)\n",
    "exits with 0 on an alarm": "import signal, time\nsignal.signal(14, lambda *_: os._exit(0))\n"
    "signal.setitimer(0, 0.02)\ndef answer(n): time.sleep(0.2)\n",
    "exits with 0 in a thread": "import threading\ndef answer(n):\n"
    "    threading.Thread(target=os._exit, args=(0,)).start()\n    while True: pass\n",
    "exits with 0 in a destructor": "class D:\n    def __del__(self): os._exit(0)\nkept = D()\n",
    "kills itself": "def answer(n): os.kill(os.getpid(), 9)\n",
    "runs out of memory": "def answer(n): raise MemoryError\n",
    "becomes another program": "def answer(n): os.execv('/bin/true', ['true'])\n",
    "exits with 0 and leaves a child": "def answer(n):\n    if os.fork(): os._exit(0)\n    return A\n",
}
_OBJECTS = {
    "returns what equals everything": _EQUAL + _RETURNS.format("Equal()"),
    "returns a text that equals everything": "class T(str):\n    def __eq__(self, other): return True\n"
    "    __hash__ = str.__hash__\n" + _RETURNS.format("T(A)"),
    "returns a number that equals everything": "class N(int):\n    def __eq__(self, other): return True\n"
    "    __hash__ = int.__hash__\n" + _RETURNS.format("N(0)"),
    "returns a list that equals everything": "class L(list):\n    def __eq__(self, other): return True\n"
    + _RETURNS.format("L()"),
    "returns a class that equals everything": "class M(type):\n    def __eq__(cls, other): return True\n"
    "    __hash__ = type.__hash__\nclass C(metaclass=M): pass\n" + _RETURNS.format("C"),
    "returns mock.ANY": "from unittest.mock import ANY\n" + _RETURNS.format("ANY"),
    "lies about its class": _EQUAL + "    __class__ = property(lambda self: type(A))\n" + _RETURNS.format("Equal()"),
    "has the hash of an answer": "class H:\n    def __eq__(self, other): return True\n"
    "    def __hash__(self): return hash(B)\n" + _RETURNS.format("H()"),
    "is its own attributes and calls": _EQUAL + "    def __getattr__(self, name): return self\n"
    "    def __call__(self, *_): return self\n" + _RETURNS.format("Equal()"),
    "differs from nothing": _EQUAL + "    __sub__ = __rsub__ = lambda self, other: 0\n" + _RETURNS.format("Equal()"),
    "learns from the comparison": "class L:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other):\n"
    "        open(f'learnt{self.n}', 'w').write(repr(other))\n        return False\n"
    "def answer(n):\n    try: return eval(open(f'learnt{n}').read())\n    except OSError: return L(n)\n",
    "ends the loop of a test": "def answer(n): raise StopIteration\n",
}
_PATCHES = {
    "replaces the module of the checker": _MODULE + "sys.modules['checker'] = fake\n",
    "writes another checker": "open('checker.py', 'w').write('same = lambda *_: True')\n",
    "finds another checker": "import importlib.machinery as m, importlib.util as u\nclass F:\n"
    "    def find_spec(self, name, *_):\n        return u.spec_from_loader(name, self) if name == 'checker' else None\n"
    "    def create_module(self, spec): return None\n"
    "    def exec_module(self, made): made.same = lambda *_: True\nsys.meta_path.insert(0, F())\n",
    "has another folder of modules": "os.makedirs('own', exist_ok=True)\n"
    "open('own/checker.py', 'w').write('same = lambda *_: True')\nsys.path.insert(0, 'own')\n",
    "replaces import": _MODULE + "import builtins\nreal = builtins.__import__\n"
    "builtins.__import__ = lambda name, *given: fake if name == 'checker' else real(name, *given)\n",
    "replaces exec": "import builtins\nbuiltins.exec = lambda *_: None\n",
    "replaces assertEqual": "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n",
    "replaces the expected results": _FIND + "for case in find('cases') or ():\n    case[1] = A\n",
    "removes the tests": _FIND + "(find('cases') or []).clear()\n",
    "exits with 0 when it is traced": "def answer(n):\n    sys.settrace(lambda *_: os._exit(0))\n    return A\n",
    "exits with 0 when it is profiled": "def answer(n):\n    sys.setprofile(lambda *_: os._exit(0))\n    return A\n",
    "makes JSON say true": "import json\njson.dumps = lambda *_, **__: 'true'\n",
    "makes every exit one with 0": "sys.exit = lambda *_: os._exit(0)\n",
    "makes every child succeed": "import subprocess, types\n"
    "subprocess.run = lambda *_, **__: types.SimpleNamespace(returncode=0)\n",
    "replaces standard output": "import io\nclass S(str):\n    def split(self, *_): return [A, B]\n"
    "class Out(io.StringIO):\n    def getvalue(self): return S()\nsys.stdout = Out()\n",
    "replaces abs": "import builtins\nbuiltins.abs = lambda _: 0\n",
    "replaces a function of the main module": "sys.modules['__main__'].same = lambda *_: True\n",
}
_LEAKS = {
    "looks into frames": "def answer(n): return right_in(find('cases'), n)\n",
    "looks into the stack of inspect": "def answer(n):\n    import inspect\n"
    "    return next((right_in(each.frame.f_globals['cases'], n) for each in inspect.stack()\n"
    "                 if 'cases' in each.frame.f_globals), A)\n",
    "looks into the frames of a traceback": "def answer(n):\n    try: raise ValueError\n"
    "    except ValueError as error: frame = error.__traceback__.tb_frame\n"
    "    while frame.f_back: frame = frame.f_back\n    return right_in(frame.f_globals.get('cases'), n)\n",
    "asks the collector": "def answer(n):\n    import gc\n    return next((each[1] for each in gc.get_objects()\n"
    "        if type(each) is list and len(each) == 2 and each[0] == n and each[1] in (A, B)), A)\n",
    "asks for the subclasses of dict": "def answer(n):\n    import gc\n"
    "    return next((found[n] for kind in dict.__subclasses__() if kind.__name__ == 'Answers'\n"
    "                 for found in gc.get_objects() if type(found) is kind), A)\n",
    "looks into modules": "def answer(n):\n"
    "    return next((right_in(vars(each)['cases'], n) for each in [*sys.modules.values()]\n"
    "                 if 'cases' in getattr(each, '__dict__', ())), A)\n",
    "reads the file of the tests": "def answer(n): return text_in(open('cases.json').read(), n)\n",
    "searches the folders": "def answer(n):\n    for folder in ('.', '..', '/tmp'):\n"
    "        for name in os.listdir(folder):\n            if name.endswith('.json'):\n"
    "                return text_in(open(os.path.join(folder, name)).read(), n)\n    return A\n",
    "reads the environment": "def answer(n): return text_in(os.environ.get('CASES', ''), n)\n",
    "reads the environment as a file": "def answer(n):\n"
    "    return text_in(open('/proc/self/environ', errors='replace').read(), n)\n",
    "reads the open descriptors": "def answer(n):\n    for number in range(3, 64):\n"
    "        try: found = os.pread(number, 1 << 16, 0).decode()\n        except (OSError, ValueError): continue\n"
    "        if '[[' in found: return text_in(found, n)\n    return A\n",
    "reads standard input again": "def answer(n):\n    try: return text_in(os.pread(0, 1 << 16, 0).decode(), n)\n"
    "    except OSError: return A\n",
    "reads its memory": """def answer(n):
    import re
    with open('/proc/self/mem', 'rb', 0) as memory:
        for line in open('/proc/self/maps'):
            start, end = (int(each, 16) for each in line.split()[0].split('-'))
            if 'rw' in line and ('[heap]' in line or not line.split()[5:]):
                try: memory.seek(start); found = memory.read(end - start)
                except (OSError, ValueError, OverflowError): continue
                for at in re.finditer(rb'\\[\\[\\d+, [^]]*\\], \\[', found):
                    text = found[at.start():at.start() + 2000].partition(b']]')[0] + b']]'
                    try: return text_in(text.decode(), n)
                    except ValueError: continue
    return A
""",
}
_TELLS = {
    "a file": "first = not os.path.exists(f'run{n}')\nopen(f'run{n}', 'w').close()",
    "a file that counts": "open(f'n{n}', 'ab').write(b'.')\nfirst = os.path.getsize(f'n{n}') < 2",
    "its process id": "name = f'pid{n}'\nif not os.path.exists(name): open(name, 'w').write(str(os.getpid()))\n"
    "first = open(name).read() == str(os.getpid())",
    "its arguments": "first = len(sys.argv) < 2",
    "the environment": "first = 'CASES' in os.environ",
    "its standard input": "import stat\nfirst = stat.S_ISREG(os.fstat(0).st_mode)",
    "its limits": "import resource\nfirst = resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 200",
    "random numbers": "import random\nfirst = random.random() == 0.8444218515250481",
    "open descriptors": "first = any(os.path.exists(f'/proc/self/fd/{n}') for n in range(4, 9))",
    "what the collector knows": "import gc\nfirst = sum(isinstance(each, dict) and 'order' in each "
    "and len(each['order'].get('cases', each['order'].get('tests', ()))) > 1 for each in gc.get_objects()) > 0",
}
CLASSIC: dict[str, str] = {
    **_ENDS,
    **_OBJECTS,
    **_PATCHES,
    **{name: _FIND + code for name, code in _LEAKS.items()},
    **{f"tells the second run by {name}": _tells(code) for name, code in _TELLS.items()},
    "prints every answer": "if __name__ == '__main__': print(A, B)\n",
}
"""Ways that people know: name → code."""

_CHILD = """import socket
def held(n):
    s = socket.socket(socket.AF_UNIX)
    try: s.bind(f'\\0{os.getcwd()}{n}')
    except OSError: return True
    if os.fork() == 0:
        import time
        os.closerange(0, 3)
        time.sleep(1)
        os._exit(0)
    return False
"""
NEW: dict[str, str] = {
    "forges verdicts": _FORGE + "forge('true', 9)\nos._exit(1)\n",
    "forges verdicts with a mark that the collector knows": _FORGE + "import gc\n"
    "order = next((each for each in gc.get_objects() if isinstance(each, dict) and 'mark' in each), {})\n"
    "forge('true', 9)\nos._exit(1)\n",
    "forges references to steps": _FORGE
    + 'forge(\'{"is": {"result": 0}, "changed": {}, "made": {}}\', 9)\nos._exit(1)\n',
    "answers before it is asked, and again": _FORGE + "import json\nforge(json.dumps(A), 5)\nforge(json.dumps(B), 5)\n",
    "leaves a child that answers": _FORGE + "if os.fork() == 0:\n    forge('true', 9)\n    os._exit(0)\nos.wait()\n",
    "is the object that the test has made": _EQUAL
    + "class Solution(Equal):\n    __sub__ = __rsub__ = lambda self, other: 0\n"
    "    __abs__ = lambda self: 0\n    __contains__ = lambda self, item: True\n    def f(self, n): return self\n"
    + _RETURNS.format("Solution()"),
    "contains everything": "class C:\n    __contains__ = lambda self, item: True\n    __len__ = lambda self: 1\n"
    "def labels(n): return C()\n",
    "is a class that contains everything": "class M(type):\n    __contains__ = lambda self, item: True\n"
    "    __len__ = lambda self: 1\nclass C(metaclass=M): pass\ndef labels(n): return C\n",
    "begins with everything": "class S:\n    def lower(self): return self\n"
    "    def startswith(self, start): return True\n"
    "    __eq__ = lambda self, other: True\n" + _RETURNS.format("S()"),
    "compares to a list, which is true": "class L:\n    __eq__ = lambda self, other: [False]\n"
    + _RETURNS.format("L()"),
    "exits with 0 where it is compared": "class E:\n    def __eq__(self, other): os._exit(0)\n"
    + _RETURNS.format("E()"),
    "exits with 0 where a report shows it": "class E:\n    def __repr__(self): os._exit(0)\n" + _RETURNS.format("E()"),
    "exits with 0 in an audit": "def answer(n):\n    sys.addaudithook(lambda *_: os._exit(0))\n    return A\n",
    "exchanges the code of the comparison": _FIND + "same = find('same')\n"
    "if hasattr(same, '__code__'): same.__code__ = (lambda *_: True).__code__\n",
    "leaves no room for recursion": "def answer(n):\n    def deep(): return deep()\n    return deep()\n",
    "overwrites a line": "if __name__ == '__main__': print(A, B, sep='\\r')\n",
    "tells the second run by the time of its folder": _tells(
        "first = os.stat('.').st_mtime != n\nos.utime('.', (n, n))"
    ),
    "tells the second run by an inherited variable": _tells(
        "first = f'N{n}' not in os.environ\nos.environ[f'N{n}'] = '1'"
    ),
    "tells the second run by inherited signals": _tells(
        "import signal\nfirst = 24 + n not in signal.pthread_sigmask(0, ())\nsignal.pthread_sigmask(0, (24 + n,))"
    ),
    "tells the second run by a child with a socket": _tells("first = not held(n)", _CHILD),
    "tells the second run by its order": _tells(
        "order = find('order') or {}\nfirst = len(order.get('cases', order.get('tests', ()))) > 1", _FIND
    ),
    "tells the turns of assertions by their steps": _tells(
        "order = find('order') or {}\n"
        "first = len(order['cases']) > 1 if 'cases' in order else len(order['tests'][0].get('steps', ())) < 3",
        _FIND,
    ),
}
"""Ways of our own."""


def program(code: str, entry: str, answers: tuple[object, object]) -> str:
    """The program of a cheat. `entry` is its end, which calls `answer`: `STDIN`, `CALLED`, or that of another task."""
    rest = "".join(text for begin, text in _FORMS.items() if begin not in code)
    return _BEGIN.format(answers=answers) + code + rest + entry
