"""The task of `grpo_step.py`, the same for both sides: a reply is rewarded if its number of characters is even.

A model of random weights earns the reward about every other time, so every group of replies has a signal.
"""

import random

_RNG = random.Random(0)
PROMPTS = [
    f"Add these numbers: {' '.join(str(_RNG.randint(10, 99)) for _ in range(_RNG.randint(4, 40)))}." for _ in range(512)
]
"""Of unequal length, as questions are: 12 to 120 ids, of which each digit is one."""
BATCH, GROUP, TOKENS, RATE = 64, 8, 32, 1e-6
"""Replies of a step, replies to a prompt, ids of a reply at most, and the learning rate."""


def reward(reply):
    """Of one reply."""
    return float(len(reply) % 2 == 0)
