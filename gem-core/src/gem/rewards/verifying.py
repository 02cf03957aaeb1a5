"""A reward by a tool that verifies the answer: by tests, by a proof, or in a data base."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gem.rewards.case import asked_by
from gem.rewards.score import TIMEOUT, Reward, Score, Scores
from gem.tool.content import Content, shorten, text_of
from gem.tool.tool import Tool

LONGEST = 500
"""Most characters of a result that are recorded with its score."""


def verified(
    tool: Tool,
    arguments: Callable[..., Mapping[str, Any]],
    passes: Callable[[str], float],
    *,
    name: str | None = None,
    per_turn: bool = False,
) -> Reward:
    """A reward that calls a tool with what the answer has, and reads its result.

    ```python
    tests = gem.verified(python, lambda answer, row: {"code": answer + row["tests"]}, lambda text: "3 passed" in text)
    ```

    The call has the tool's own limits, timeout and retries, and `TIMEOUT` seconds if it has no timeout. What the tool
    refuses (`ToolError`, or arguments that are not valid) is the agent's doing, and scores 0; any other error of the
    tool is a fault, which makes the episode a failure.

    Args:
        tool: the tool.
        arguments: function to the tool's arguments; it asks for what it needs by the names of `gem.reward`. It raises
            `ToolError` for an answer that has nothing to verify, which scores 0.
        passes: function from the text of the result to the score.
        name: of the part; by default the tool's.
        per_turn: whether every turn is verified.

    Raises:
        ConfigError: `arguments` asks for something else.
    """
    called = name or tool.name
    arguments_of = asked_by(arguments, called)

    def read(content: Content) -> Scores:
        text = text_of(content)
        return {called: Score(float(passes(text)), {"result": shorten(text, LONGEST)})}

    return Reward(
        name=called,
        tool=tool if tool.timeout is not None else replace(tool, timeout=TIMEOUT),
        arguments=lambda case: arguments(**arguments_of(case)),
        read=read,
        per_turn=per_turn,
        refused=lambda error: {called: Score(0.0, {"refused": shorten(str(error), LONGEST)})},
    )
