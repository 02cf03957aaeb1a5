"""`get_wrapper_fns`: gem-llm's names of wrappers, as functions that wrap an environment."""

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gem.errors import ConfigError
from gem.packs.component_ref import name_and_settings
from gem.packs.lookup import find_named
from gem_interop.gem_llm.core import Env, GemEnv


@dataclass(frozen=True)
class WrapperFn:
    """Wraps an environment of GEM by one of GEM's wrappers."""

    name: str
    """The wrapper's name in GEM."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Its settings."""

    def reference(self) -> dict[str, Any]:
        """The wrapper as `gem.make(…, wrappers=[…])` takes it."""
        return {"name": self.name, **self.settings}

    def __call__(self, env: Env) -> GemEnv:
        """The wrapped environment of `gem_interop.gem_llm.make`.

        Raises:
            ConfigError: it is not an environment of GEM.
        """
        if not isinstance(env, GemEnv):
            raise ConfigError(f"these wrappers go around an environment of GEM, not around {type(env).__name__}")
        name, settings = name_and_settings(self.reference())
        return env.around(functools.partial(find_named("wrapper", name), **settings))


@dataclass(frozen=True)
class ToolFn(WrapperFn):
    """Offers a tool of GEM, with at most five calls."""

    name: str = "tool_env"

    def reference(self) -> dict[str, Any]:
        tool = dict(self.settings["tools"])
        if tool["name"] == "search":  # as in gem-llm, a variable names the server
            if not (url := os.environ.get("SEARCH_URL")):
                raise ConfigError("the search tool needs a server: set the variable SEARCH_URL")
            tool |= {"source": url, "protocol": "gem-llm"}
        return {**super().reference(), "tools": tool, "format": "gem-llm", "max_calls": 5}


def _tool(name: str, tool_reward: float, tool_success_reward: float, **settings: Any) -> WrapperFn:
    rewards = {"tool_reward": tool_reward, "tool_success_reward": tool_success_reward}
    return ToolFn(settings={"tools": {"name": name, **settings}, **rewards})


WRAPPER_FACTORY: Mapping[str, WrapperFn] = {
    "python_tool": _tool("python", 0.05, 0.25, timeout=5),
    "python_tool_no_int_reward": _tool("python", 0.0, 0.0, timeout=5),
    "python_tool_no_int_reward_last_line_error": _tool("python", 0.0, 0.0, timeout=5, last_line_of_errors=True),
    "search_tool": _tool("search", 0.3, 0.0, topk=3),
    "search_tool_no_int_reward": _tool("search", 0.0, 0.0, topk=3),
    "concat": WrapperFn("concat"),
    "concat_chat": WrapperFn("concat_chat"),
    "concat_with_action": WrapperFn("concat_with_action"),
    "concat_chat_on_reset": WrapperFn("concat_chat_on_reset"),
    "episode_tracking": WrapperFn("episode_tracking"),
}
"""gem-llm's names of wrappers → functions that wrap an environment."""


def get_wrapper_fns(wrappers: str, tokenizer: Any = None) -> list[WrapperFn]:
    """Functions that wrap an environment, in the order of their names, which have commas between them.

    Raises:
        ConfigError: a name is unknown.
    """
    fns: list[WrapperFn] = []
    for name in filter(None, (each.strip() for each in (wrappers or "").split(","))):
        if name not in WRAPPER_FACTORY:
            raise ConfigError(f"gem-llm has no wrapper {name!r}; it has {', '.join(WRAPPER_FACTORY)}")
        fn = WRAPPER_FACTORY[name]
        renders = name in ("concat_chat", "concat_chat_on_reset")
        fns.append(replace(fn, settings={"tokenizer": tokenizer}) if renders and tokenizer is not None else fn)
    return fns
