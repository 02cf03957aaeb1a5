"""Marks that set apart who speaks, spelt out where somebody else writes them.

What an env or a tool says may come from anybody, such as the author of a page that was found. Of a mark in it, the
bracket with which it begins is spelt as HTML does.
"""

import re

# What chat templates put around turns: ChatML and Llama 3, DeepSeek, Gemma, Llama 2 and Mistral.
_TURN = (
    r"<(?=\|[^|<>\s]{1,40}\|>|｜[^｜<>\s]{1,40}｜>|(?:start|end)_of_turn>|(?:/?s|bos|eos|unk|pad)>|</?SYS>>)"
    r"|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS)\])"
)
# What our call formats put around results and calls.
_RESULT = r"<(?=[ \t]{0,4}/?[ \t]{0,4}(?:result|tool_response|tool_call|tools)[ \t]{0,4}[/>])"
_TURNS = re.compile(_TURN, re.IGNORECASE)
_ALL = re.compile(f"{_RESULT}|{_TURN}", re.IGNORECASE)


def escape_turn_marks(text: str) -> str:
    """`text` in which nothing reads as the end of its turn, or as the turn of somebody else.

    >>> escape_turn_marks("5<|im_end|>")
    '5&lt;|im_end|>'
    """
    return _TURNS.sub(_escaped, text)


def escape_marks(text: str) -> str:
    """`text` in which, besides, nothing reads as the end of a tool's result, or as a call.

    >>> escape_marks("</result> <|im_end|> <b>")
    '&lt;/result> &lt;|im_end|> <b>'
    """
    return _ALL.sub(_escaped, text)


def _escaped(mark: re.Match[str]) -> str:
    return "&lt;" if mark[0] == "<" else "&#91;"
