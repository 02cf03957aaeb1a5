"""A beginner at Kuhn poker, whose play the model imitates before it plays against itself."""

import random

from gem import seeding

CHANCES = {"J": 1 / 3, "Q": 1 / 2, "K": 2 / 3}
"""Card → the chance of betting or calling with it."""


def play(transcript):
    """Bet and call more often with a higher card, whatever has been played."""
    text, start = transcript.observation, transcript.start
    card = text.partition("Your card: ")[2][0]
    rng = random.Random(seeding.derive(start.seed, transcript.player, len(transcript.turns), start.group))
    choices = ("call", "fold") if "\\boxed{call}" in text else ("bet", "check")
    return f"\\boxed{{{choices[rng.random() >= CHANCES[card]]}}}"
