"""Right programs whose results are more than plain data, each with its test and with a change that makes it wrong."""

# ruff: noqa: E501

ASSERTED = {
    "the fields of a namedtuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(n): return P(n, 2 * n)",
        "p = f(3)\nassert p.x == 3 and p.y == 6\nassert p == (3, 6)\nx, y = p\nassert y == 6",
        ("2 * n", "3 * n"),
    ),
    "the methods of a namedtuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(n): return P(n, 2)",
        "assert f(1)._replace(x=5) == (5, 2)\nassert f(1)._asdict() == {'x': 1, 'y': 2}\nassert isinstance(f(1), tuple)",
        ("P(n, 2)", "P(n, 3)"),
    ),
    "a typed namedtuple that the test makes": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int = 1\n"
        "    def sum(self): return self.x + self.y",
        "assert P(4).sum() == 5 and P(x=1, y=2).y == 2\nassert P(1) == P(1, 1)",
        ("self.x + self.y", "self.x"),
    ),
    "what a Counter lacks": (
        "from collections import Counter\ndef f(s): return Counter(s)",
        "c = f('aab')\nassert c['a'] == 2 and c['z'] == 0\nassert c.most_common(1) == [('a', 2)]",
        ("Counter(s)", "Counter(s[1:])"),
    ),
    "Counters among themselves": (
        "from collections import Counter\ndef f(s): return Counter(s)",
        "assert f('aab') + f('b') == f('aabb')\nassert sum(f('abc').values()) == 3 and f('ab') - f('a') == {'b': 1}",
        ("Counter(s)", "Counter(set(s) | {'x'})"),
    ),
    "a defaultdict": (
        "from collections import defaultdict\ndef f(ws):\n    d = defaultdict(list)\n"
        "    for w in ws: d[len(w)].append(w)\n    return d",
        "d = f(['a', 'bb', 'c'])\nassert d[1] == ['a', 'c'] and d[9] == []\nassert dict(f(['a'])) == {1: ['a']}",
        ("len(w)", "len(w) + 1"),
    ),
    "a defaultdict with a function": (
        "from collections import defaultdict\ndef f():\n    d = defaultdict(lambda: 7)\n    d['a'] += 1\n    return d",
        "d = f()\nassert d['a'] == 8 and d['b'] == 7\nassert len(d) == 2 and d == {'a': 8, 'b': 7}",
        ("+= 1", "+= 2"),
    ),
    "an OrderedDict": (
        "from collections import OrderedDict\ndef f(ks): return OrderedDict((k, 1) for k in ks)",
        "d = f('ba')\nd.move_to_end('b')\nassert list(d) == ['a', 'b']\nassert f('ab').popitem() == ('b', 1)",
        ("(k, 1)", "(k, 2)"),
    ),
    "a deque": (
        "from collections import deque\ndef f(xs):\n    d = deque(xs)\n    d.rotate(1)\n    return d",
        "from collections import deque\nassert f([1, 2, 3]) == deque([3, 1, 2])\nd = f([1, 2])\nd.appendleft(0)\n"
        "assert list(d) == [0, 2, 1] and d[-1] == 1",
        ("rotate(1)", "rotate(2)"),
    ),
    "a deque that is changed": (
        "def f(d):\n    d.append(d.popleft())",
        "from collections import deque\nd = deque([1, 2, 3])\nf(d)\nassert d == deque([2, 3, 1])",
        ("popleft", "pop"),
    ),
    "an IntEnum": (
        "from enum import IntEnum\nclass C(IntEnum):\n    RED = 1\n    BLUE = 2\ndef f(n): return C(n)",
        "assert f(2).name == 'BLUE' and f(2) == 2 and f(1) < f(2)\nassert f(1) is C.RED and C['BLUE'].value == 2",
        ("BLUE = 2", "BLUE = 2\n    GREEN = 3\n    @property\n    def name(self): return 'GREEN'"),
    ),
    "an Enum": (
        "import enum\nclass C(enum.Enum):\n    RED = 'r'\n    BLUE = 'b'\ndef f(s): return C(s)",
        "assert f('r') is C.RED and f('b') == C.BLUE and f('r') != C.BLUE\n"
        "assert [c.name for c in C] == ['RED', 'BLUE'] and len(C) == 2\nassert isinstance(f('r'), C)",
        ("C(s)", "C.RED"),
    ),
    "an Enum as a key": (
        "import enum\nclass C(enum.Enum):\n    A = 1\n    B = 2\ndef f(): return {C.A: 'x', C.B: 'y'}",
        "assert f()[C.B] == 'y' and C.A in f()",
        ("C.B: 'y'", "C.B: 'z'"),
    ),
    "flags": (
        "import enum\nclass P(enum.IntFlag):\n    R = 4\n    W = 2\ndef f(): return P.R | P.W",
        "assert f() == 6 and P.R in f()\nassert (f() & P.W) == P.W",
        ("P.R | P.W", "P.R"),
    ),
    "a class derived from list": (
        "class Stack(list):\n    def push(self, x): self.append(x)\n    def peek(self): return self[-1]",
        "s = Stack()\ns.push(1)\ns.push(2)\nassert s.peek() == 2 and s == [1, 2] and len(s) == 2\n"
        "assert s.pop() == 2 and s == [1] and isinstance(s, list) and list(s) == [1]",
        ("self.append(x)", "self.insert(0, x)"),
    ),
    "a list with rules of its own": (
        "class Evens(list):\n    def append(self, x):\n        if x % 2 == 0: super().append(x)",
        "e = Evens([2])\ne.append(3)\ne.append(4)\nassert e == [2, 4] and sum(e) == 6 and e[1] == 4 and 4 in e",
        ("x % 2 == 0", "True"),
    ),
    "a class derived from dict": (
        "class Attrs(dict):\n    def __getattr__(self, name): return self[name]",
        "a = Attrs(x=1)\na['y'] = 2\nassert a.x == 1 and a.y == 2 and a == {'x': 1, 'y': 2}\nassert sorted(a) == ['x', 'y']",
        ("self[name]", "self.get('x')"),
    ),
    "a dict with an answer for what is missing": (
        "class Squares(dict):\n    def __missing__(self, k):\n        self[k] = k * k\n        return self[k]",
        "s = Squares()\nassert s[4] == 16 and len(s) == 1 and s == {4: 16}",
        ("k * k", "k + k"),
    ),
    "a class derived from str": (
        "class Name(str):\n    def shout(self): return self.upper() + '!'\ndef f(s): return Name(s)",
        "n = f('bob')\nassert n == 'bob' and n.shout() == 'BOB!' and n[0] == 'b' and n + 'by' == 'bobby'",
        ("+ '!'", "+ '?'"),
    ),
    "a class derived from int": (
        "class Mod(int):\n    def __add__(self, other): return Mod(int(self) + int(other) - 7)\ndef f(n): return Mod(n)",
        "assert f(5) == 5 and f(5) + f(4) == 2 and f(3) * 2 == 6",
        ("- 7", "- 8"),
    ),
    "a class derived from set": (
        "class Bag(set):\n    def put(self, x):\n        self.add(x)\n        return self",
        "b = Bag()\nassert b.put(1) is b\nb.put(2)\nassert b == {1, 2} and 1 in b and b | {3} == {1, 2, 3}",
        ("self.add(x)", "self.add(x + 1)"),
    ),
    "a class derived from tuple": (
        "class Vec(tuple):\n    def __add__(self, other): return Vec(a + b for a, b in zip(self, other))\n"
        "def f(*a): return Vec(a)",
        "assert f(1, 2) + f(3, 4) == (4, 6) and f(1, 2)[1] == 2 and len(f(1, 2)) == 2",
        ("a + b", "a - b"),
    ),
    "a UserDict": (
        "from collections import UserDict\nclass Lower(UserDict):\n"
        "    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)",
        "d = Lower()\nd['A'] = 1\nassert d['a'] == 1 and 'a' in d and list(d.items()) == [('a', 1)]",
        ("k.lower()", "k.upper()"),
    ),
    "a Fraction": (
        "from fractions import Fraction\ndef f(a, b): return Fraction(a, b)",
        "assert f(1, 2) == Fraction(1, 2) and f(1, 2) + f(1, 3) == Fraction(5, 6)\n"
        "assert f(2, 4).numerator == 1 and f(1, 2) == 0.5 and f(4, 2) == 2 and str(f(1, 3)) == '1/3'",
        ("Fraction(a, b)", "Fraction(a, b + 1)"),
    ),
    "a Fraction that the test brings": (
        "def f(x): return x / 2",
        "from fractions import Fraction\nassert f(Fraction(1, 2)) == Fraction(1, 4)\nassert [f(Fraction(3))] == [Fraction(3, 2)]",
        ("x / 2", "x / 3"),
    ),
    "a Decimal": (
        "from decimal import Decimal\ndef f(s): return Decimal(s) * 2",
        "from decimal import Decimal\nassert f('0.1') == Decimal('0.2') and str(f('1.50')) == '3.00'\n"
        "assert round(f('0.125'), 2) == Decimal('0.25') and f('1') < 3",
        ("* 2", "* 3"),
    ),
    "a date": (
        "from datetime import date, timedelta\ndef f(d, n): return d + timedelta(days=n)",
        "from datetime import date\nassert f(date(2024, 2, 28), 1) == date(2024, 2, 29)\n"
        "assert f(date(2024, 1, 1), 0).isoformat() == '2024-01-01' and f(date(2024, 1, 1), 6).weekday() == 6",
        ("days=n", "days=n + 1"),
    ),
    "a datetime and a timedelta": (
        "import datetime\ndef f(s): return datetime.datetime.fromisoformat(s)\ndef g(a, b): return f(b) - f(a)",
        "import datetime\nassert f('2024-05-06T07:08:09') == datetime.datetime(2024, 5, 6, 7, 8, 9)\n"
        "assert g('2024-01-01', '2024-01-03') == datetime.timedelta(days=2)\nassert g('2024-01-01', '2024-01-02').days == 1",
        ("f(b) - f(a)", "f(a) - f(b)"),
    ),
    "a range": (
        "def f(n): return range(0, n, 2)",
        "assert f(6) == range(0, 6, 2) and list(f(6)) == [0, 2, 4] and 4 in f(6)",
        ("n, 2)", "n, 3)"),
    ),
    "views of a dict": (
        "def f(d): return d.keys()",
        "assert f({'a': 1, 'b': 2}) == {'a', 'b'}\nassert sorted(f({'b': 0})) == ['b']",
        ("d.keys()", "list(d)[1:]"),
    ),
    "what contains": (
        "class Even:\n    def __contains__(self, n): return n % 2 == 0",
        "e = Even()\nassert 4 in e and 3 not in e",
        ("== 0", "== 1"),
    ),
    "a bag that contains": (
        "class Bag:\n    def __init__(self): self._items = {}\n"
        "    def add(self, x): self._items[x] = self._items.get(x, 0) + 1\n"
        "    def __contains__(self, x): return x in self._items\n    def __len__(self): return sum(self._items.values())",
        "b = Bag()\nb.add('x')\nb.add('x')\nassert 'x' in b and 'y' not in b and len(b) == 2",
        ("return x in self._items", "return True"),
    ),
    "a context": (
        "log = []\nclass Open:\n    def __enter__(self):\n        log.append('in')\n        return self\n"
        "    def __exit__(self, *a):\n        log.append('out')\n        return False\n"
        "def seen(): return list(log)",
        "with Open() as o:\n    assert seen() == ['in'] and isinstance(o, Open)\nassert seen() == ['in', 'out']",
        ("'out'", "'off'"),
    ),
    "a context that catches": (
        "class Quiet:\n    def __enter__(self): return 5\n    def __exit__(self, kind, error, trace): return kind is ValueError",
        "with Quiet() as n:\n    raise ValueError('x')\nassert n == 5",
        ("kind is ValueError", "kind is KeyError"),
    ),
    "a context by a generator": (
        "from contextlib import contextmanager\nstate = []\n@contextmanager\ndef held(x):\n    state.append(x)\n"
        "    yield x + 1\n    state.remove(x)\ndef now(): return state",
        "with held(3) as y:\n    assert y == 4 and now() == [3]\nassert now() == []",
        ("x + 1", "x + 2"),
    ),
    "an exception of its own": (
        "class TooPoor(Exception): pass\ndef pay(n):\n    if n > 5: raise TooPoor('no')\n    return n",
        "assert pay(5) == 5\ntry:\n    pay(6)\n    assert False\nexcept TooPoor as error:\n    assert str(error) == 'no'",
        ("n > 5", "n > 6"),
    ),
    "an exception with attributes": (
        "class Missing(KeyError):\n    def __init__(self, key, code):\n        super().__init__(key)\n        self.code = code\n"
        "def get(k): raise Missing(k, 404)",
        "try:\n    get('x')\nexcept KeyError as error:\n    assert error.code == 404 and error.args == ('x',)\n"
        "    assert isinstance(error, Missing)\nelse:\n    assert False",
        ("404", "500"),
    ),
    "exceptions in unittest": (
        "class Bad(ValueError): pass\ndef f(n):\n    if n < 0: raise Bad('negative')\n    return n",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertRaises(Bad, f, -1)\n"
        "        with self.assertRaisesRegex(ValueError, 'neg'): f(-2)\n        self.assertEqual(f(3), 3)\nunittest.main()",
        ("raise Bad('negative')", "raise KeyError('negative')"),
    ),
    "a hierarchy of exceptions": (
        "class A(Exception): pass\nclass B(A): pass\ndef f(): raise B('b')",
        "assert issubclass(B, A) and issubclass(A, Exception)\ntry:\n    f()\nexcept A as e:\n    assert type(e) is B",
        ("class B(A)", "class B(ValueError)"),
    ),
    "subclasses": (
        "class Shape:\n    def area(self): raise NotImplementedError\nclass Square(Shape):\n"
        "    def __init__(self, a): self.a = a\n    def area(self): return self.a ** 2",
        "assert issubclass(Square, Shape) and not issubclass(Shape, Square)\nassert isinstance(Square(2), Shape)\n"
        "assert Square(3).area() == 9 and Square.__name__ == 'Square'",
        ("Square(Shape)", "Square(object)"),
    ),
    "an abstract class": (
        "from abc import ABC, abstractmethod\nclass Base(ABC):\n    @abstractmethod\n    def f(self): ...\n"
        "class Own(Base):\n    def f(self): return 1",
        "try:\n    Base()\n    assert False\nexcept TypeError:\n    pass\nassert Own().f() == 1",
        ("return 1", "return 2"),
    ),
    "an async function": (
        "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n * 2",
        "import asyncio\nassert asyncio.run(f(4)) == 8",
        ("n * 2", "n * 3"),
    ),
    "async functions at once": (
        "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n + 1\n"
        "async def g(ns): return await asyncio.gather(*map(f, ns))",
        "import asyncio\nasync def main():\n    assert await g([1, 2]) == [2, 3]\n    a, b = await asyncio.gather(f(1), f(5))\n"
        "    assert (a, b) == (2, 6)\nasyncio.run(main())",
        ("n + 1", "n - 1"),
    ),
    "an async method and an async context": (
        "class Conn:\n    async def __aenter__(self): return self\n    async def __aexit__(self, *a): self.open = False\n"
        "    async def get(self): return 'data'",
        "import asyncio\nasync def main():\n    c = Conn()\n    async with c as d:\n        assert await d.get() == 'data'\n"
        "    assert c.open is False\nasyncio.run(main())",
        ("'data'", "'date'"),
    ),
    "an async iterator": (
        "class Up:\n    def __init__(self, n): self.i, self.n = 0, n\n    def __aiter__(self): return self\n"
        "    async def __anext__(self):\n        if self.i >= self.n: raise StopAsyncIteration\n        self.i += 1\n        return self.i",
        "import asyncio\nasync def main(): return [x async for x in Up(3)]\nassert asyncio.run(main()) == [1, 2, 3]",
        ("self.i += 1", "self.i += 2"),
    ),
    "an operator with a number": (
        "class Vec:\n    def __init__(self, x, y): self.x, self.y = x, y\n"
        "    def __mul__(self, k): return Vec(self.x * k, self.y * k)\n    __rmul__ = __mul__\n"
        "    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)\n    def __abs__(self): return (self.x**2 + self.y**2) ** 0.5",
        "assert Vec(1, 2) * 3 == Vec(3, 6) and 2 * Vec(1, 1) == Vec(2, 2)\nassert abs(Vec(3, 4)) == 5.0 and (Vec(1, 2) * 2).y == 4",
        ("self.y * k)", "self.y)"),
    ),
    "a dataclass": (
        "from dataclasses import dataclass, field\n@dataclass(order=True)\nclass P:\n    x: int\n    tags: list = field(default_factory=list)",
        "p = P(1)\np.tags.append('a')\nassert p.tags == ['a'] and p == P(1, ['a']) and P(1) < P(2)\n"
        "assert repr(P(2)) == 'P(x=2, tags=[])'",
        ("x: int", "x: int\n    def __post_init__(self): self.x += 1"),
    ),
    "a dataclass that compares": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int = 0",
        "assert P(1) in {P(1), P(2)} and len({P(1), P(1)}) == 1\ntry:\n    P(1).x = 2\n    assert False\nexcept Exception as e:\n"
        "    assert type(e).__name__ == 'FrozenInstanceError'",
        ("frozen=True", "frozen=True, eq=False"),
    ),
    "an endless generator": (
        "def f():\n    a, b = 0, 1\n    while True:\n        yield a\n        a, b = b, a + b",
        "import itertools\nassert list(itertools.islice(f(), 8)) == [0, 1, 1, 2, 3, 5, 8, 13]\n"
        "assert next(x for x in f() if x > 50) == 55",
        ("a, b = 0, 1", "a, b = 1, 1"),
    ),
    "a generator that is sent values": (
        "def f():\n    total = 0\n    while True:\n        x = yield total\n        total += x",
        "g = f()\nassert next(g) == 0 and g.send(3) == 3 and g.send(4) == 7\ng.close()",
        ("total += x", "total = x"),
    ),
    "an iterator that ends": (
        "class Count:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return self\n    def __next__(self):\n"
        "        if self.n <= 0: raise StopIteration\n        self.n -= 1\n        return self.n",
        "assert list(Count(3)) == [2, 1, 0]\nc = Count(1)\nassert next(c) == 0 and next(c, 'end') == 'end'",
        ("return self.n", "return self.n + 1"),
    ),
    "random results in calls of calls": (
        "import random\ndef f(xs):\n    xs = xs[:]\n    random.shuffle(xs)\n    return xs\ndef g(xs): return sorted(xs)",
        "assert g(f([3, 1, 2])) == [1, 2, 3]\nx = f([1, 2, 3, 4])\nassert sorted(x) == [1, 2, 3, 4] and len(f(x + [5])) == 5",
        ("sorted(xs)", "sorted(xs)[1:]"),
    ),
    "a chain of calls": (
        "def f(n): return n * 2 % 1009",
        "x = 1\nfor _ in range(150):\n    x = f(x)\nassert x == pow(2, 150, 1009)",
        ("% 1009", "% 1013"),
    ),
    "deep recursion": (
        "import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)",
        "assert f(50000) == 50000\nassert f(3) == 3",
        ("1 + f", "2 + f"),
    ),
    "a long integer": (
        "def f(n): return 7 ** n\ndef g(n): return str(f(n))",
        "assert f(6000) == 7 ** 6000\nassert len(g(6000)) == 5071",
        ("7 ** n", "7 ** n + 1"),
    ),
}
"""Name → a program, a test with assertions, and what to replace in the program to make it wrong."""

