"""gem-llm's names for a `ToolEnv` with the tool `python`."""

from gem.core import Env
from gem.wrappers.tool_env import ToolEnv
from gem_tools.code.python import python_tool


def python_with_reward(env: Env) -> ToolEnv:
    """`python_tool`: five programs; as in gem-llm each earns 0.05, and 0.25 more if it does not fail."""
    return ToolEnv(env, [python_tool()], format="tags", max_calls=5, tool_reward=0.05, tool_success_reward=0.25)


def python_without_reward(env: Env) -> ToolEnv:
    """`python_tool_no_int_reward`: five programs, without a reward."""
    return ToolEnv(env, [python_tool()], format="tags", max_calls=5)


def python_last_line_error(env: Env) -> ToolEnv:
    """`python_tool_no_int_reward_last_line_error`: the same, with only the last line of a traceback."""
    return ToolEnv(env, [python_tool(last_line_of_errors=True)], format="tags", max_calls=5)
