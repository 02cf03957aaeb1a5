"""Imports that a program lacks."""

import pytest

from gem_envs_code.imports import needed_modules, with_imports


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


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("import numpy as np, os.path\nfrom scipy.stats import norm", {"numpy", "scipy"}),
        ("def test_add():\n    import numpy", {"numpy"}),
        ("class T:\n    import scipy\n    def test(self):\n        import numpy", {"numpy", "scipy"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy as np", set()),
        ("def unused():\n    import numpy\nclass C:\n    def unused(self): import numpy", set()),
        ("from contextlib import suppress\nwith suppress(ImportError):\n    import numpy", set()),
        ("try:\n    import numpy\nexcept ImportError:\n    import scipy", set()),
        ("@patch('os.mkdir')\ndef test_add(mkdir):\n    import numpy", {"numpy"}),
        ("@pytest.mark.skipif(True)\ndef test_add():\n    import numpy", set()),
        ("@skip\nclass T:\n    def test_add(self):\n        import numpy", set()),
        ("from .x import y\nfrom . import z", set()),
        ("from __future__ import annotations\nimport __main__", set()),
        ("import numpy as", set()),
    ],
)
def test_only_imports_that_code_certainly_comes_to_are_needed(code, needed):
    assert needed_modules(code) == needed
