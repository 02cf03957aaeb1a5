"""Chat templates, without torch: from a transcript to the ids that an engine reads next.

A tokenizer is one of transformers, which need jinja2 for their templates: the extra `chat` has it.
"""

from gem.chat.encoder import ChatEncoder, Prompt
from gem.chat.tokenizer import ChatTokenizer

__all__ = ["ChatEncoder", "ChatTokenizer", "Prompt"]
