"""`nemo:URL`: a resources server of NeMo Gym, by its HTTP protocol; NeMo Gym itself is not needed."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from msgspec import Struct

from gem.checks import finite
from gem.core import Observation, Step
from gem.data import open_table
from gem.data.source import Data
from gem.errors import ConfigError, Fault, Unreachable
from gem.packs.spec import EnvSpec
from gem_interop.envs.base import chosen_row, readable
from gem_interop.envs.server import PATIENCE, TIMEOUT, ServerEnv, ServerFault

NO_PROMPT: Mapping[str, Any] = {"responses_create_params": {"input": []}}


class _Api(Struct):
    paths: dict[str, Any]


class _Answer(Struct):
    """What a server says to a reset or to a reply."""

    observation: str | None = None
    terminated: bool | None = None
    truncated: bool | None = None


class _Graded(_Answer, kw_only=True):
    reward: float


class NemoEnv(ServerEnv):
    """A resources server of NeMo Gym. Each episode is a session there, which its cookie names.

    A `GymnasiumServer` is reset, and then gets each reply. Any other server is seeded with the row, and verifies one
    reply. Function calls are not made: a server that waits for them sees a text. An episode is a success if its return
    is at least `success_at`.

    Args:
        url: the address of the server, such as `http://localhost:8000`.
        data: rows in NeMo Gym's form, with `responses_create_params` and what the server wants beside it. The seed
            chooses one, or the option `index` of reset; all of it goes to the server, with the seed as `seed`, unless
            the row has one. By default one row without a prompt.
        samples: replies for `sample_action`.
        success_at: the return that is a success.
        timeout: seconds for each answer.
        patience: seconds in which a server that had answered before is tried again at the start of an episode, if it
            cannot be reached, by all envs of a process together.
        max_turns: replies in an episode, beside the limit of the server.
    """

    reset_options: ClassVar[tuple[str, ...]] = ("index",)
    _unsaved = ServerEnv._unsaved | {"_rows"}

    def __init__(
        self,
        url: str,
        data: Data | None = None,
        samples: Sequence[str] = ("yes",),
        success_at: float = 1.0,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
        max_turns: int | None = None,
    ) -> None:
        super().__init__(url, timeout, patience, max_turns, cookies=True)
        self._rows = [dict(NO_PROMPT)] if data is None else open_table(data)
        self._samples = tuple(samples)
        self._threshold = finite("success_at", success_at)
        self._other = False
        try:
            paths = self._read(self._when_reached(lambda: self._fetch("openapi.json")), _Api).paths
        except ServerFault as error:
            super().close()
            raise ConfigError(f"no server of NeMo Gym answers at {self._url}: {error}") from error
        if not {"/reset", "/step"} <= paths.keys() and "/verify" not in paths:
            raise ConfigError(f"{self._url} is not a resources server: it has neither /reset and /step nor /verify")
        self._in_turns = "/reset" in paths
        self._can_close = "/close" in paths
        self._total = 0.0

    def _begin(self, seed: int, options: Mapping[str, Any]) -> Observation:
        self.close()
        self._row: dict[str, Any] = {"seed": seed, **chosen_row(self._rows, seed, options)}
        if "responses_create_params" not in self._row:
            raise ConfigError(f"a row of NeMo Gym has responses_create_params; this one has {', '.join(self._row)}")
        self._total = 0.0
        self._other = True
        path = "reset" if self._in_turns else "seed_session"
        answer = self._when_reached(lambda: self._fetch(path, self._row))
        shown = self._read(answer, _Answer).observation
        return "\n\n".join(filter(None, (_prompt(self._row), readable(shown or ""))))

    def _answer(self, action: str) -> Step:
        said = {**self._row, "response": _response(readable(action))}
        try:
            answer = self._fetch("step" if self._in_turns else "verify", said)
        except Unreachable as error:  # this episode is lost; the next one finds out whether others are
            raise ServerFault(str(error)) from error
        if answer.get("mask_sample"):
            raise ServerFault(f"{self._url} could not judge the reply: {answer.get('failure_reason')}")
        read = self._read(answer, _Graded)
        reward, text = read.reward, readable(read.observation or "")
        if not math.isfinite(reward):
            raise ServerFault(f"{self._url} answered with the reward {reward}")
        self._total = math.fsum((self._total, reward))
        info = {"nemo": self._plain(answer["info"])} if answer.get("info") else {}
        if read.truncated and not read.terminated:
            return Step.cut_off(text, reward, **info)
        if read.terminated or not self._in_turns:
            return Step.final(text, reward, success=self._total >= self._threshold, **info)
        return Step.ongoing(text, reward, **info)

    def sample_action(self) -> str:
        return self.action_rng.choice(self._samples)

    def close(self) -> None:
        begun, self._other = self._other, False
        if begun and self._can_close:
            with suppress(Fault):  # its own clean-up ends the session
                self._fetch("close", {})
        super().close()  # and forgets the cookies


def _prompt(row: Mapping[str, Any]) -> str:
    """The messages of a row as one text."""
    given: Any = row["responses_create_params"].get("input") or []
    messages: list[Any] = [{"content": given}] if isinstance(given, str) else given
    texts: list[str] = []
    for message in messages:
        content: Any = message.get("content", "")
        parts: list[Any] = [{"text": content}] if isinstance(content, str) else content
        texts.append("".join(str(part.get("text", "")) for part in parts))
    return readable("\n\n".join(texts))


def _response(text: str) -> dict[str, Any]:
    """A reply as a response of OpenAI's Responses API, which the servers read."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "message", "type": "message", "role": "assistant", "status": "completed", "content": content}
    response = {"id": "response", "object": "response", "created_at": 0.0, "model": "gem", "output": [message]}
    return {**response, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def resolve(name: str) -> EnvSpec:
    """The spec of `nemo:name`, whose name is an address. See `gem.EnvSource`."""
    return EnvSpec(
        id=f"nemo:{name}",
        entry_point="gem_interop.envs.nemo:NemoEnv",
        kwargs={"url": name},
        description="A resources server of NeMo Gym",
        tags=("nemo", "server"),
        notes=(
            "The seed chooses the row of data=, and goes to the server as the field `seed`, which it may ignore: "
            "`gemx check` finds out.",
            "A snapshot is the row and the replies: restoring it plays them again on the server.",
            "The agent's replies are texts: servers that want function calls cannot be played.",
            "Only a recording that you trust (--trust) may name an address.",
        ),
    )