PRINTED = {
    "deep recursion": (
        "import sys\nsys.setrecursionlimit(200000)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(int(input())))",
        [("5\n", "5\n"), ("50000\n", "50000\n"), ("9\n", "9\n")],
        ("1 + f", "2 + f"),
    ),
    "a long integer": (
        "n = int(input())\nprint(10 ** n + 7)",
        [("1\n", "17\n"), ("9000\n", f"1{'0' * 8999}7\n"), ("2\n", "107\n")],
        ("+ 7", "+ 7 + n // 9000"),
    ),
    "a long integer that is read": (
        "print(int(input()) % 9)",
        [(f"{'1' * 6000}\n", "6\n"), ("98\n", "8\n"), ("5\n", "5\n")],
        ("% 9", "% 10"),
    ),
    "/dev/stdin": (
        "n = sum(map(int, open('/dev/stdin').read().split()))\nprint(n)",
        [("1 2\n", "3\n"), ("4\n5\n", "9\n"), ("\n", "0\n")],
        ("print(n)", "print(n or 1)"),
    ),
    "/dev/stdin by lines": (
        'import sys\nsys.stdin = open("/dev/stdin")\nprint(max(int(line) for line in sys.stdin))',
        [("1\n2\n", "2\n"), ("7\n", "7\n"), ("3\n2\n1\n", "3\n")],
        ("max(", "min("),
    ),
    "async": (
        "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    print(int(input()) * 2)\nasyncio.run(main())",
        [("1\n", "2\n"), ("2\n", "4\n"), ("3\n", "6\n")],
        ("* 2", "* 2 % 6"),
    ),
    "a thread with a large stack": (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**27)\ndef main():\n"
        "    def f(n): return 0 if n == 0 else 1 + f(n - 1)\n    print(f(int(input())))\n"
        "t = threading.Thread(target=main)\nt.start()\nt.join()",
        [("5\n", "5\n"), ("20000\n", "20000\n"), ("9\n", "9\n")],
        ("1 + f", "2 + f"),
    ),
}
"""Name → a program, inputs with the right outputs, and the change."""

ASSERTED |= {
    "a Fraction for a number": (
        "from fractions import Fraction\ndef f(n): return Fraction(n, 2)",
        "assert f(1) == 0.5",
        ("n, 2", "n, 3"),
    ),
    "a Decimal for a number": (
        "from decimal import Decimal\ndef f(n): return Decimal(n) / 4",
        "assert f(1) == 0.25",
        ("/ 4", "/ 5"),
    ),
    "keys for a set": ("def f(d): return d.keys()", "assert f({'a': 1}) == {'a'}", ("d.keys()", "list(d)")),
    "a namedtuple for a tuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(n): return P(n, n + 1)",
        "assert f(1) == (1, 2)",
        ("n + 1", "n + 2"),
    ),
}
