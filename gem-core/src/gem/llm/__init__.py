"""A client for chat APIs with OpenAI's protocol, and the policy that asks one. It needs the extra `llm`."""

from gem.llm.answers import ChatReply
from gem.llm.client import ChatClient
from gem.llm.policy import ChatPolicy
from gem.rollout.transcript import Usage

__all__ = ["ChatClient", "ChatPolicy", "ChatReply", "Usage"]
