"""The form of a reply: its answer, and what is around it."""

from collections.abc import Callable
from dataclasses import dataclass

from gem import answers

_READERS: dict[str, Callable[[str], str | None]] = {
    "box": answers.boxed,
    "tags": answers.tagged,
    "fence": answers.fenced_code,
}


@dataclass(frozen=True, slots=True)
class Form:
    """A reply in parts: `before`, `content` (the answer) and `after`."""

    kind: str
    """"box", "tags", "fence" or "bare"."""
    before: str
    content: str
    after: str

    def with_content(self, content: str) -> str:
        """The reply with another answer."""
        return f"{self.before}{content}{self.after}"


def form_of(reply: str) -> Form:
    r"""The form of a reply.

    >>> form_of(r"So it is \boxed{12}.")
    Form(kind='box', before='So it is \\boxed{', content='12', after='}.')
    """
    for kind, read in _READERS.items():
        if content := read(reply):
            before, _, after = reply.rpartition(content)
            return Form(kind, before, content, after)
    return Form("bare", "", reply, "")
