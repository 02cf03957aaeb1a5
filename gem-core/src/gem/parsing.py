"""Reading an answer out of what a model said.

These are the three ways in which GEM's environments ask for an answer. Each takes the *last* complete occurrence,
because models think aloud before they answer, and each runs in time linear in the text, because a model may say
100 kB of braces.
"""

import re

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BOX = "\\boxed{"
_ANSWER = re.compile(r"<answer>((?:(?!</?answer>).)*)</answer>", re.DOTALL)
_FENCE = re.compile(r"^```([^\n`]*)$", re.MULTILINE)


def boxed(text: str) -> str | None:
    r"""The content of the last complete `\boxed{…}` (or `\fbox{…}`), with balanced inner braces, or None.

    >>> boxed(r"first \boxed{1}, then \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    >>> boxed(r"cut off: \boxed{12") is None
    True
    """
    # Nearly every reply ends with one box that has no braces inside.
    _, box, rest = text.rpartition(_BOX)
    if box and "{" not in rest:
        content, closed, _ = rest.partition("}")
        if closed:
            return content
    starts = [match.end() for match in _BOXED.finditer(text)]
    if not starts:
        return None
    # One pass from the first start: remember where each opening brace was, and when one of ours closes, keep it.
    ours = set(starts)
    opened: list[int] = []
    best: tuple[int, int] | None = None
    for position in range(starts[0] - 1, len(text)):
        character = text[position]
        if character == "{":
            opened.append(position + 1)
        elif character == "}" and opened:
            start = opened.pop()
            if start in ours and (best is None or start > best[0]):
                best = start, position
    return None if best is None else text[best[0] : best[1]]


def tagged(text: str) -> str | None:
    """The stripped content of the last `<answer>…</answer>`, or None.

    >>> tagged("<answer>no</answer> wait: <answer> 42 </answer>")
    '42'
    """
    found = _ANSWER.findall(text)
    return found[-1].strip() if found else None


def fenced_code(text: str) -> str | None:
    """The content of the last closed code block between lines that begin with three back-ticks, or None.

    Only a bare fence closes a block. One that names a language opens a new block, even where the one before was
    never closed.

    >>> fenced_code("```python\\nprint(1)\\n```")
    'print(1)'
    """
    opened: int | None = None
    found: str | None = None
    for fence in _FENCE.finditer(text):
        if opened is None or fence[1].strip():
            opened = fence.end() + 1
        else:
            found = text[opened : fence.start()].strip("\n")
            opened = None
    return found
