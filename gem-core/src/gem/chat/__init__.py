"""Chat templates, without torch: from a transcript to the ids that an engine reads next. It needs the extra `chat`.

A tokenizer is one of transformers, or a `FileTokenizer`, which is read from a model's folder without transformers.
"""

from gem.chat.encoder import ChatEncoder, Prompt
from gem.chat.tokenizer import ChatTokenizer, FileTokenizer

__all__ = ["ChatEncoder", "ChatTokenizer", "FileTokenizer", "Prompt"]
