"""Comparison by math-verify. Imports sympy, and may take any time and memory: for worker processes."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import logging
from functools import lru_cache
from typing import Any

from latex2sympy2_extended.latex2sympy2 import NormalizationConfig, latex2sympy, normalize_latex
from math_verify import verify
from math_verify.grader import should_treat_as_complex
from sympy import solve
from sympy.core.relational import Relational

_NORMAL = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="none", equations=False
)
_ROUNDING = 15
"""Digits after the point in which a decimal and another number agree if they are equal."""

logging.disable()


@lru_cache(maxsize=256)
def parse(text: str) -> Any:
    """The sympy expression of LaTeX, or None if that cannot be read."""
    try:
        latex = normalize_latex(text, _NORMAL)
        return latex2sympy(
            latex, is_real=not should_treat_as_complex(latex), convert_degrees=False, normalization_config=None
        )
    except MemoryError:
        raise
    except Exception:  # antlr, latex2sympy and sympy raise all kinds of them on text that is not mathematics
        return None


def same(gold: Any, answer: Any, tolerance: float) -> bool:
    """Tell whether two expressions are equal."""
    if verify(gold, answer, float_rounding=_ROUNDING, timeout_seconds=None):
        # Equations and inequalities without solutions do not say the same.
        return gold == answer or not (isinstance(gold, Relational) and _is_unsolvable(gold))
    if not tolerance:
        return False
    try:
        right, given = complex(gold.evalf()), complex(answer.evalf())
    except (AttributeError, TypeError, ValueError):
        return False
    return abs(right - given) <= tolerance * abs(right)


def _is_unsolvable(relation: Relational) -> bool:
    try:
        return solve(relation) in ([], False)
    except NotImplementedError:
        return False


def warm_up() -> None:
    """Load what sympy loads on first use, so that the forks of this process share it; and see that all of it works.

    Raises:
        RuntimeError: a verdict is wrong, as when the versions of sympy and math-verify do not fit.
    """
    for text in _MORE:
        parse(text)
    for gold, answer, right in _EXAMPLES:
        if (expressions := (parse(gold), parse(answer))) and same(*expressions, 0.0) != right:
            raise RuntimeError(f"math-verify is wrong about {gold} and {answer}, which it reads as {expressions}")
    parse.cache_clear()


def stretch() -> None:
    """Touch the memory that every answer needs: after a fork, the kernel copies each page at the first write to it."""
    gold, answer, _ = _EXAMPLES[1]
    same(parse(gold), parse(answer), 0.0)
    parse.cache_clear()


_MORE = (r"\int_{0}^{\pi} \sin(x)\,dx", r"\int_0^3 2x \, dx", r"\sum_{k=0}^{n} \binom{n}{k} x^{k}", r"\int x^2 dx + C")
"""antlr builds its tables as it meets new forms, which takes as long as reading ten answers."""
_EXAMPLES = (
    (r"x^2 + 2x + 1", r"(x+1)^2", True),
    (r"\int_0^1 x \, dx", r"\frac{1}{2}", True),
    (r"\sum_{n=1}^{3} n", r"\sin(2x) + \ln 2", False),
    (r"\prod_{n=1}^{3} n", r"6", True),
    (r"x^2 = 4", r"x^2 = 9", False),
    (r"e^x = -1", r"e^x + 2 = 0", False),
    (r"x > 1", r"(1, \infty)", True),
    (r"\lim_{x \to 0} \frac{\sin x}{x}", r"1", True),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \\ 3 & 5 \end{pmatrix}", False),
)
