"""Sessions of clients: each plays one episode after another, and never meets those of others."""

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gem import seeding
from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError, Failure, ResetNeeded, failure_of
from gem.vector.messages import Reset, SlotMessage
from gem_interop.serve.envs import LEAVE, ServedEnvs, options_for
from gem_interop.serve.protocol import Action, Refused, ResetRequest, State, started, stepped
from gem_interop.session.seat import Seat
from gem_interop.session.threads import EnvThreads

log = logging.getLogger("gem.serve")

_LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on what clients may take.

    Raises:
        ConfigError: a limit is out of range.
    """

    sessions: int = 256
    """Sessions at once."""
    message_bytes: int = 1 << 20
    """Bytes of a message, or of the body of a request."""
    idle: float = 600.0
    """Seconds without a message after which a session ends."""
    step_timeout: float = 120.0
    """Seconds that one reset or step of an env may take, after which its episode has failed."""

    def __post_init__(self) -> None:
        check_int("sessions", self.sessions, 1)
        check_int("message_bytes", self.message_bytes, 1024)
        for name in ("idle", "step_timeout"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0 seconds, not {getattr(self, name)}")


class ClientSession:
    """Episodes of one client, one after another.

    Args:
        envs: what it may play.
        seat: where its env is.
        number: its name in the log.
        client: who it is, in the log.
    """

    def __init__(self, envs: ServedEnvs, seat: Seat, number: int, client: str) -> None:
        self.id = secrets.token_urlsafe(16)
        """A name that nobody else can guess."""
        self.number = number
        self.client = client
        self.used = time.monotonic()
        """Time when its last message arrived, or was answered."""
        self.on_idle: Callable[[], None] | None = None
        """Called once, when it has been idle for too long."""
        self.episodes = self.steps = self.failures = 0
        self._envs, self._seat = envs, seat
        self._state = State()

    @property
    def busy(self) -> bool:
        """True while its env is in a call."""
        return self._seat.busy

    async def reset(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Start an episode; one that is running is abandoned.

        Raises:
            Refused: the request is not valid (then the running episode continues), or the env failed.
        """
        request = ResetRequest.of(data)
        id = self._envs.chosen(request.id)
        self._begin_call()
        seed = seeding.fresh() if request.seed is None else request.seed
        episode = request.episode_id if request.episode_id is not None else secrets.token_hex(8)
        metadata = {"id": id, "seed": seed, "episode_id": episode}
        self._state = State(id=id, seed=seed, episode_id=episode)
        message = Reset(seed, options_for(id, request.options))
        answer = await self._heard(message, lambda step: started(step, metadata))
        self._state.done = False
        self.episodes += 1
        return answer

    async def step(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Pass an action to the env.

        Raises:
            Refused: the action is not valid, no episode is running, or the env failed.
        """
        action = Action.of(data).text
        if self._state.done:
            raise Refused("EXECUTION_ERROR", "no episode is running: reset first")
        self._begin_call()
        self._state.step_count += 1
        self.steps += 1
        answer = await self._heard(action, stepped)
        self._state.done = answer["done"]
        return answer

    def state(self) -> dict[str, Any]:
        """Data of the episode that is being played."""
        self._check_free()
        self.used = time.monotonic()
        return self._state.model_dump()

    async def end(self) -> None:
        """Close its env, and let another session have its place."""
        try:
            if not self.busy:
                await self._seat.run(LEAVE)
        except (ResetNeeded, RuntimeError):  # its last call was cancelled, or the server has closed every env
            pass
        finally:
            self._seat.leave()

    def _begin_call(self) -> None:
        self._check_free()
        self.used = time.monotonic()

    def _check_free(self) -> None:
        if self._seat.busy:  # two requests by HTTP
            raise Refused("EXECUTION_ERROR", "the env of this session is in a call; one message at a time")

    async def _heard(self, message: SlotMessage, answer: Callable[[Step], dict[str, Any]]) -> dict[str, Any]:
        """The answer to the client, made of what the env returns."""
        try:
            result = await self._seat.run(message)
        except RuntimeError as error:  # EnvThreads: the place is another's
            raise Refused("SESSION_ERROR", "the session was closed during this call") from error
        self.used = time.monotonic()
        if result.failure is not None:
            raise self._failed(result.failure)
        assert result.step is not None
        try:
            return answer(result.step)
        except Exception as error:  # the env breaks the contract
            raise self._failed(failure_of(error)) from error

    def _failed(self, failure: Failure) -> Refused:
        """An episode that failed has no reward, and is over."""
        self._state.done = True
        self.failures += 1
        log.warning(
            "session %d: %s failed with seed %s at step %d\n%s",
            self.number,
            self._state.id,
            self._state.seed,
            self._state.step_count,
            failure.traceback.rstrip(),
        )
        return Refused("EXECUTION_ERROR", f"the episode failed: {failure.error[:_LONGEST_ERROR]}")


class ClientSessions:
    """The sessions of a server."""

    def __init__(self, envs: ServedEnvs, limits: Limits) -> None:
        self.envs = envs
        self.limits = limits
        self.open: dict[str, ClientSession] = {}
        """Sessions by their ids."""
        self._threads = EnvThreads(envs.make, limits.sessions, limits.step_timeout)
        self._taken = 0
        self._opened = 0

    @property
    def count(self) -> int:
        """Sessions that have a seat; one that has ended has it until its env is closed."""
        return self._taken

    async def begin(self, client: str) -> ClientSession:
        """A session for a client.

        Raises:
            Refused: there are as many as there may be.
        """
        if self._taken >= self.limits.sessions:
            log.warning("refused %s: %d sessions are open", client, self._taken)
            raise Refused("CAPACITY_REACHED", f"{self._taken} sessions are open, and there may be no more; try later")
        self._taken += 1
        self._opened += 1
        seat = Seat(self._threads)
        session = ClientSession(self.envs, seat, self._opened, client)
        try:
            await seat.take()
        except BaseException:
            self._taken -= 1
            raise
        self.open[session.id] = session
        log.info("session %d: begun by %s, %d open", session.number, client, self._taken)
        return session

    async def end(self, session: ClientSession, why: str) -> None:
        """End a session. Ending it twice is fine."""
        if self.open.pop(session.id, None) is None:
            return
        try:
            await session.end()
        finally:
            self._taken -= 1
            log.info(
                "session %d: %s after %d episodes with %d steps, %d failed; %d open",
                session.number,
                why,
                session.episodes,
                session.steps,
                session.failures,
                self._taken,
            )

    def expire(self) -> None:
        """Call `on_idle` of the sessions that are idle for too long."""
        late = time.monotonic() - self.limits.idle
        for session in list(self.open.values()):
            if session.used < late and not session.busy and session.on_idle is not None:
                on_idle, session.on_idle = session.on_idle, None
                on_idle()

    async def close(self) -> None:
        """Close every env and end every thread."""
        await self._threads.close()
