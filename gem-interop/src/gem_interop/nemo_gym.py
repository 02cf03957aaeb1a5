"""NeMo Gym: episodes as a `GymnasiumServer`, run with 0.7.0.

```python
from gem_interop.nemo_gym import GemServer

GemServer.run_webserver()
```

That is the `app.py` of a resources server; its configuration says what it plays. A row of the data set names an id and
a seed, and `gymnasium_agent` plays it: `/reset` starts a chat session, `/step` passes the reply of the model to it, and
`/close` ends it. The reward of a rollout is the sum over its steps, which is the return of the episode.
"""

# Where NeMo Gym is not installed, nothing of it has a type.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownParameterType=false
# ruff: noqa: E402

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from gem_interop.versions import check

OLDEST, NEWEST = "0.7.0", "0.7.0"
check("nemo-gym", OLDEST, NEWEST, page="nemo_gym")

from fastapi import FastAPI, HTTPException, Request
from nemo_gym.base_resources_server import BaseResourcesServerConfig, ReverifyMode
from nemo_gym.openai_utils import NeMoGymResponse
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import Field, PrivateAttr
from resources_servers.gymnasium import EnvResetRequest, EnvResetResponse, GymnasiumServer, extract_text

from gem.errors import ConfigError, GemError
from gem.packs.make import Wrappers
from gem_interop.playing import starts
from gem_interop.session import AsyncMessageSession, MessageSession, Sessions

