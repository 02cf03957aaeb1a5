"""`openenv:URL`: an environment on a server that speaks OpenEnv's protocol, as `gemx serve` does.

OpenEnv itself is not needed.
"""

# ruff: noqa: E402

import asyncio
import contextlib
import json
import logging
import math
import os
import socket
import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from gem_interop.versions import check

check("websockets", "14.0", "17.4")

from msgspec import Struct
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from gem.core import Observation, Step
from gem.errors import ConfigError, Fault, GemError, Unreachable, one_line
from gem.http.client import LARGEST
from gem.packs.spec import EnvSpec
from gem.work.loops import shared_loop
from gem_interop.envs.base import readable
from gem_interop.envs.json_actions import JsonActions
from gem_interop.envs.server import PATIENCE, TIMEOUT, UNREACHABLE, ServerEnv, ServerFault

_NOT_READ = frozenset({"done", "reward", "metadata", "terminated", "truncated", "success"})
_CLOSING = 0.5
"""Seconds that the end of a connection takes at most, after a deadline too."""
_QUIET = logging.Logger("gem_interop.openenv", logging.CRITICAL)
"""In place of the logger of websockets, which prints tracebacks of connections that are ended while they send."""
_OF_THE_AGENT = frozenset({"VALIDATION_ERROR"})
"""The errors that an action may be answered with because of what it says."""


class _Message(Struct):
    type: str
    data: dict[str, Any]


class _Metadata(Struct):
    info: dict[str, Any] = {}


class _Answer(Struct):
    """An observation and what goes with it."""

    observation: dict[str, Any]
    reward: float | bool | None = None
    done: bool | None = None


