"""gem-llm's constants."""

TERMINAL_STATE = "<｜TERMINAL_STATE｜>"
"""What gem-llm's questions observe after an answer. The environments of GEM say whether the answer was right."""


class LanguageGameReward:
    """The rewards of gem-llm's games."""

    success_reward = 1.0
    """Of the step that solves the game."""
    internal_step_reward = 0.0
    """Of a step after which it continues."""
    fail_reward = 0.0
    """Of the step that loses it."""
    invalid_action_reward = 0.0
    """Of an action against the rules."""
    format_error_reward = -0.1
    """Of a reply without an action."""
