"""Answers in replies: in `<answer>` tags or in a box."""

import re
from typing import Literal, get_args

from gem.answers.parsing import boxed, tagged
from gem.errors import ConfigError

Form = Literal["tags", "box"]
"""The form in which a reply is asked to give its answer."""

FORMS: dict[Form, str] = {"tags": "between <answer> and </answer>", "box": "inside \\boxed{}"}
"""Form → where the answer is to stand."""

_FONT = re.compile(r"\\(?:text|textrm|textbf|textit|texttt|mathrm|mathbf|mathit|operatorname|mbox)\s*\{([^{}]*)\}")
_ESCAPED = re.compile(r"\\([ %&$#_{}])")


def check_form(form: str) -> Form:
    """`form`, if there is such a form.

    Raises:
        ConfigError: there is not.
    """
    if form not in FORMS:
        raise ConfigError(f"form is one of {', '.join(map(repr, get_args(Form)))}, not {form!r}")
    return form


def read_answer(reply: str, form: Form) -> str | None:
    r"""The last answer in a reply that is not empty: in the form that was asked for, or else in the other one.

    In a box, fonts and escapes of LaTeX are removed.

    >>> read_answer(r"<answer>Rome</answer>, no: <answer>Paris</answer>", "tags")
    'Paris'
    >>> read_answer(r"\boxed{\text{R\&D}}", "tags")
    'R&D'
    """
    in_tags, in_box = tagged(reply), boxed(reply)
    if in_box is not None:
        in_box = _ESCAPED.sub(r"\1", _FONT.sub(r"\1", in_box)).strip()
    found = (in_tags, in_box) if form == "tags" else (in_box, in_tags)
    return found[0] or found[1] or None


def write_answer(answer: str, form: Form) -> str:
    r"""A reply with `answer` in the form, or in the other one if only that can hold it.

    >>> write_answer("Paris", "box")
    '\\boxed{Paris}'
    >>> write_answer(":-}", "box")
    '<answer>:-}</answer>'
    """
    in_tags, in_box = f"<answer>{answer}</answer>", f"\\boxed{{{answer}}}"
    first, second = (in_tags, in_box) if form == "tags" else (in_box, in_tags)
    return second if read_answer(first, form) != answer.strip() == read_answer(second, form) else first
