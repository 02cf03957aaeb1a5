"""Starts that cannot be won."""

from collections.abc import Iterator

from gem.audit.finding import Finding
from gem.audit.task import Task, won
from gem.testing.play import PlayedEpisode
from gem.testing.subject import MOST_TURNS, Inapplicable


def probe(task: Task) -> Iterator[Finding]:
    """The expert wins each start within the turn limit; in a game against others it wins some."""
    try:
        episodes = task.by_expert
    except Inapplicable as reason:
        if won(task.at_random):
            return
        raise Inapplicable(f"{reason}, and random play wins no episode") from None
    # Where the expert has no action in some starts, these say nothing.
    episodes = [episode for episode in episodes if episode.won or _knew(task, episode)]
    lost = [episode for episode in episodes if not episode.won]
    with task.make() as env:
        against_others = len(env.unwrapped.players) > 1
    if not lost or (against_others and len(lost) < len(episodes)):
        return
    stopped = sum(not episode.ended for episode in lost)
    without_end = f"; {stopped} do not end within {MOST_TURNS} turns" if stopped else ""
    yield Finding.of(
        lost[0],
        f"The env's own expert wins {len(episodes) - len(lost)} of {len(episodes)} episodes{without_end}.",
        "Draw only starts that can be won within the turn limit, and give the turns that this takes; where the expert "
        "does not play perfectly, say so in the spec's known_findings.",
    )


def _knew(task: Task, episode: PlayedEpisode) -> bool:
    """Whether the expert had an action in every turn of the episode."""
    with task.make() as env:
        env.reset(seed=episode.seed)
        for action in episode.actions:
            if env.expert_action() is None:
                return False
            env.step(action)
    return True
