"""Chat models: a client for APIs with OpenAI's protocol, the policy that asks one, and models as parts of envs and
rewards. It needs the extra `http`."""

from gem.episode import Usage
from gem.llm.answers import ChatReply
from gem.llm.client import ChatClient
from gem.llm.models import Answer, ChatModel, Models, chat_model, use_models
from gem.llm.policy import ChatPolicy
from gem.roles import Asked

__all__ = [
    "Answer",
    "Asked",
    "ChatClient",
    "ChatModel",
    "ChatPolicy",
    "ChatReply",
    "Models",
    "Usage",
    "chat_model",
    "use_models",
]
