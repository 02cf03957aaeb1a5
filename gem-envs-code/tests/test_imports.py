"""Imports that a program lacks."""

import pytest

from gem_envs_code.imports import with_imports


@pytest.mark.parametrize(
    ("program", "added"),
    [
        ("print(sqrt(4), deque())", "from collections import deque\nfrom math import sqrt\n"),
        ("def f(x: List[int]) -> Optional[int]: ...", "from typing import List\nfrom typing import Optional\n"),
        ("print(math.pi)", "import math\n"),
        ("import math\nprint(math.pi)", ""),
        ("from math import *\nprint(pi)", ""),
        ("def pi(): ...\npi()", ""),
        ("count = 3\nprint(count)", ""),
        ("def f(count): return count", ""),
        ("for gcd in []: print(gcd)", ""),
        ("print('deque')", ""),
        ("deque(", ""),
        ("x" * 10, ""),
        ("deque()\n" + "#" * 50_000, ""),
        ("from collections import deque, Counter\nprint(deque(), Counter(), sqrt(1))", "from math import sqrt\n"),
        ("", ""),
    ],
)
def test_are_put_in_front_of_it_and_no_others(program, added):
    assert with_imports(program) == added + program


def test_come_after_imports_of_the_future():
    program = '"""Text."""\nfrom __future__ import annotations\nprint(deque())\n'
    complete = with_imports(program)
    assert complete.splitlines()[2] == "from collections import deque"
    compile(complete, "", "exec")
