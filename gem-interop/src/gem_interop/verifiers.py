"""verifiers: episodes as its taskset, env and harness of the id `gem-verifiers`, run with 0.4.0.

```console
$ vf-eval gem-verifiers --env.taskset.env game:GuessTheNumber-v0-easy --env.taskset.tasks 100
```

A task is an id and a seed; the env plays it by `interaction.turn`, with any harness that resumes an exchange. The
reward of a rollout is the return of its episode. verifiers finds a plugin by the name of a top-level module, and cannot
import one inside a package, so `gem_verifiers`, beside this package, offers the three classes.
"""

# Where verifiers is not installed, nothing of it has a type.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownParameterType=false
# ruff: noqa: E402

import itertools
from collections.abc import Iterator
from typing import Any, cast

from gem_interop.versions import check

# The oldest is what prime-rl pinned at commit 559b447: commit a60a606 of verifiers.
OLDEST, NEWEST = "0.3.1", "0.4.0"
check("verifiers", OLDEST, NEWEST, page="verifiers")

import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from gem.errors import ConfigError
from gem.http.answers import Answer
from gem.llm.answers import refusal
from gem.llm.errors import ContextExceeded
from gem_interop.playing import start_number
from gem_interop.session import AsyncMessageSession, Result, Sessions


class GemTasksetConfig(vf.TasksetConfig):
    """Settings of what is played, under `--env.taskset.*`."""

    env: str | list[str] = Field(default_factory=list)
    """An id, or several, among which the tasks are divided."""
    tasks: int | None = Field(None, ge=1)
    """Number of tasks; unset, they do not end."""
    seed: int = 0
    """Seed from which those of the tasks are derived."""
    evaluation: bool = False
    """The starts of an evaluation, which are others than those of training."""
    wrappers: str | list[str | dict[str, Any]] = Field(default_factory=list)
    """Wrappers around every env, as in `gem.make`."""
    env_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Override the kwargs of the specs."""

    @property
    def ids(self) -> list[str]:
        """The ids that are played.

        Raises:
            ConfigError: there are none.
        """
        ids = [self.env] if isinstance(self.env, str) else self.env
        if not ids:
            raise ConfigError("which env? Give an id: --env.taskset.env game:GuessTheNumber-v0-easy")
        return ids


class GemData(vf.TaskData):
    """The start of an episode."""

    env: str
    """The id."""
    seed: int
    """Seed of the reset."""


class GemState(vf.State):
    """Message of the env to the harness about the next reply, and the episode when it has ended."""

    tools: list[dict[str, Any]] = Field(default_factory=list)
    """The tools of the request, as a chat API takes them."""
    stop: list[str] = Field(default_factory=list)
    """The texts that end the next reply."""
    result: Any = Field(None, exclude=True)
    """The `Result` of the episode, for rewards and metrics that are plugged in; None if it failed."""


class GemTask(vf.Task[GemData, GemState]):
    """An episode that starts from a seed."""


class GemTaskset(vf.Taskset[GemTask, GemTasksetConfig]):
    """Starts, as many as the config says."""

    def __init__(self, config: GemTasksetConfig) -> None:
        super().__init__(config)
        if config.tasks is None:  # said by the class, because prime-rl asks that, and makes a list of any other
            own = type(self)
            endless = _Endless if own is GemTaskset else type(own.__name__, (own,), {"INFINITE": True})
            self.__class__ = endless  # pyright: ignore[reportAttributeAccessIssue]

    def load(self) -> Iterator[GemTask]:
        """The tasks; the env makes of each what the model reads first."""
        config, ids = self.config, self.config.ids
        for index in itertools.count() if config.tasks is None else range(config.tasks):
            id, seed = start_number(index, ids, config.seed, evaluation=config.evaluation)
            yield GemTask(GemData(name=f"{id}#{seed}", env=id, seed=seed), config.task)


class _Endless(GemTaskset):
    INFINITE = True


class GemHarness(vf.Harness[vf.HarnessConfig]):
    """One request for each turn, made in this process, with the tools and stop texts of the env.

    Another harness that resumes an exchange, such as `null`, plays as well, but starts a program for each turn and
    knows neither.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask for the next reply, which verifiers records on its way. What it calls for each turn."""
        system, prompt = self.resolve_prompt(data)
        messages = [vf.SystemMessage(content=system)] if system else []
        messages += [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt or []
        request: dict[str, Any] = {"model": ctx.model, "messages": [message_to_wire(message) for message in messages]}
        for name in ("tools", "stop"):
            if value := getattr(trace.state, name, None):
                request[name] = value
        # A rollout has a time limit of its own.
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as client:
            try:
                await client.chat.completions.create(**request)
            except APIStatusError as error:
                got = error.response
                answer = Answer(endpoint, got.status_code, got.reason_phrase, got.headers, got.content, 0.0, 1)
                why = refusal(answer, list(request))
                if not isinstance(why, ContextExceeded):  # which ends the episode, as in GEM's own rollouts
                    raise
        return vf.ProgramResult(0, "", "")


class GemEnvConfig(vf.EnvConfig):
    """Settings of the policy and of the envs, under `--env.*`."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The policy, named as in the env of plain tasksets. Its harness is this module's, if no other is set."""
    max_envs: int = Field(256, ge=1)
    """Envs, and so episodes at once; more of them wait."""
    step_timeout: float | None = Field(None, gt=0)
    """Seconds that one call of an env may take, after which its episode fails."""


