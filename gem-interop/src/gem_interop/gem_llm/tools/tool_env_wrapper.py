"""gem-llm's wrapper that calls tools, for those that derive from its `BaseTool`, such as ROLL's."""

import math
from collections.abc import Sequence
from typing import Any

from gem_interop.gem_llm.core import Env, EnvWrapper
from gem_interop.gem_llm.tools.base_tool import BaseTool


class ToolEnvWrapper(EnvWrapper):
    """Tools around an environment of GEM or of a framework.

    An action in which a tool finds a call is carried out, and does not reach the environment. GEM's own tools go around
    its environments by `get_wrapper_fns`.

    Args:
        env: the environment.
        tools: tried in turn, until one finds a call that it can carry out.
        tool_reward: of each call.
        tool_success_reward: in addition, if it did not fail.
        max_tool_uses: calls per episode; further ones reach the environment. None for no limit.
    """

    def __init__(
        self,
        env: Env,
        tools: Sequence[BaseTool],
        tool_reward: float = 0.0,
        tool_success_reward: float = 0.0,
        max_tool_uses: int | None = 10,
    ) -> None:
        super().__init__(env)
        self.tools = list(tools)
        self.tool_reward = tool_reward
        self.tool_success_reward = tool_success_reward
        self.max_tool_uses = math.inf if max_tool_uses is None else max_tool_uses
        self.tool_use_counter = 0
        """Calls in this episode."""
        self.tool_success_counter = 0
        """Those of them that did not fail."""

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        before = {
            "prev_ep_tool_use_counter": self.tool_use_counter,
            "prev_ep_tool_success_counter": self.tool_success_counter,
        }
        self.tool_use_counter = self.tool_success_counter = 0
        observation, info = self.env.reset(seed=seed)
        told = "\n".join(tool.instruction_string() for tool in self.tools)
        heading = "Available tools:\n" if len(self.tools) > 1 else ""
        return f"{observation}\n{heading}{told}", {**info, **before, **self._counters(), "use_tool": False}

    def step(self, action: str, verbose: bool = False) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """`verbose` is accepted, and prints nothing."""
        call = self._call(action) if self.tool_use_counter < self.max_tool_uses else None
        if call is None:
            observation, reward, terminated, truncated, info = self.env.step(action)
            # In gem-llm this is True even for what the environment answers.
            return observation, reward, terminated, truncated, {**info, **self._counters(), "use_tool": True}
        tool, failed, result, read = call
        self.tool_use_counter += 1
        self.tool_success_counter += not failed
        if self.tool_use_counter == self.max_tool_uses:
            result += "\n\nThat was the last call of a tool: give your final answer."
        reward = self.tool_reward + (0.0 if failed else self.tool_success_reward)
        info = {"parsed_action": read, "tool_type": tool.tool_type, **self._counters(), "use_tool": True}
        return result, reward, False, False, info

    def _call(self, action: str) -> tuple[BaseTool, bool, str, str] | None:
        """The first call that was carried out, or else the last one that failed; None if there is no call."""
        last = None
        for tool in self.tools:
            found, failed, result, read = tool.execute_action(action)
            if found:
                last = (tool, failed, result, read)
                if not failed:
                    break
        return last

    def _counters(self) -> dict[str, int]:
        return {"tool_use_counter": self.tool_use_counter, "tool_success_counter": self.tool_success_counter}