class OpenEnvEnv(ServerEnv):
    r"""An environment on a server of OpenEnv. Each instance is a session, which is a connection.

    The server's schema says what an action is. With one field of text, that is the whole reply; with one number, it is
    read from `\boxed{…}` or the whole reply; else the reply has to be, or to end with, a JSON object with the fields,
    which the first observation shows. A reply that is none of it, or that the server refuses as an action, ends the
    episode, which fails, with the reward 0.

    What the agent reads is the one field of text of an observation, or all of it as JSON. An episode is a success if
    the observation says so (`success`), or else if its last reward is above 0.

    Args:
        url: the address of the server, such as `http://localhost:8000`; after a `#`, which of its environments.
        action: the field of an action that the reply is, in place of the one that was found.
        observation: the field of an observation that the agent reads, likewise.
        samples: replies for `sample_action`, because a server has none. By default those that the schema allows, if
            they are numbers or a list of words.
        timeout: seconds for each answer.
        patience: seconds in which a server that had answered before is tried again at the start of an episode, if it
            cannot be reached, by all envs of a process together.
        token_variable: the environment variable with the token of the server, if it wants one.
        max_turns: a limit beside that of the server.
    """

    _where_a_token_goes = "put it into the environment variable that token_variable names"

    def __init__(
        self,
        url: str,
        action: str | None = None,
        observation: str | None = None,
        samples: Sequence[str] = (),
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
        token_variable: str = "GEM_OPENENV_TOKEN",
        max_turns: int | None = None,
    ) -> None:
        address, _, self._id = url.partition("#")
        super().__init__(address, timeout, patience, max_turns, token=os.environ.get(token_variable))
        self._connection = contextlib.ExitStack()
        self._other: ClientConnection | None = None
        self._action, self._samples, self._field = action, samples, observation
        try:
            self._when_reached(self._learn)
        except ServerFault as error:
            super().close()
            raise ConfigError(f"no server of OpenEnv answers at {self._url}: {error}") from error

    _unsaved = ServerEnv._unsaved | {"_actions", "_connection", "_is_gem", "_up_to_date"}

    _is_gem: bool
    """True if the server is `gemx serve`, whose ids, options and info are GEM's."""
    _actions: JsonActions
    _up_to_date: bool
    """True if the schema was read since the last connection."""

    def _learn(self) -> None:
        """Learn from the server what an action is."""
        schema = self._fetch("schema").get("action")
        if not isinstance(schema, dict):
            raise ServerFault(f"{self._url}/schema does not say what an action is")
        schema = cast("dict[str, Any]", schema)
        self._is_gem = schema.get("title") == "GemAction"
        try:
            self._actions = JsonActions(schema, self._action, self._samples)
        except (TypeError, AttributeError) as error:
            raise ServerFault(f"{self._url}/schema is not a JSON schema of an action: {one_line(error)}") from error
        self._up_to_date = True

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Any: they are the server's."""

    def _begin(self, seed: int, options: Mapping[str, Any]) -> Observation:
        data = {"seed": seed, **({"id": self._id} if self._id else {})}
        if options:
            data |= {"options": dict(options)} if self._is_gem else dict(options)
        kind, answer = self._when_reached(lambda: self._ask("reset", data))
        if kind == "error" and answer.get("code") == "VALIDATION_ERROR":
            advice = f"; 'openenv:{self._url}#ID' is one of its ids" if self._is_gem and "id" not in data else ""
            raise ConfigError(f"{self._url} refuses the reset {json.dumps(data)}: {answer.get('message')}{advice}")
        observation = self._shown(self._observed(kind, answer).observation)
        if not self._actions.how or not isinstance(observation, str):
            return observation
        return f"{observation}\n\n{self._actions.how}"

    def _answer(self, action: str) -> Step:
        read = self._actions.of_reply(readable(action))
        if read is None:
            return self.malformed(f"I found no action in your reply. {self._actions.how}", reward=0.0)
        kind, answer = self._ask("step", read)
        if kind == "error" and str(answer.get("code")) in _OF_THE_AGENT:
            return self.malformed(f"The action was refused: {readable(str(answer.get('message')))}", reward=0.0)
        seen = self._observed(kind, answer)
        observation = self._shown(seen.observation)
        said, reward, info = seen.observation, float(seen.reward or 0.0), self._info(answer)
        if not math.isfinite(reward):
            raise ServerFault(f"{self._url} answered with the reward {reward}")
        if not seen.done:
            return Step.ongoing(observation, reward, **info)
        if said.get("truncated") is True and not said.get("terminated"):
            return Step.cut_off(observation, reward, **info)
        success = said["success"] if isinstance(said.get("success"), bool) else reward > 0
        return Step.final(observation, reward, success=success, **info)

    def sample_action(self) -> str:
        return self._actions.sample(self.action_rng)

    def close(self) -> None:
        connection, self._other = self._other, None
        if connection is not None:
            with _within(_CLOSING, connection):
                with contextlib.suppress(WebSocketException, OSError):
                    connection.send(json.dumps({"type": "close"}))
                self._connection.close()
        super().close()

    def _ask(self, kind: str, data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The type and the data of the answer to a message."""
        until = math.inf
        try:
            if self._other is None or (kind == "reset" and self._other.close_code is not None):
                self._connect()
            assert self._other is not None
            until = time.monotonic() + self._timeout
            with _within(self._timeout, self._other):
                with contextlib.suppress(ConnectionClosed):  # a full server says so, and closes
                    self._other.send(json.dumps({"type": kind, "data": data}))
                said = self._other.recv(timeout=max(0.0, until - time.monotonic()))
            message = self._read(json.loads(said), _Message)
            return message.type, message.data
        except BaseException as error:
            # Whatever comes later is not the answer to the next message, after Ctrl-C either.
            late = isinstance(error, TimeoutError) or time.monotonic() >= until
            if self._other is not None:
                _end(self._other)
            self.close()
            told = isinstance(error, Fault | GemError)
            if told or not isinstance(error, OSError | WebSocketException | ValueError | RecursionError):
                raise
            what = f"did not answer within {self._timeout:g} s" if late else "broke off"
            raise ServerFault(f"{self._url} {what}: {type(error).__name__} {error}") from error

    def _connect(self) -> None:
        self.close()
        address = f"ws{self._url.removeprefix('http')}/ws"
        settings: dict[str, Any] = {"open_timeout": self._timeout, "close_timeout": _CLOSING, "max_size": LARGEST}
        settings["logger"] = _QUIET
        if not self._up_to_date:  # another server may be at this address since
            self._learn()
        try:
            opened = connect(address, additional_headers=self._headers, compression=None, **settings)
            self._other = self._connection.enter_context(opened)
        except InvalidStatus as error:
            said = (error.response.body or b"").decode(errors="replace")
            kind = Unreachable if error.response.status_code in UNREACHABLE else ServerFault
            raise kind(f"{address} refuses the connection, {error}: {said:.200}") from error
        except TimeoutError:  # something is there, and busy or broken
            raise
        except (OSError, InvalidMessage) as error:  # no connection, or one that a tunnel ends
            if isinstance(error, InvalidMessage) and not isinstance(error.__cause__, EOFError):
                raise  # another server answers
            raise Unreachable(f"{self._url} cannot be reached: {one_line(error)}") from error
        self._up_to_date = False

    def _observed(self, kind: str, answer: dict[str, Any]) -> _Answer:
        """The answer as an observation with what goes with it; `ServerFault` for another kind of answer."""
        if kind != "observation":
            self.close()  # the server may have ended the session
            raise ServerFault(f"{self._url}: {answer.get('code')}: {answer.get('message')}"[:500])
        return self._read(answer, _Answer)

    def _shown(self, said: dict[str, Any]) -> Observation:
        """The part of an observation that the agent reads."""
        rest = {name: value for name, value in said.items() if name not in _NOT_READ}
        texts = [name for name, value in rest.items() if isinstance(value, str)]
        field = self._field or (texts[0] if len(texts) == 1 == len(rest) else "message" if self._is_gem else None)
        if field is None:
            return readable(json.dumps(rest, ensure_ascii=False, sort_keys=True))
        if field not in said:
            raise ConfigError(f"{self._url} has no field {field!r} in its observations; it has {', '.join(rest)}")
        value = said[field]
        if isinstance(value, list) and self._is_gem:  # content parts
            return cast("Observation", value)
        return readable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))

    def _info(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The info of a GEM server's env as it is, and the metadata of another one under one name."""
        metadata: Any = answer.get("metadata") or {}
        if self._is_gem:
            info = self._read(metadata, _Metadata).info
            return {name: value for name, value in info.items() if name != "success"}
        return {"openenv": self._plain(metadata)} if metadata else {}


@contextlib.contextmanager
def _within(seconds: float, connection: ClientConnection) -> Generator[None]:
    """End the connection if this takes longer: one to a server that reads nothing takes a message when it likes, or the
    answers to pings, and keeps everyone else from it meanwhile."""

    async def end() -> None:
        await asyncio.sleep(seconds)
        _end(connection)

    try:
        ending = shared_loop.submit(end())
    except RuntimeError:  # the process ends, and its loops have
        _end(connection)
        yield
        return
    try:
        yield
    finally:
        ending.cancel()


def _end(connection: ClientConnection) -> None:
    with contextlib.suppress(OSError):
        connection.socket.shutdown(socket.SHUT_RDWR)


def resolve(name: str) -> EnvSpec:
    """The spec of `openenv:name`, whose name is an address. See `gem.EnvSource`."""
    return EnvSpec(
        id=f"openenv:{name}",
        entry_point="gem_interop.envs.openenv:OpenEnvEnv",
        kwargs={"url": name},
        description="An environment on a server of OpenEnv",
        tags=("openenv", "server"),
        notes=(
            "Seeds and options of reset go to the server, which may ignore them: `gemx check` finds out.",
            "A snapshot is the seed and the actions: restoring it plays them again on the server.",
            "The server has limits on sessions and time of its own; an answer that does not come fails the episode.",
            "Only a recording that you trust (--trust) may name an address.",
        ),
    )
