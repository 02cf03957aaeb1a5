"""Mistakes of callers: a call, its error, and a fragment of the message."""

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from sample_envs import Sum
from test_dataset_env import Capital
from test_starts import SHARES
from tool_samples import Lamp, Listener, notes, now

import gem
from gem.core import Env, Wrapper
from gem.errors import BadArguments, ConfigError, PackError, ResetNeeded, SpecError, UnknownId
from gem.packs.lookup import find_tools
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.rollout.policy import random_policy
from gem.rollout.starts import Curriculum
from gem.tool import Tool, ToolRuntime, find_format, tool
from gem.vector import Share
from gem.wrappers import Concat, ConcatChat, TimeLimit, TurnLimit
from gem.wrappers.tool_env import ToolEnv

pytestmark = pytest.mark.usefixtures("core_only")

ECHO, SUM = "core:Echo-v0", "sample_envs:Sum"


def untyped(a, b: int) -> str:
    """Untyped."""
    return ""


def starred(*words: str) -> str:
    """Starred."""
    return ""


def positional(word: str, /) -> str:
    """Positional."""
    return ""


def silent(word: str) -> str:
    return ""


def vec(*args: Any, **settings: Any) -> Callable[[], object]:
    return lambda: gem.make_vec(*(args or (SUM, 2)), **settings)


def by_hand(**settings: Any) -> Tool:
    return Tool(**{"name": "x", "description": "X.", "parameters": {}, "function": str, **settings})


def checked(**arguments: object) -> Callable[[], object]:
    schema = {"properties": {"day": {}, "hour": {}}, "required": ["day"], "additionalProperties": False}
    return lambda: by_hand(parameters=schema).validate(arguments)


def levels(*names: Any, **settings: Any) -> Callable[[], object]:
    specs = {share.name or share.id: share for share in SHARES}
    return lambda: Curriculum(SimpleNamespace(spec_of=lambda _, name: specs[name]), names, **settings)


