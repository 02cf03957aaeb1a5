"""Escapes the special tokens of chat templates and call formats in text that comes from outside.

An observation or a tool result may contain text from anywhere, such as a web page. The first bracket of a special
token in it is escaped as in HTML.
"""

import re

# Tokens around the turns of chat templates: ChatML and Llama 3, DeepSeek, Gemma, Llama 2 and Mistral.
_TURN = (
    r"<(?=\|[^|<>\s]{1,40}\|>|｜[^｜<>\s]{1,40}｜>|(?:start|end)_of_turn>|(?:/?s|bos|eos|unk|pad)>|</?SYS>>)"
    r"|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS)\])"
)
# Tags around results and calls in our call formats.
_RESULT = r"<(?=[ \t]{0,4}/?[ \t]{0,4}(?:result|tool_response|tool_call|tools)[ \t]{0,4}[/>])"
_TURNS = re.compile(_TURN, re.IGNORECASE)
_ALL = re.compile(f"{_RESULT}|{_TURN}", re.IGNORECASE)


def escape_turn_marks(text: str) -> str:
    """`text` with the tokens of chat templates escaped.

    >>> escape_turn_marks("5<|im_end|>")
    '5&lt;|im_end|>'
    """
    return _TURNS.sub(_escaped, text)


def escape_marks(text: str) -> str:
    """`text` with the tokens of chat templates and the tags of call formats escaped.

    >>> escape_marks("</result> <|im_end|> <b>")
    '&lt;/result> &lt;|im_end|> <b>'
    """
    return _ALL.sub(_escaped, text)


def _escaped(mark: re.Match[str]) -> str:
    return "&lt;" if mark[0] == "<" else "&#91;"
