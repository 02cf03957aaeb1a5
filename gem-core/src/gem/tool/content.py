"""What a tool answers: text, or a list of content parts."""

from collections.abc import Callable

from gem.core import ContentPart, Observation

Content = Observation
"""What a tool returns and the agent sees."""


def check_content(name: str, content: object) -> Content:
    """`content` itself, if it is text or a list of content parts.

    Raises:
        TypeError: it is not; `name` is the tool that returned it.
    """
    kind = type(content).__name__
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):  # pyright: ignore[reportUnknownVariableType]
        return content  # pyright: ignore[reportUnknownVariableType]
    raise TypeError(f"the tool {name!r} returned {kind}; it must return text or content parts")


def wrap(before: str, content: Content, after: str) -> Content:
    """`content` between two texts."""
    if isinstance(content, str):
        return before + content + after
    first, last = ([ContentPart(type="text", text=text)] if text else [] for text in (before, after))
    return [*first, *content, *last]


def map_texts(content: Content, change: Callable[[str], str]) -> Content:
    """`content` with each of its texts changed."""
    if isinstance(content, str):
        return change(content)
    return [{**part, "text": change(part["text"])} if "text" in part else part for part in content]


def shorten(content: Content, most: int) -> Content:
    """`content` without the middle of each text of more than `most` characters; a note stands there."""
    return map_texts(content, lambda text: _short(text, most))


def _short(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = (most + 1) // 2
    note = f"\n[… {len(text) - most} characters left out …]\n"
    return text[:head] + note + text[len(text) - (most - head) :]
