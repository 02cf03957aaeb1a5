"""`Reward`: what scores an episode or a turn, and `@reward`, which makes one of a typed function."""

import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast, overload

from gem.errors import GemError
from gem.rewards.case import Case, asked_by
from gem.tool.content import Content
from gem.tool.resource import Resource
from gem.tool.tool import Tool

TIMEOUT = 120.0
"""Default seconds of a reward."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score, with what it is based on."""

    value: float
    """Without a weight."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Such as the reasons of a judge, in JSON; they are recorded."""


Scores = Mapping[str, Score]
"""Score of each part."""
Given = float | Score | Mapping[str, float | Score]
"""What the function of a reward returns: a score, or several by name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reward:
    """Scores the last turn of a player, or each of them. `@gem.reward`, `gem.verified` and `gem.judge` make one.

    Args:
        name: of its part; several parts have names of the form `name/part`.
        tool: carries it out, with its limits and its timeout: a fault of a reward is one of a tool.
        arguments: those of the tool.
        read: from its result to the scores.
        per_turn: whether it scores every turn; otherwise the last one, with all that came before.
        refused: from an error by which the tool refuses what the agent gave it to the scores. By default that fails
            the reward, as any other error does.
    """

    name: str
    tool: Tool
    arguments: Callable[[Case], Mapping[str, Any]]
    read: Callable[[Content], Scores]
    per_turn: bool = False
    refused: Callable[[GemError], Scores] | None = None


@overload
def reward(function: Callable[..., Any], /) -> Reward: ...
@overload
def reward(
    *,
    name: str | None = None,
    per_turn: bool = False,
    timeout: float = TIMEOUT,
    retries: int = 0,
    max_concurrency: int | None = None,
    resource: Resource[Any] | None = None,
) -> Callable[[Callable[..., Any]], Reward]: ...
def reward(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    per_turn: bool = False,
    timeout: float = TIMEOUT,
    retries: int = 0,
    max_concurrency: int | None = None,
    resource: Resource[Any] | None = None,
) -> Reward | Callable[[Callable[..., Any]], Reward]:
    '''Make a `Reward` of a function, sync (called in threads) or async: `@gem.reward`, or `@gem.reward(per_turn=True)`.

    ```python
    @gem.reward
    def is_short(answer: str) -> float:
        """1 for at most 20 words."""
        return float(len(answer.split()) <= 20)
    ```

    The names of its parameters choose its arguments:

    - `answer`: the text of the last reply; with `per_turn` of the turn's.
    - `question`: the text of the first observation.
    - `messages`, `conversation`: the conversation up to the reply, as chat messages, and as text.
    - `turn`, `turns`, `trace`: the `gem.Turn` with that reply, all turns of the player, and the player's trace.
    - `player`: the name of the player.
    - `info`: of the step that followed the reply.
    - `row`: the row of the data set, for an env on one.
    - `episode`, `success`: the whole episode, and whether the env counts it a success.

    With a `resource`, the first parameter is its state, which all rewards and tools of a pipeline share for an episode:
    one that is opened for them, or that which the agent's tools used (`ToolEnv(keep_resources=True)`). Other parameters
    need defaults. The function returns a number, or several by name; `Score` adds details that are recorded. An
    exception, a score that is not finite, or no result in time makes the episode a failure.

    Args:
        function: the function.
        name: of the part; by default the function's.
        per_turn: whether it scores every turn of the player.
        timeout: seconds for a call.
        retries: how often a call that failed with `ConnectionError` or `TimeoutError` is repeated.
        max_concurrency: how many calls may run at once.
        resource: see above.

    Raises:
        ConfigError: it is not a function, or asks for something else.
    '''

    def make(function: Callable[..., Any]) -> Reward:
        called = name or getattr(function, "__name__", "")
        arguments_of = asked_by(function, called, given=int(resource is not None))

        async def awaited(*state: Any, case: Case) -> Given:
            return await function(*state, **arguments_of(case))

        def computed(*state: Any, case: Case) -> Given:
            return function(*state, **arguments_of(case))

        return reward_of(
            awaited if inspect.iscoroutinefunction(function) else computed,
            called,
            per_turn=per_turn,
            resource=resource,
            timeout=timeout,
            retries=retries,
            max_concurrency=max_concurrency,
        )

    return make if function is None else make(function)


def reward_of(function: Callable[..., Any], name: str, *, per_turn: bool, **limits: Any) -> Reward:
    """The reward of a function, sync or async, of a `case`.

    Args:
        function: gets `case=`, and before it the state of a resource, if `limits` has one.
        name: of the part.
        per_turn: see `Reward`.
        limits: settings of its `Tool`.
    """

    async def awaited(*state: Any, case: Case) -> str:
        return _written(name, await function(*state, case=case))

    def computed(*state: Any, case: Case) -> str:
        return _written(name, function(*state, case=case))

    called = awaited if inspect.iscoroutinefunction(function) else computed
    tool = Tool(name=name, description="a reward", parameters={}, function=called, **limits)
    return Reward(name=name, tool=tool, arguments=lambda case: {"case": case}, read=_read, per_turn=per_turn)


def _written(name: str, given: object) -> str:
    """The scores as JSON, because that is how they are recorded."""
    several = isinstance(given, Mapping)
    named = (
        {f"{name}/{part}": each for part, each in cast("Mapping[str, Any]", given).items()}
        if several
        else {name: given}
    )
    found: dict[str, Any] = {}
    for part, each in named.items():
        score = each if isinstance(each, Score) else Score(each)  # pyright: ignore[reportArgumentType]
        try:
            value = float(score.value)
        except (TypeError, ValueError):
            raise TypeError(f"a reward returns a number, or numbers by name, not {each!r:.80}") from None
        if not math.isfinite(value):
            raise ValueError(f"{part} is {value}")
        found[part] = [value, dict(score.details)]
    return json.dumps(found)


def _read(written: Content) -> Scores:
    assert isinstance(written, str)
    return {part: Score(value, details) for part, (value, details) in json.loads(written).items()}