CASES = [
    # make_vec
    (vec(SUM, 0), ConfigError, "num_envs must be an integer >= 1"),
    (vec(SUM, "3"), ConfigError, "num_envs must be an integer >= 1, not '3'"),
    (vec([]), ConfigError, "at least one id"),
    (vec({SUM: 0}), ConfigError, f"weights must be above 0 and finite: that of {SUM} is 0"),
    (vec({SUM: float("nan")}), ConfigError, "weights"),
    (vec({SUM: float("inf")}), ConfigError, "weights"),
    (vec(Env, 2), ConfigError, "make_vec takes an id, a list of ids, or a mapping"),
    (vec([Env], 2), SpecError, "call a class yourself, or give it an id with gem.register"),
    (vec(backend="threads"), ConfigError, "sync, thread, process, ray"),
    (vec(autoreset="on"), ConfigError, "same_step, next_step, off"),
    (vec(step_timeout=1.0), ConfigError, '"thread", "process" or "ray"'),
    (vec(num_workers=2), ConfigError, "does not have workers"),
    (vec(backend="thread", step_timeout=0), ConfigError, "above 0"),
    (vec(backend="thread", num_workers=0), ConfigError, "at least 1"),
    (vec(async_mode=True, backend="process"), ConfigError, "async_mode"),
    (vec(vec_kwargs=[{}]), ConfigError, "one entry per slot"),
    (vec(seed=-1), ValueError, "between 0 and"),
    (vec([Share(ECHO), Share(SUM), Share(ECHO, 2)]), ConfigError, f"{ECHO} is in the mix twice"),
    (vec([Share(ECHO), SUM]), ConfigError, "takes ids or Shares, and not both"),
    (vec([Share(SUM, kwargs={"size": 3})]), SpecError, "no argument 'size'"),
    # An id of a mixture without a slot of its own.
    (vec({SUM: 99, ECHO: 1}, 2, env_kwargs={"rounds": 2}), SpecError, "takes no argument 'rounds'"),
    (vec(f"{SUM},core:Ecko-v0", 1), UnknownId, "core:Ecko-v0"),
    # Envs and wrappers
    (lambda: Sum(max_turns=0), ConfigError, "max_turns must be an integer >= 1"),
    (lambda: Sum(max_turns=2.5), ConfigError, "max_turns must be an integer >= 1"),
    (lambda: Sum(max_turns=True), ConfigError, "max_turns must be an integer >= 1"),
    (lambda: Capital().reset(options={"index": -1}), ConfigError, "rows 0 to 3"),
    (lambda: Capital().reset(options={"index": 4}), ConfigError, "rows 0 to 3"),
    (lambda: next(rollout(random_policy(), gem.make(ECHO), [1])), ConfigError, "a rollout needs a vector"),
    (lambda: gem.register("slip:Slip-v0", 5), SpecError, "register takes a class that derives from gem.Env"),
    (lambda: Wrapper(ECHO), ConfigError, "Wrapper wraps an env, such as gem.make(id), not 'core:Echo-v0'"),
    (lambda: TurnLimit(Sum(), max_turns=0), ConfigError, "max_turns"),
    (lambda: TurnLimit(Sum(), max_turns=3).step("a"), ResetNeeded, "reset"),
    (lambda: TimeLimit(Sum(), seconds=0), ConfigError, "seconds"),
    (lambda: TimeLimit(Sum(), seconds=float("nan")), ConfigError, "nan"),
    (lambda: Concat(Sum(), max_history_length=0), ConfigError, "max_history_length"),
    (lambda: ConcatChat(Sum(), max_history_length=1.5), ConfigError, "max_history_length"),
    # Curricula
    (levels(), ConfigError, "needs levels"),
    (levels("easy", {}), ConfigError, "needs levels"),
    (levels("easy", promote=0.3), ConfigError, "demote=0.3 and promote=0.3"),
    (levels("easy", demote=-0.1), ConfigError, "demote=-0.1"),
    (levels("easy", promote=1.1), ConfigError, "promote=1.1"),
    (levels("easy", window=0), ConfigError, "window"),
    # Tools
    (lambda: tool(untyped), ConfigError, "the argument 'a' has no type"),
    (lambda: tool(pure=True)(starred), ConfigError, "the argument 'words' cannot be given by name"),
    (lambda: tool(positional), ConfigError, "the argument 'word' cannot be given by name"),
    (lambda: tool(silent), ConfigError, "'silent' has no description: write a docstring"),
    (lambda: tool(Sum), ConfigError, "makes a tool of a function, not of <class 'sample_envs.Sum'>"),
    (lambda: tool("silent"), ConfigError, "makes a tool of a function, not of 'silent'"),
    (lambda: tool(pure=True)(Lamp.brighten.function), ConfigError, "neither pure nor retried"),
    (lambda: tool(max_concurrency=1)(Lamp.brighten.function), ConfigError, "never overlap"),
    (lambda: tool(timeout=1)(Lamp.brighten.function), ConfigError, "a method with a timeout must be async"),
    (lambda: by_hand(name="two words"), ConfigError, "letters, digits"),
    (lambda: by_hand(name="x" * 65), ConfigError, "at most 64"),
    (lambda: by_hand(timeout=0), ConfigError, "timeout is above 0"),
    (lambda: by_hand(timeout=float("nan")), ConfigError, "timeout is above 0"),
    (lambda: by_hand(max_concurrency=0), ConfigError, "max_concurrency must be an integer"),
    (lambda: by_hand(retries=-1), ConfigError, "retries must be an integer"),
    (lambda: by_hand(resource=notes, pure=True), ConfigError, "neither pure nor retried"),
    (lambda: by_hand(resource=notes, retries=1), ConfigError, "neither pure nor retried"),
    (checked(), BadArguments, "'day' is missing"),
    (checked(day=1, hours=2), BadArguments, "no argument 'hours'. Did you mean 'hour'?"),
    (lambda: find_tools("tool_samples:serch"), PackError, "no 'serch'. Did you mean 'search'?"),
    (lambda: find_tools("nonsense"), UnknownId, "no installed pack has a tool 'nonsense'"),
    (lambda: find_tools("nosuch:x"), UnknownId, "the module 'nosuch' of the tool 'nosuch:x' does not exist"),
    (lambda: find_tools("builtins:str"), PackError, "is a str, not a gem.Tool"),
    (lambda: find_tools("tool_samples:greeter", wrd="hi"), SpecError, "Did you mean 'word'?"),
    (lambda: find_tools("tool_samples:search", wrd="hi"), SpecError, "takes no settings, such as 'wrd'"),
    (lambda: find_tools("tool_samples:shouter"), SpecError, "needs the argument 'word'. It takes: word."),
    (lambda: find_format("hermis"), ConfigError, "no call format 'hermis'. Did you mean 'hermes'?"),
    (lambda: ToolRuntime(max_concurrency=0), ConfigError, "max_concurrency"),
    (lambda: ToolEnv(Listener(), "pyton"), UnknownId, "no installed pack has a tool 'pyton'"),
    (lambda: ToolEnv(Listener(), [now, now]), ConfigError, "two tools are called 'now'"),
    (lambda: ToolEnv(Listener()), ConfigError, "needs at least one tool"),
    (lambda: ToolEnv(Listener(), [silent]), ConfigError, "@gem.tool.tool makes one from a typed function"),
    (lambda: ToolEnv(Lamp(), [Lamp.dim]), ConfigError, "the tool 'dim' is a method"),
    (lambda: ToolEnv(Lamp(), [Lamp().dim]), ConfigError, "two tools are called 'dim'"),
    (lambda: ToolEnv(Listener(), [now], max_calls=0), ConfigError, "max_calls"),
    (lambda: ToolEnv(Listener(), [now], max_refused=-1), ConfigError, "max_refused"),
    (lambda: ToolEnv(Listener(), [now], max_result=0), ConfigError, "max_result"),
    (lambda: ToolEnv(Listener(), [now], format="xml"), ConfigError, "no call format 'xml'"),
    (lambda: gem.make(Sum), SpecError, "not by <class 'sample_envs.Sum'>: write 'sample_envs:Sum'"),  # pyright: ignore[reportArgumentType]
    (vec(Sum, 2), ConfigError, "not <class 'sample_envs.Sum'>: write 'sample_envs:Sum'"),
    (lambda: gem.make("nowhere:Env"), UnknownId, f"module 'nowhere' found in this folder ({os.getcwd()})"),
    (lambda: make_policy("ollama:qwen"), UnknownId, "A model behind any chat API is openai:NAME"),
    (lambda: make_policy("openai:x"), ConfigError, "(`gemx eval --base-url http://localhost:8000/v1`)"),
]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize(("call", "error", "fragment"), CASES, ids=range(len(CASES)))
def test_a_mistake_is_named(call: Callable[[], object], error: type[Exception], fragment: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert fragment in str(caught.value)
