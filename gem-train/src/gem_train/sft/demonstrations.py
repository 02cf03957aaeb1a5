"""The episodes that `gemx sft` imitates: played by a policy, or taken from a recording."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gem import seeding
from gem.chat.encoder import ChatEncoder
from gem.episode import Episode
from gem.errors import ConfigError
from gem.record import Recorder, read
from gem.rollout.named_policies import make_policy
from gem.rollout.starts import ByWeight
from gem.vector import make_vec
from gem_train.batch import TokenSequence, collate
from gem_train.distributed.world import ALONE, World, flat
from gem_train.play import played_in_order
from gem_train.sft.config import DataConfig, SFTConfig
from gem_train.sft.imitation import tokenized

Progress = Callable[[int, int], None]
"""Called with the number of episodes played and the number of episodes in all."""


class Split(NamedTuple):
    """Demonstrations that are trained on, and those that are not."""

    trained: list[Episode]
    held_out: list[Episode]


class Encoded(NamedTuple):
    """Demonstrations as sequences."""

    episodes: list[tuple[TokenSequence, ...]]
    """Sequences of each episode."""
    cut: int
    """Episodes that lost turns, because the model's context is shorter."""


def demonstrations(config: SFTConfig, progress: Progress, world: World = ALONE) -> tuple[list[Episode], int]:
    """The episodes to imitate, and how many there were to choose from.

    Args:
        config: the settings.
        progress: is told how many episodes were played.
        world: the processes of the run; each of them plays its share, and the first reads a recording.

    Raises:
        ConfigError: none is wanted, or the recording cannot be read.
        RecordError: a line of it is not an episode.
    """
    found = flat(world.together(lambda: _found(config, progress, world)))
    wanted = [episode for episode in found if _is_wanted(episode, config.data)]
    if not wanted:
        best = max((episode.total_reward for episode in found), default=0.0)
        raise ConfigError(
            f"there is nothing to imitate: of {len(found)} episodes, {sum(each.success for each in found)} succeeded, "
            f"and the highest return is {best:g}; lower data.min_return, leave out data.successful, or choose another "
            "policy or recording"
        )
    return wanted, len(found)


def _found(config: SFTConfig, progress: Progress, world: World) -> list[Episode]:
    """This process's share of the episodes to choose from."""
    recording = config.data.recording
    if not recording:
        return _play(config, progress, world)
    try:
        return [each for each in read(recording) if each.failure is None and each.turns] if world.rank == 0 else []
    except OSError as error:
        raise ConfigError(f"cannot read the recording {recording}: {error.strerror}") from error


def _play(config: SFTConfig, progress: Progress, world: World) -> list[Episode]:
    """This process's share of what is played, in the order of seeds, however episodes finish."""
    total = config.data.episodes
    seeds = (seeding.derive(config.seed, "sft", index) for index in range(total))
    with (
        closing(make_policy(config.data.policy)) as policy,
        make_vec(
            config.id,
            -(-min(config.rollout.num_envs, total) // world.size),
            backend=config.rollout.backend,
            wrappers=config.wrappers,
            info_methods=policy.info_methods,
            env_kwargs=config.env,
        ) as envs,
    ):
        starts = world.share(list(map(ByWeight(envs.shares).start, seeds)))
        return played_in_order(policy, envs, starts, progress)


def _is_wanted(episode: Episode, data: DataConfig) -> bool:
    if episode.failure is not None or not episode.turns:
        return False
    enough = data.min_return is None or episode.total_reward >= data.min_return
    return enough and (episode.success or not data.successful)


def save(path: Path, episodes: Iterable[Episode], config: SFTConfig) -> None:
    """Write demonstrations as a recording; a file of that name is replaced at once."""
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    with closing(Recorder(partial, policy=None if config.data.recording else config.data.policy)) as recorder:
        for episode in episodes:
            recorder.write(episode)
    partial.replace(path)


def load(path: Path) -> list[Episode]:
    """Demonstrations that `save` wrote."""
    return list(read(path))


def split(episodes: list[Episode], share: float, seed: int) -> Split:
    """Hold out a share of the episodes, and at least one if the share is above 0.

    Episodes with the same start are on the same side, or what is held out would be known.
    """
    starts = sorted({(episode.id, episode.seed, repr(episode.options)) for episode in episodes})
    count = min(max(1, round(share * len(starts))) if share else 0, len(starts) - 1)
    order = np.random.default_rng(seeding.derive(seed, "held out")).permutation(len(starts))
    held = {starts[index] for index in order[:count]}
    sides: tuple[list[Episode], list[Episode]] = [], []
    for episode in episodes:
        sides[(episode.id, episode.seed, repr(episode.options)) in held].append(episode)
    return Split(*sides)


def encode(episodes: Iterable[Episode], chat: ChatEncoder, limit: int) -> Encoded:
    """The sequences of each episode, up to `limit` ids of context; an episode of which nothing fits has none."""
    encoded: list[tuple[TokenSequence, ...]] = []
    cut = 0
    for episode in episodes:
        fitting = tokenized(episode, chat, limit)
        cut += len(fitting.turns) < len(episode.turns)
        encoded.append(collate([fitting]).sequences if fitting.turns else ())
    return Encoded(encoded, cut)
