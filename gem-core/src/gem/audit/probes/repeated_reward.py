"""Reward that can be collected again and again."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle

from gem.audit.finding import Finding
from gem.audit.task import Task
from gem.testing.play import PlayedEpisode, play, replay_actions
from gem.testing.subject import Inapplicable

SEEDS = 8
"""Episodes from which rewarded actions are taken."""
PLACES = 2
"""Rewarded actions of an episode."""
TURNS = 100
"""The most turns in which one is repeated."""


def probe(task: Task) -> Iterator[Finding]:
    """No action, and no pair of actions, earns more than winning does when it is repeated."""
    episodes = list(task.at_random)
    try:
        experts = task.by_expert
    except Inapplicable:
        experts = []
    wins = [each.reward for each in experts if each.won] or [each.reward for each in episodes if each.won]
    if not wins:
        raise Inapplicable("neither an expert nor random play wins")
    best = max(wins)
    rewarded = [
        (episode, turn) for each in (experts, episodes) for episode in each[:SEEDS] for turn in _rewarded(episode)
    ]
    if not rewarded:
        raise Inapplicable("only the last action of an episode is rewarded")
    for episode, turn in rewarded:
        before = episode.actions[:turn]
        for again in _cycles(episode.actions, turn):
            with task.make() as env:
                got = play(env, episode.seed, turn + TURNS, replay_actions(chain(before, cycle(again))))
            if got.reward > best + 1e-9 and not got.won:
                yield Finding.of(
                    got,
                    f"{'An action' if len(again) == 1 else 'Two actions'} from turn {turn + 1} on, again and again, "
                    f"return {got.reward:.3g} in {len(got.actions)} turns without a win; the best won episode returns "
                    f"{best:.3g}.",
                    "Reward a thing once, or what the state is worth instead of each step to it.",
                )
                return


def _rewarded(episode: PlayedEpisode) -> Sequence[int]:
    """The first turns (from 0) that are rewarded before the end."""
    return [turn for turn, step in enumerate(episode.transitions[1:]) if step.raw[1] > 0 and not step.over][:PLACES]


def _cycles(actions: Sequence[str], turn: int) -> Iterator[tuple[str, ...]]:
    """What is repeated from the rewarded action on: that, and that with the one before it or behind it."""
    yield (actions[turn],)
    others = dict.fromkeys(actions[max(turn - 1, 0) : turn + 2])
    yield from ((actions[turn], other) for other in others if other != actions[turn])
