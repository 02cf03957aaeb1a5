"""`ToolEnv`: tools for the agent of an environment."""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from gem.checks import check_int, finite
from gem.core import Env, Info, Observation, Step, Wrapper, check_step
from gem.errors import BadArguments, ConfigError, ToolError
from gem.tool.content import Content, check_content, join, map_texts, shorten, wrap
from gem.tool.escaping import escape_marks
from gem.tool.formats import BadCall, CallFormat, ToolCall, find_format
from gem.tool.formats.base import DOUBLED
from gem.tool.formats.json_call import described as described_tool
from gem.tool.resource import capped, name_of
from gem.tool.runtime import EpisodeResources, ToolRuntime, shared_runtime
from gem.tool.session import ToolSession
from gem.tool.tool import Tool, tools_of
from gem.work.threads import Outcome
from gem.wrappers.concat import check_one_player
from gem.wrappers.given_tools import Tools, tools_by_name


@dataclass(frozen=True)
class ToolResult:
    """A call that was carried out, and its result."""

    call: ToolCall
    content: Content
    """The result that the agent is shown, without the marks of the format."""
    success: bool
    """False if the tool raised `ToolError`."""


@runtime_checkable
class ToolSampler(Protocol):
    """An env whose random play calls tools. `ToolEnv.sample_action` asks it first."""

    def sample_call(self) -> ToolCall | None:
        """A random call that is plausible in this state, drawn from `action_rng`; None for no call."""
        ...


@runtime_checkable
class ToolExpert(Protocol):
    """An env whose expert calls tools. `ToolEnv.expert_action` asks it first."""

    def expert_call(self, results: Sequence[ToolResult]) -> ToolCall | None:
        """The best call in this state, given the results of the episode's calls so far; None for no call."""
        ...


@runtime_checkable
class ToolHost(Protocol):
    """An env with a say in the step of a call: it may count a turn, show its state, give a reward, end the episode."""

    def after_call(self, shown: Content) -> Step:
        """The step of a call, carried out or refused; `shown` is what the agent would see of it otherwise.

        The format's marks go around its observation: nothing is outside of them, because some chat templates (Qwen3's)
        take a message with more than a tool's response for a new question, and drop the reasoning before it.
        """
        ...


