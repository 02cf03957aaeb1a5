"""What a program in Python may leave behind in its process, told from its words."""

import re

_PLAIN = """__future__ abc array bisect cmath collections collections.abc copy dataclasses datetime decimal enum
fractions functools heapq io itertools json math numbers operator queue random re statistics string struct sys textwrap
time typing"""
_MODULES = frozenset(_PLAIN.split())
"""Modules that compute and do nothing else."""
_ALONE = """__builtins__ __class__ __del__ __dict__ __import__ __loader__ __spec__ __stderr__ __stdin__ __stdout__
_current_frames _getframe delattr eval exec fileno getcontext globals localcontext modules open setattr setcontext
setprofile settrace vars"""
_WORDS = frozenset(_ALONE.split())
"""Words of programs that may change what outlives a run, or need standard streams with descriptors."""

_WORD = re.compile(r"\w+")
_IMPORTED = re.compile(r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import\b([^\n;]*))", re.MULTILINE)
_CHANGE = re.compile(
    rf"\b(?!sys\.std(?:in|out|err)\b)(?:{'|'.join(sorted(_MODULES))})(?:\.\w+)+"
    r"\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)"
)


def leaves_nothing(source: str) -> bool:
    """Tell whether a program leaves nothing behind that a second run of it in the same process could find.

    It imports nothing but modules that compute, and changes none of them. Its words tell, which takes less time than to
    read the program. Any other program has a process of its own for each test.
    """
    imported = [part.strip() for found in _IMPORTED.finditer(source) for part in (found[1] or found[2]).split(",")]
    if not _MODULES.issuperset(imported):  # nor under another name, by which it could change one
        return False
    return _WORDS.isdisjoint(_WORD.findall(source)) and not _CHANGE.search(source)
