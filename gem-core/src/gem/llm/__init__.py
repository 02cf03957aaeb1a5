"""A client for chat APIs with OpenAI's protocol, and the policy that asks one. It needs the extra `llm`."""

from gem.llm.client import ChatClient, ChatReply, Usage
from gem.llm.policy import ChatPolicy

__all__ = ["ChatClient", "ChatPolicy", "ChatReply", "Usage"]
