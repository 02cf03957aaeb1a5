"""gem-llm's base class of tools, which frameworks derive theirs from."""


class BaseTool:
    """A tool that reads its own calls out of the text of an action."""

    tool_type = "base"
    """What the info of a step calls it."""

    def __init__(self, num_workers: int = 1) -> None:
        self.num_workers = num_workers
        """As given; nothing here looks at it."""

    def instruction_string(self) -> str:
        """What the agent is told about the tool."""
        raise NotImplementedError(f"{type(self).__name__} does not define instruction_string")

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """Carry out the call in an action.

        Returns:
            Whether there is a call, whether it failed, its result, and the action up to the end of the call.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define execute_action")