Answer = tuple[str | None, float, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated, info."""


class GemServerConfig(BaseResourcesServerConfig):
    """Settings of the server, in its configuration file."""

    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.UNSUPPORTED
    env: str | list[str]
    """An id, or several, of which each row of the data set names one."""
    max_turns: int | None = Field(None, ge=1)
    """Turns after which an episode is truncated."""
    max_envs: int = Field(256, ge=1)
    """Envs, and so episodes at once; more of them wait in `/reset`."""
    step_timeout: float | None = Field(None, gt=0)
    """Seconds that one call of an env may take, after which its episode fails."""
    idle_timeout: float = Field(1800.0, gt=0)
    """Seconds without a call after which an episode is taken for abandoned, and its env is used for others."""
    wrappers: str | list[str | dict[str, Any]] = Field(default_factory=list)
    """Wrappers around every env, as in `gem.make`."""
    env_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Override the kwargs of the specs."""


@dataclass
class _Talk:
    """An episode that is played."""

    session: AsyncMessageSession
    what: str
    """Id and seed, for messages."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    sent: int = 0
    """Messages that the agent has."""
    used: float = field(default_factory=time.monotonic)


class GemServer(GymnasiumServer):
    """Plays episodes for `gymnasium_agent`, with envs in threads. Make it with a config, as NeMo Gym does."""

    ray_enabled = False
    """NeMo Gym's: the server does not need Ray."""
    config: GemServerConfig
    """The server's part of the YAML file."""
    _sessions: Sessions = PrivateAttr()
    _answered: dict[str | None, tuple[Any, Answer, float]] = PrivateAttr(default_factory=dict)
    """Request, answer and time of the last step of each session: an agent whose connection broke asks again."""

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        config = self.config
        if (config.num_workers or 1) > 1:
            raise ConfigError("episodes are in the memory of one process: leave num_workers at 1")
        self._sessions = Sessions(
            config.env,
            most=config.max_envs,
            step_timeout=config.step_timeout,
            max_turns=config.max_turns,
            wrappers=cast("Any", config.wrappers),
            env_kwargs=config.env_kwargs,
        )

    def setup_webserver(self) -> FastAPI:
        """The routes of the base class, and `/close`. The server starts only if its settings build an env."""
        app = super().setup_webserver()
        app.post("/close")(self._close_endpoint)
        inner = app.router.lifespan_context

        @asynccontextmanager
        async def lifespan(app: FastAPI) -> AsyncGenerator[Any]:
            async with self._sessions, inner(app) as state:
                sweeper = asyncio.create_task(self._sweep())
                try:
                    yield state
                finally:
                    sweeper.cancel()

        app.router.lifespan_context = lifespan
        return app

    async def reset(
        self, metadata: Mapping[str, Any], session_id: str | None = None
    ) -> tuple[str | None, dict[str, Any]]:
        """Start the episode that a row names; one of this session that is running is abandoned."""
        self._cleanup_session(session_id)
        self._answered.pop(session_id, None)
        id, seed = metadata.get("env"), metadata.get("seed")
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise HTTPException(422, f"a row needs its seed, a whole number, and not {seed!r}")
        talk = _Talk(self._sessions.message_session(), f"{id or self.config.env} from seed {seed}")
        self.session_state[session_id] = talk
        async with talk.lock, self._or_over(talk, session_id):
            try:
                messages = await talk.session.start(seed, metadata.get("options"), id=id)
            except GemError as error:
                raise HTTPException(422, str(error)) from error
            self._check(talk)
            observation, _ = _shown(talk, messages or [])
            talk.used = time.monotonic()
        return observation, {"supports_explicit_close": True, "supports_step_idempotency": True}

    async def step(self, action: NeMoGymResponse, metadata: Mapping[str, Any], session_id: str | None = None) -> Answer:
        """Pass a reply to the env.

        Raises:
            RuntimeError: the env failed, which fails the rollout.
            HTTPException: no episode is running.
        """
        talk: _Talk | None = self.session_state.get(session_id)
        asked = metadata.get("_ng_step_request_id")
        if talk is None:
            return self._again(asked, session_id)
        async with talk.lock:
            if asked is not None and asked == self._answered.get(session_id, (None,))[0]:
                return self._again(asked, session_id)
            talk.used = time.monotonic()
            async with self._or_over(talk, session_id):
                messages = await talk.session.said(*_reply(action))
                self._check(talk)
                answer = _answer(talk, messages)
            talk.used = time.monotonic()
            self._answered[session_id] = (asked, answer, talk.used)
            return answer

    async def _reset_endpoint(self, body: EnvResetRequest, request: Request) -> EnvResetResponse:
        answer = await super()._reset_endpoint(body, request)
        session_id = request.session.get(SESSION_ID_KEY)
        needs = {tool["function"]["name"] for tool in self.session_state[session_id].session.tools}
        offers = {cast("Any", tool).get("name") for tool in body.responses_create_params.tools or ()}
        if needs != offers:
            self._cleanup_session(session_id)
            raise HTTPException(
                422,
                f"the row has the tools {sorted(offers)}, and the env {sorted(needs)}: make rows with nemo_gym.rows",
            )
        return answer

    async def _close_endpoint(self, request: Request) -> dict[str, Any]:
        """Abandon the episode of a session, if one is running. Closing twice is fine."""
        session_id = request.session.get(SESSION_ID_KEY)
        await self.close_session(session_id)
        self._answered.pop(session_id, None)
        return {}

    def _cleanup_session(self, session_id: str | None) -> None:
        talk: _Talk | None = self.session_state.get(session_id)
        if talk is not None:
            talk.session.close()
        super()._cleanup_session(session_id)

    @asynccontextmanager
    async def _or_over(self, talk: _Talk, session_id: str | None) -> AsyncGenerator[None]:
        """An episode whose call raised, or whose agent hung up, is over, and its env is free."""
        try:
            yield
        except BaseException:
            if self.session_state.get(session_id) is talk:
                self._cleanup_session(session_id)
            talk.session.close()
            raise

    def _check(self, talk: _Talk) -> None:
        if talk.session.ended and (failure := talk.session.result.failure) is not None:
            error = RuntimeError(f"{talk.what} failed: {failure.error}")
            error.add_note(failure.traceback)
            raise error

    def _again(self, asked: Any, session_id: str | None) -> Answer:
        known, answer, _ = self._answered.get(session_id, (None, None, 0.0))
        if asked is None or asked != known or answer is None:
            raise HTTPException(409, "no episode is running in this session: it has ended, failed or not been reset")
        return answer

    async def _sweep(self) -> None:
        """Take the envs of those who have gone."""
        limit = self.config.idle_timeout
        while True:
            await asyncio.sleep(limit / 4)
            since = time.monotonic() - limit
            for session_id, talk in list(self.session_state.items()):
                if talk.used < since and not talk.lock.locked():
                    self._cleanup_session(session_id)
            for session_id, (_, _, when) in list(self._answered.items()):
                if when < since:
                    del self._answered[session_id]


def rows(
    env: str | Sequence[str],
    episodes: int,
    seed: int = 0,
    *,
    evaluation: bool = False,
    wrappers: Wrappers = (),
    env_kwargs: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Starts, to be written as JSON lines.

    The arguments are those of `gem_interop.playing.starts`, and what the configuration of the server says.

    Raises:
        ConfigError: an env failed to start, so that its tools are not known.
    """
    tools: dict[str, list[dict[str, Any]]] = {}
    made: list[dict[str, Any]] = []
    for id, start in starts(env, episodes, seed, evaluation=evaluation):
        if id not in tools:
            with MessageSession(id, wrappers=wrappers, env_kwargs=env_kwargs) as session:
                if session.start(start) is None:
                    raise ConfigError(f"{id} failed to start: {session.result.failure}")
                tools[id] = [
                    {"type": "function", "strict": False, "description": "", **tool["function"]}
                    for tool in session.tools
                ]
        made.append({"responses_create_params": {"input": [], "tools": tools[id]}, "env": id, "seed": start})
    return made


def _reply(action: NeMoGymResponse) -> tuple[dict[str, Any], Any]:
    """The assistant's message of a response, and whether it was cut."""
    calls = [
        {"id": item.call_id, "type": "function", "function": {"name": item.name, "arguments": item.arguments}}
        for item in action.output
        if item.type == "function_call"
    ]
    message: dict[str, Any] = {"role": "assistant", "content": extract_text(action)}
    if calls:
        message["tool_calls"] = calls
    cut = action.incomplete_details is not None and action.incomplete_details.reason == "max_output_tokens"
    return message, "length" if cut else None


def _answer(talk: _Talk, messages: list[dict[str, Any]] | None) -> Answer:
    reward = talk.session.turns[-1].reward
    if messages is None:
        episode = talk.session.result.episode
        info = {
            "success": episode.success,
            "return": episode.total_reward,
            "rewards": [turn.reward for turn in episode.turns],
        }
        return None, reward, episode.terminated, episode.truncated, info
    talk.sent += 1  # the reply
    observation, outputs = _shown(talk, messages)
    return observation, reward, False, False, {"tool_outputs": outputs} if outputs else {}


def _shown(talk: _Talk, messages: list[dict[str, Any]]) -> tuple[str | None, list[dict[str, str]]]:
    """News for the agent: the text of an observation, and the results of its calls."""
    new, talk.sent = messages[talk.sent :], len(messages)
    texts: list[str] = []
    outputs: list[dict[str, str]] = []
    for message in new:
        if not isinstance(message["content"], str):
            raise ConfigError(f"{talk.what} shows images, and an observation of NeMo Gym is text")
        if message["role"] == "tool":
            outputs.append({"call_id": message["tool_call_id"], "output": message["content"]})
        else:
            texts.append(message["content"])
    return "\n\n".join(texts) or None, outputs
