"""gem-llm's constants."""

TERMINAL_STATE = "<｜TERMINAL_STATE｜>"
"""What gem-llm's questions observe after an answer. The environments of GEM say whether the answer was right."""


class LanguageGameReward:
    """The rewards of gem-llm's games."""

    success_reward = 1.0
    internal_step_reward = 0.0
    fail_reward = 0.0
    invalid_action_reward = 0.0
    format_error_reward = -0.1
