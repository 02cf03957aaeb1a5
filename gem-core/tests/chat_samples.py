"""Answers of a chat API with tool calls, and the episode that they give."""

import gem
from gem.llm import ChatPolicy
from gem.rollout import rollout
from gem.testing.chat_server import chat_server
from gem.tool import tool
from gem.wrappers.tool_env import ToolEnv

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def call(id, name, arguments="{}", **fields):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def calling(*calls, content=None, **fields):
    return {"message": {"role": "assistant", "content": content, "tool_calls": list(calls), **fields}}


@tool
def look(where: str) -> list:
    """Look at something."""
    return [{"type": "text", "text": f"This is {where}."}, PICTURE]


def play(answers, tools, *, format="openai", **settings):
    """The episode in which a server gives these answers, and the requests."""
    replies = iter(answers)
    with chat_server(lambda messages: next(replies)) as server:
        policy = ChatPolicy("any", base_url=server.url, **settings)
        with gem.make_vec("tool_samples:Talk", 1, wrappers=[lambda env: ToolEnv(env, tools, format=format)]) as envs:
            [episode] = rollout(policy, envs, starts=[0])
        policy.close()
    return episode, server.bodies
