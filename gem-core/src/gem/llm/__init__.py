"""A client for chat APIs with OpenAI's protocol, and the policy that asks one. It needs the extra `http`."""

from gem.episode import Usage
from gem.llm.answers import ChatReply
from gem.llm.client import ChatClient
from gem.llm.policy import ChatPolicy

__all__ = ["ChatClient", "ChatPolicy", "ChatReply", "Usage"]
