"""gem-llm's names for a `ToolEnv` with the tool `search`."""

from gem.core import Env
from gem.wrappers.tool_env import ToolEnv
from gem_tools.search.tool import search_tool


def search_with_reward(env: Env) -> ToolEnv:
    """`search_tool`: five searches, each with a reward of 0.3 whatever it finds, as in gem-llm."""
    return ToolEnv(env, [search_tool()], format="tags", max_calls=5, tool_reward=0.3)


def search_without_reward(env: Env) -> ToolEnv:
    """`search_tool_no_int_reward`: five searches, without a reward."""
    return ToolEnv(env, [search_tool()], format="tags", max_calls=5)