class GemEnv(vf.Env[GemEnvConfig]):
    """Plays episodes. Envs run in threads, so that none of them keeps the event loop from others."""

    _sessions: Sessions | None = None

    async def start(self) -> None:
        """Build one env, so that refused settings raise before any rollout."""
        taskset = cast("GemTasksetConfig", self.taskset.config)
        self._sessions = Sessions(
            taskset.ids,
            most=self.config.max_envs,
            step_timeout=self.config.step_timeout,
            wrappers=cast("Any", taskset.wrappers),
            env_kwargs=taskset.env_kwargs,
        )
        await self._sessions.__aenter__()

    async def stop(self) -> None:
        """Close every env."""
        sessions, self._sessions = self._sessions, None
        if sessions is not None:
            await sessions.close()

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play an episode.

        Raises:
            RuntimeError: the env failed, which verifiers records as the error of the rollout.
        """
        if self._sessions is None:
            raise ConfigError("envs run while the env of verifiers serves: async with env.serving()")
        data = cast("GemData", task.data)
        agent = agents.agent
        async with agent.interaction(task) as talk, self._sessions.message_session() as session:
            talk.trace.rewards["return"] = None  # what a rollout without a return has
            await _play(agent, talk, session, data)
            _record(talk.trace, session.result, data)


async def _play(agent: vf.Agent, talk: vf.Interaction, session: AsyncMessageSession, data: GemData) -> None:
    ours = isinstance(agent.harness, GemHarness)
    # The client for training samples by the settings of the run, and not by those of a request.
    stops = ours and not isinstance(agent.ctx.client, vf.TrainClientConfig)
    state = cast("GemState", talk.trace.state)
    messages = await session.start(data.seed, id=data.env)
    if session.ended:
        return
    state.tools = session.tools
    if state.tools and not ours:
        raise ConfigError(
            f"{data.env} has tools of the chat API, and the harness {agent.harness.config.id!r} does not "
            "know them: leave --env.agent.harness unset, or give the tools another call format"
        )
    sent = 0
    while messages is not None:
        state.stop = list(session.stop) if stops else []
        segment = await talk.turn(messages[sent:])
        if segment.terminated:
            _end(talk.trace, session)
            return
        [*_, reply] = (message for message in segment.messages if isinstance(message, vf.AssistantMessage))
        ended = next(call.finish_reason for call in reversed(talk.trace.calls) if call.error is None)
        reason = ended if ended == "length" or (ended == "stop" and state.stop) else None
        sent = len(messages) + 1
        messages = await session.said(message_to_wire(reply), reason)


def _end(trace: vf.Trace, session: AsyncMessageSession) -> None:
    """verifiers makes no further turn: by an error, or by one of its limits."""
    if trace.errors:
        session.fail(trace.errors[-1].message)
    else:
        session.truncate()


def _record(trace: vf.Trace, result: Result, data: GemData) -> None:
    if result.failure is not None:
        if trace.errors:  # verifiers has it already
            return
        error = RuntimeError(f"{data.env} failed from seed {data.seed}: {result.failure.error}")
        error.add_note(result.failure.traceback)
        raise error
    episode = result.episode
    assert result.total_reward is not None
    trace.record_reward("return", result.total_reward)
    trace.record_metrics({"success": result.success, "turns": len(episode.turns), "truncated": episode.truncated})
    trace.info["gem"] = {
        "env": data.env,
        "seed": data.seed,
        "rewards": [turn.reward for turn in episode.turns],
        "success": result.success,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
    }
    cast("GemState", trace.state).result = result
    trace.stop("env_terminated" if episode.terminated else "env_truncated")
