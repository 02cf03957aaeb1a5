"""GEM's names for a `ToolEnv` with the tool `search`."""

from gem.core import Env
from gem.wrappers.tool_env import ToolEnv
from gem_tools.search.tool import search_tool


def search_with_reward(env: Env) -> ToolEnv:
    """`search_tool`: five searches, and as in GEM a reward of 0.3 for each, whatever it finds."""
    return ToolEnv(env, [search_tool()], format="gem-llm", max_calls=5, tool_reward=0.3)


def search_without_reward(env: Env) -> ToolEnv:
    """`search_tool_no_int_reward`: five searches, and none of them is rewarded."""
    return ToolEnv(env, [search_tool()], format="gem-llm", max_calls=5)
