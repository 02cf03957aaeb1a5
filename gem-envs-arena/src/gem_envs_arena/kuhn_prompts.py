"""What a policy reads at each information set of Kuhn poker."""

from typing import NamedTuple

from gem.core import Step
from gem.episode import Completion, Start
from gem.rollout.running import RunningEpisode
from gem.rollout.transcript import Transcript
from gem_envs_arena.game import box
from gem_envs_arena.kuhn_equilibrium import CARDS, HISTORIES, information_set
from gem_envs_arena.kuhn_poker import KuhnPoker


class InformationSet(NamedTuple):
    """One of the 12 states of knowledge in which a player chooses."""

    name: str
    """Its name in `nash_conv`, such as `"Q check bet"`."""
    transcript: Transcript
    """The player's conversation there, as a rollout gives it to a policy; own replies in it are only the box."""
    passive: str
    """The reply that checks or folds."""
    active: str
    """The reply that bets or calls, whose probability `nash_conv` takes."""


def information_sets(*, rules: bool = True) -> list[InformationSet]:
    r"""All 12, in the order of `INFORMATION_SETS`, to read a policy's probabilities at; `rules` as of `KuhnPoker`.

    What a policy says at `active` against `passive` is its strategy: the probabilities of the two replies, or the
    shares among samples.
    """
    return [_at(card, actions, rules) for actions in HISTORIES for card in CARDS]


def _at(card: str, actions: tuple[str, ...], rules: bool) -> InformationSet:
    other = next(each for each in CARDS if each != card)
    cards = card + other if len(actions) % 2 == 0 else other + card
    env = KuhnPoker(rules)
    running = RunningEpisode(Start(0, "arena:KuhnPoker-v0", {"cards": cards}), None)
    observation, info = env.reset(seed=0, options={"cards": cards})
    running.stepped(Step.ongoing(observation, **info), None)
    for action in actions:
        running.said(Completion(box(action)))
        running.stepped(env.step(box(action)), None)
    transcript = running.transcript
    assert transcript is not None
    passive, active = map(box, env.legal)
    return InformationSet(information_set(card, actions), transcript, passive, active)
