"""Results of tools: text, or a list of content parts."""

from collections.abc import Callable, Sequence
from typing import cast

from gem.core import ContentPart, Observation

Content = Observation
"""The result of a tool, which the agent sees."""


def check_content(name: str, content: object) -> Content:
    """`content`, if it is text or content parts. Raises `TypeError` otherwise, with the `name` of its tool."""
    kind = type(content).__name__
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):  # pyright: ignore[reportUnknownVariableType]
        return content  # pyright: ignore[reportUnknownVariableType]
    raise TypeError(f"the tool {name!r} returned {kind}; it must return text or content parts")


def wrap(before: str, content: Content, after: str) -> Content:
    """`content` with a text before and a text after it."""
    if isinstance(content, str):
        return before + content + after
    first, last = ([ContentPart(type="text", text=text)] if text else [] for text in (before, after))
    return [*first, *content, *last]


def join(contents: Sequence[Content]) -> Content:
    """The `contents` as one, in order; texts are parted by an empty line."""
    if all(isinstance(each, str) for each in contents):
        return "\n\n".join(cast("Sequence[str]", contents))
    return [part for each in contents for part in parts_of(each)]


def parts_of(content: Content) -> list[ContentPart]:
    """`content` as content parts."""
    return [ContentPart(type="text", text=content)] if isinstance(content, str) else content


def text_of(content: Content) -> str:
    """The texts of `content`, one below the other, without what is not text."""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def map_texts(content: Content, change: Callable[[str], str]) -> Content:
    """`content` with `change` applied to each of its texts."""
    if isinstance(content, str):
        return change(content)
    return [{**part, "text": change(part["text"])} if "text" in part else part for part in content]


def shorten(content: Content, limit: int) -> Content:
    """`content` with a note in place of the middle of each text of more than `limit` characters."""
    return map_texts(content, lambda text: _short(text, limit))


def _short(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = (limit + 1) // 2
    note = f"\n[… {len(text) - limit} characters left out …]\n"
    return text[:head] + note + text[len(text) - (limit - head) :]
