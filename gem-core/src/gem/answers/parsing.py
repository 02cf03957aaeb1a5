"""Reading an answer from a reply: `\\boxed{}`, `<answer>` tags, or a code block.

Each function returns the *last* complete answer that is not empty, because models reason before they answer and may
mention an empty box after it. Each takes time linear in the length of the reply.
"""

import re
from collections.abc import Callable
from typing import TypeVar, overload

Read = TypeVar("Read")

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BOX = "\\boxed{"
_ANSWER = re.compile(r"<answer>((?:(?!</?answer>).)*)</answer>", re.DOTALL)
_FENCE = re.compile(r"^(?:(`{3,})([^\n`]*)|(~{3,})([^\n]*))$", re.MULTILINE)


@overload
def boxed(text: str) -> str | None: ...


@overload
def boxed(text: str, read: Callable[[str], Read | None]) -> Read | None: ...


def boxed(text: str, read: Callable[[str], object] | None = None) -> object:
    r"""The content of the last complete `\boxed{…}` (or `\fbox{…}`), with balanced inner braces, or None.

    Empty boxes are skipped if another one is not empty. With `read`, the result is `read(content)` of the last box for
    which that is not None. A box around another box is not read.

    >>> boxed(r"first \boxed{1}, then \boxed{\frac{1}{2}}, not \boxed{}")
    '\\frac{1}{2}'
    >>> boxed(r"cut off: \boxed{12") is None
    True
    >>> boxed(r"\boxed{4} or \boxed{5}, never \boxed{a lot}", lambda box: int(box) if box.isdecimal() else None)
    5
    """
    attempt = read or _unless_blank
    # Nearly every reply ends with one box without braces inside.
    _, box, rest = text.rpartition(_BOX)
    if box and "{" not in rest:
        content, closed, _ = rest.partition("}")
        if closed and (answer := attempt(content)) is not None:
            return answer
    found = _innermost_boxes(text)
    for content in reversed(found):
        if (answer := attempt(content)) is not None:
            return answer
    return found[-1] if found and read is None else None


def _unless_blank(content: str) -> str | None:
    return content if content and not content.isspace() else None


def _innermost_boxes(text: str) -> list[str]:
    """The contents of the complete boxes that hold no other complete box, in their order."""
    starts = [match.end() for match in _BOXED.finditer(text)]
    if not starts:
        return []
    # One pass: remember the position of each opening brace; when a box closes, keep its content.
    ours = set(starts)
    opened: list[int] = []
    found: list[str] = []
    last = 0
    for position in range(starts[0] - 1, len(text)):
        character = text[position]
        if character == "{":
            opened.append(position + 1)
        elif character == "}" and opened:
            start = opened.pop()
            # A box that starts before the last one kept contains it.
            if start in ours and start > last:
                found.append(text[start:position])
                last = start
    return found


def tagged(text: str) -> str | None:
    """The stripped content of the last `<answer>…</answer>` that is not empty; `""` if all are, None without any.

    >>> tagged("<answer>no</answer> wait: <answer> 42 </answer> I never write <answer></answer>")
    '42'
    """
    found = [match[1].strip() for match in _ANSWER.finditer(text)]
    return next((content for content in reversed(found) if content), "") if found else None


def fenced_code(text: str) -> str | None:
    """The content of the last closed code block that is not empty; `""` if all are, None without any.

    Fences are those of CommonMark, back-ticks or tildes, with one difference: a fence that names a language opens a new
    block even inside an open one, because models forget to close blocks.

    >>> fenced_code("```python\\nprint(1)\\n```")
    'print(1)'
    >>> fenced_code("~~~~\\n~~~\\n~~~~")
    '~~~'
    """
    opened: tuple[str, int] | None = None
    found: str | None = None
    for fence in _FENCE.finditer(text):
        marks = fence[1] or fence[3]
        if opened is not None and not marks.startswith(opened[0]):
            continue
        if opened is None or (fence[2] or fence[4] or "").strip():
            opened = marks, fence.end() + 1
        else:
            found = text[opened[1] : fence.start()].strip("\n") or found or ""
            opened = None
    return found