class ToolEnv(Wrapper):
    """An env whose agent can call tools.

    A reply with a call runs the tool, whose result is the next observation; text after the call is dropped. A reply
    without a call goes to the env unchanged. A call is *refused* if it is malformed, names an unknown tool, has invalid
    arguments, is one of several in a text, or comes when all calls are used up: the observation then says what was
    wrong, and the episode continues. A chat API's message may have several calls: they are carried out in order, and
    the info's `calls` has the name, the status and the answer of each. With `parallel` a text may have several too, and
    those of a reply run at once, but for calls of tools with a resource and of the env's methods: each of these begins
    when all before it are answered. Answers are in the order of the calls.

    The env's own turn limit counts the replies that reach it. `ToolEnv` counts calls: at most `max_calls` are carried
    out, and with the `max_refused`-th refused one the episode is truncated, so that it always ends.

    A `ToolError` of a tool is shown to the agent. Any other exception ends the episode as failed.

    An env may have tools of its own, which work on its state: methods of its class that are decorated with
    `@gem.tool.tool`. The innermost `ToolEnv` around it offers them in addition to `tools`. After each call it asks the
    env's `after_call`, if there is one (`ToolHost`).

    The info has `use_tool` (whether the reply was a call), `tool_use_counter` and `tool_success_counter` as in gem-llm,
    `tool_refused_counter`, for a call `tool` with its name and status, and `stop`: the texts after which a policy may
    stop, because a call ends there.

    Args:
        tools: tools, names of tools that packs offer, or such names with settings: `[tool]`, `"python,search"`,
            `[{"name": "search", "topk": 5}, {"name": "mcp", "config": "servers.json"}]`; empty for the env's own alone.
        format: how calls look: a name from `gem.tool.FORMATS`, or a format. With `auto` they are those of the policy's
            API if that has tools, and text otherwise; around another `ToolEnv` it is that one's format.
        max_calls: calls of an episode that are carried out; None for no limit.
        max_refused: calls of an episode that are refused before it is truncated; None for no limit.
        tool_reward: for each call that is carried out.
        tool_success_reward: in addition, for each that did not raise `ToolError`.
        tool_error_reward: for each that raised `ToolError`, and for each call that is refused.
        parallel: a reply may have several calls, which run at once; in the formats `hermes` and `openai`, and `auto`,
            which in text is then `hermes`.
        keep_resources: the states of resources stay open after the last step for the rewards of the episode
            (`gem.rewards.RewardPipeline`, which gives them back), with the backends `sync` and `thread`: its info has
            them as `resources`.
        max_result: characters of a result that the agent is shown; a longer one loses its middle.
        runtime: what carries out the calls; by default the one that the process shares.

    Raises:
        ConfigError: the env has several players, a setting is out of range, two tools have the same name, there is no
            tool, the format has one call in a reply, two resources with a capacity have the same name, or another
            `ToolEnv` around the same env has another format, or not `parallel`, or resources with a capacity as this
            one has.
        UnknownId, SpecError: a tool, or a setting of one, does not exist.
    """

    _unsaved = Wrapper._unsaved | {
        "tools",
        "format",
        "_known",
        "_resources",
        "_given",
        "_session",
        "_host",
        "_capacities",
    }

    def __init__(
        self,
        env: Env,
        tools: Tools = (),
        *,
        format: str | CallFormat = "auto",
        max_calls: int | None = 10,
        max_refused: int | None = 10,
        tool_reward: float = 0.0,
        tool_success_reward: float = 0.0,
        tool_error_reward: float = 0.0,
        parallel: bool = False,
        keep_resources: bool = False,
        max_result: int = 10_000,
        runtime: ToolRuntime | None = None,
    ) -> None:
        super().__init__(env)
        check_one_player(self, env)
        below = list(tool_envs(env))
        innermost = not below
        self.tools = tools_by_name(tools, tools_of(env.unwrapped) if innermost else [])
        self._host = env.unwrapped if innermost and isinstance(env.unwrapped, ToolHost) else None
        # Calls of the tools of other `ToolEnv`s around the same env are passed on, not refused as unknown.
        self._known = {name: tool for each in (*below, self) for name, tool in each.tools.items()}
        chosen = format if isinstance(format, CallFormat) else find_format(format)
        if innermost:
            chosen = (chosen.several() if parallel else chosen).for_tools(self.tools)
        elif parallel and not below[0].parallel:
            raise ConfigError("the ToolEnv inside has one call in a reply: give parallel=True to that one")
        elif chosen.name not in ("auto", below[0].format.name):
            raise ConfigError(
                f"one conversation would have the format {chosen.name!r} and the format {below[0].format.name!r} of "
                "the ToolEnv inside: give both the same, or the tools to the one inside (the wrapper tool_env by name)"
            )
        self.format = chosen if innermost else below[0].format
        self.parallel = parallel if innermost else below[0].parallel
        self.max_calls = None if max_calls is None else check_int("max_calls", max_calls, 1)
        self.max_refused = None if max_refused is None else check_int("max_refused", max_refused, 1)
        self.tool_reward = finite("tool_reward", tool_reward)
        self.tool_success_reward = finite("tool_success_reward", tool_success_reward)
        self.tool_error_reward = finite("tool_error_reward", tool_error_reward)
        self.keep_resources = keep_resources
        self.max_result = check_int("max_result", max_result, 1)
        self._resources = list(dict.fromkeys(tool.resource for tool in self.tools.values() if tool.resource))
        own = {name_of(resource): resource.capacity for resource in capped(self._resources) if resource.capacity}
        if own and env.capacities:
            raise ConfigError(
                f"the ToolEnv inside has {', '.join(env.capacities)} with a capacity, and this one {', '.join(own)}: "
                "two episodes could wait for each other. Give all these tools to one ToolEnv"
            )
        self._capacities = {**env.capacities, **own}
        self._given = runtime
        self._session: ToolSession | None = None
        self._results: list[ToolResult] = []
        self._refused = 0
        self._over: bool | None = None

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        self._end()
        self._results, self._refused = [], 0
        self._over = None
        observation, info = self.env.reset(seed=seed, options=options)
        self._over = False
        described = instructions = self.format.describe(self.tools)
        if self.format.tools_info:
            further = {self.format.tools_info: map(described_tool, self.tools.values()), "tools_text": [described]}
            info = {**info, **{name: [*info.get(name, ()), *each] for name, each in further.items()}}
        if self.max_calls is not None:
            instructions += f"\n\nYou have {self.max_calls} {'call' if self.max_calls == 1 else 'calls'}."
        return wrap("", observation, f"\n\n{instructions}"), self._with_counts(info, use_tool=False)

    def step(self, action: str) -> Step:
        check_step(self, self._over, action)
        # It stays so after a fault of a tool or of the env.
        self._over = True
        try:
            step = self._step(action)
            self._over = step.done
            if step.done and self.keep_resources and self._session is not None:
                step.info["resources"] = EpisodeResources(self._runtime, self._session)
                self._session = None
        finally:
            if self._over:
                self._end()
        return step

    @property
    def capacities(self) -> Mapping[str, int]:  # pyright: ignore[reportIncompatibleVariableOverride]: those of its tools
        return self._capacities

    def close(self) -> None:
        try:
            self._end()
        finally:
            self.env.close()

    def sample_action(self) -> str:
        env = self.env.unwrapped
        call = env.sample_call() if isinstance(env, ToolSampler) else None
        return self._written(call) or self.env.sample_action()

    def expert_action(self) -> str | None:
        env = self.env.unwrapped
        call = env.expert_call(self._results) if isinstance(env, ToolExpert) else None
        return self._written(call) or self.env.expert_action()

    def _written(self, call: ToolCall | None) -> str | None:
        """A reply that is `call`, if that can be carried out."""
        if call is None or call.name not in self.tools or self._used_up:
            return None
        return self.format.write(call, self.tools)

    @property
    def _used_up(self) -> bool:
        return self.max_calls is not None and len(self._results) >= self.max_calls

    def is_tool_call(self, action: str) -> bool:
        """True for a reply that is a call, valid or not, which the env inside does not receive."""
        return bool(self._parse(action))

    def _parse(self, action: str) -> Sequence[ToolCall | BadCall]:
        parsed = self.format.read_each(action, self._known)
        below = sum(isinstance(call, ToolCall) and call.name not in self.tools for call in parsed)
        if below == len(parsed):
            return ()
        return [DOUBLED] * len(parsed) if below else parsed

    def _step(self, action: str) -> Step:
        calls = self._parse(action)
        if not calls:
            step = self.env.step(action)
            return step._replace(info=self._with_counts(step.info, use_tool=False))
        format = self.format.of(action)
        steps: list[Step] = []
        with ExitStack() as running:
            started = self._start(calls, running) if self.parallel and len(calls) > 1 else {}
            for number, call in enumerate(calls):
                step = self._carry_out(call, started.get(number))
                steps.append(step._replace(observation=format.frame(step.observation)))
                if step.done:
                    break
        return _as_one(steps) if len(calls) > 1 else steps[0]

    def _start(self, calls: Sequence[ToolCall | BadCall], running: ExitStack) -> dict[int, "Future[Outcome[Content]]"]:
        """Start what may run at once of the calls of a reply, by number; what is left is cancelled with `running`."""
        left = math.inf if self.max_calls is None else self.max_calls - len(self._results)
        started: dict[int, Future[Outcome[Content]]] = {}
        for number, call in enumerate(calls):
            if isinstance(call, BadCall) or not _valid(self.tools[call.name], call.arguments):
                continue
            left -= 1
            if left < 0:
                break
            tool = self.tools[call.name]
            if tool.resource is None and not self._is_method(tool):
                started[number] = self._runtime.start(tool, call.arguments)
                running.callback(started[number].cancel)
        return started

    def _carry_out(self, parsed: ToolCall | BadCall, started: "Future[Outcome[Content]] | None" = None) -> Step:
        if isinstance(parsed, ToolCall) and self._used_up:
            parsed = BadCall("over_budget", f"All {self.max_calls} calls are used up. Go on without a tool.")
        if isinstance(parsed, BadCall):
            return self._refuse(parsed, None)
        try:
            if started is not None:
                content = started.result().get()
            else:
                content = self._call(self.tools[parsed.name], parsed.arguments)
        except BadArguments as error:
            why = escape_marks(str(error))
            return self._refuse(BadCall("arguments", f"{parsed.name} was not called: {why}."), parsed.name)
        except ToolError as error:
            return self._answer(parsed, str(error), success=False)
        return self._answer(parsed, content, success=True)

    def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> Content:
        function = tool.function
        if self._is_method(tool) and not inspect.iscoroutinefunction(function):
            # Like the rest of the env, its methods run in the thread that steps it: what they use may depend on that.
            return check_content(tool.name, function(**tool.validate(arguments)))
        if tool.resource is not None and self._session is None:
            self._session = self._runtime.session(self._resources)
        return self._runtime.call(tool, arguments, self._session)

    def _is_method(self, tool: Tool) -> bool:
        return getattr(tool.function, "__self__", None) is self.env.unwrapped

    @property
    def _runtime(self) -> ToolRuntime:
        return self._given or shared_runtime()

    def _end(self) -> None:
        """Give back the states of the episode's tools."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _attributes(self) -> dict[str, Any]:
        saved = self._session.save() if self._session is not None else {}
        return {**super()._attributes(), "_saved": {self._resources.index(each): saved[each] for each in saved}}

    def _replace_attributes(self, attributes: Mapping[str, Any]) -> None:
        own = dict(attributes)
        saved = own.pop("_saved")
        self._end()
        if saved:
            self._session = self._runtime.session(self._resources)
            self._session.load({self._resources[number]: state for number, state in saved.items()})
        super()._replace_attributes(own)

    def _answer(self, call: ToolCall, content: Content, *, success: bool) -> Step:
        result = ToolResult(call, shorten(content, self.max_result), success)
        self._results.append(result)
        shown = map_texts(result.content, escape_marks)
        if len(self._results) == self.max_calls:
            shown = wrap("", shown, "\n\nThat was your last call. Go on without a tool.")
        reward = self.tool_reward + (self.tool_success_reward if success else self.tool_error_reward)
        return self._after_call(shown, reward, call.name, "ok" if success else "error")

    def _refuse(self, bad: BadCall, name: str | None) -> Step:
        self._refused += 1
        step = self._after_call(shorten(bad.message, self.max_result), self.tool_error_reward, name, bad.problem)
        if self._refused == self.max_refused and not step.done:
            return Step.cut_off(step.observation, step.reward, **step.info)
        return step

    def _after_call(self, shown: Content, reward: float, name: str | None, status: str) -> Step:
        step = Step.ongoing(shown) if self._host is None else self._host.after_call(shown)
        info = self._with_counts({**step.info, "tool": {"name": name, "status": status}}, use_tool=True)
        return step._replace(reward=step.reward + reward, info=info)

    def _with_counts(self, info: Info, *, use_tool: bool) -> Info:
        return {
            **info,
            "stop": [*info.get("stop", ()), *self.format.stops(self.tools)],
            "use_tool": use_tool or info.get("use_tool", False),
            "tool_use_counter": len(self._results),
            "tool_success_counter": sum(result.success for result in self._results),
            "tool_refused_counter": self._refused,
        }


def _as_one(steps: Sequence[Step]) -> Step:
    """The steps of the calls of one reply as one step."""
    calls = [{**step.info["tool"], "answer": step.observation} for step in steps]
    return steps[-1]._replace(
        observation=join([step.observation for step in steps]),
        reward=math.fsum(step.reward for step in steps),
        info={**steps[-1].info, "calls": calls},
    )


def _valid(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    try:
        tool.validate(arguments)
    except BadArguments:
        return False
    return True


def tool_envs(env: Env) -> Iterator[ToolEnv]:
    """The `ToolEnv`s among `env` and the wrappers in it, the outermost first."""
    while isinstance(env, Wrapper):
        if isinstance(env, ToolEnv):
            yield env
        env = env.env
