"""Conversations that outgrow the context of a model."""

from collections.abc import Iterator
from itertools import pairwise

from gem.audit.finding import Finding
from gem.audit.task import Task
from gem.testing.play import PlayedEpisode
from gem.testing.subject import Inapplicable

TOKENS = 32_768
"""The context length that an episode of the expert must fit; a usual one of models that are trained."""
CHARACTERS = 3
"""Characters of a token. It is 3 to 4 in English, and fewer on boards and in numbers."""
SHORTEST = 3
"""Turns from which observations that hold earlier ones are a habit."""


def probe(task: Task) -> Iterator[Finding]:
    """The whole conversation of the expert, or else of random play, fits a context, and no observation repeats it."""
    try:
        episodes, who = task.by_expert, "the expert"
    except Inapplicable:
        episodes, who = [episode for episode in task.at_random if episode.ended], "random play"
    if not episodes:
        raise Inapplicable("there is no expert, and random play does not end")
    longest = max(episodes, key=characters)
    if characters(longest) > TOKENS * CHARACTERS:
        yield Finding.of(
            longest,
            f"The conversation of {who} has about {characters(longest) // CHARACTERS} tokens in "
            f"{len(longest.actions)} turns, more than {TOKENS}{_repeated(longest)}.",
            "Shorten the observations, say what does not change in the first one only, or lower the turn limit.",
        )
    nested = [episode for episode in episodes if len(episode.actions) >= SHORTEST and repeats_all(episode)]
    if nested:
        yield Finding.of(
            nested[0],
            f"In {len(nested)} of {len(episodes)} episodes of {who}, each observation holds the whole one before it: "
            "the conversation grows with the square of the turns.",
            "Show what is new: who plays keeps the conversation, and the wrapper `concat` joins it on request.",
        )


def characters(episode: PlayedEpisode) -> int:
    """The length of the conversation: observations and replies."""
    # The last observation is not read by the agent, but recordings and trainers have it.
    return sum(map(len, episode.observations)) + sum(map(len, episode.actions))


def repeats_all(episode: PlayedEpisode) -> bool:
    """Whether each observation but the last, which may be a verdict alone, has the one before it and more."""
    shown = episode.observations[:-1] if episode.ended else episode.observations
    return all(before and before in after and before != after for before, after in pairwise(shown))


def _repeated(episode: PlayedEpisode) -> str:
    """How much of the observations are lines of an earlier one, as a clause."""
    lines = [line for text in episode.observations for line in text.splitlines()]
    share = 1 - sum(map(len, set(lines))) / max(1, sum(map(len, lines)))
    return f"; {share:.0%} of what is shown are lines that were shown before"
