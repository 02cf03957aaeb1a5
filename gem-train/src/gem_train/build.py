"""From the settings of a run to its parts, in one place; each part is given the settings that it uses."""

import functools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gem import seeding
from gem.errors import ConfigError
from gem.packs.component_ref import as_list
from gem.packs.make import make
from gem.rollout import assign, table_of
from gem.rollout.named_policies import make_policy
from gem.rollout.transcript import Episode
from gem.vector import VectorEnv, make_vec
from gem_train.algorithms.base import Algorithm
from gem_train.algorithms.lookup import find_algorithm
from gem_train.config.mix import EnvConfig
from gem_train.config.training import TrainConfig
from gem_train.distributed.world import ALONE, World, flat
from gem_train.engines import ENGINES
from gem_train.engines.make import make_sampler
from gem_train.engines.sampler import Sampler
from gem_train.evaluation import Evaluation
from gem_train.learning.critic import Critic
from gem_train.learning.learner import Learner
from gem_train.learning.liger import find_scorer
from gem_train.models.loading import LoadedModel, blocks_of, load_model, make_tiny
from gem_train.models.lora import choose_trained
from gem_train.play import played_in_order
from gem_train.preflight import TINY
from gem_train.rows import Rows, Table, split
from gem_train.runs.watch import Advice, Watch

_TOKENIZER_EPISODES = 256


class Parts(NamedTuple):
    """What a run is made of."""

    loaded: LoadedModel
    sampler: Sampler
    envs: VectorEnv
    algorithm: Algorithm[Any]
    learner: Learner
    rows: Rows
    world: World


@contextmanager
def build(
    config: TrainConfig,
    checkpoint: Path | None = None,
    *,
    teacher: str = "random",
    rows: Rows | None = None,
    world: World = ALONE,
) -> Generator[Parts]:
    """Build the parts of a run; the environments and the sampler are closed at the end.

    Args:
        config: the settings.
        checkpoint: a checkpoint to take the weights from.
        teacher: the policy on whose play the tokenizer of `tiny` is trained.
        rows: what `make_rows` returns.
        world: the processes of the run.

    Raises:
        ConfigError: settings that name something that does not exist, or that do not fit each other.
    """
    algorithm = find_algorithm(config.algorithm)(config.credit)
    if world.size > 1 and config.rollout.engine != "hf":
        raise ConfigError(f"a run in several processes samples with the engine hf, not {config.rollout.engine}")
    rows = rows or make_rows(config)
    with make_envs(config, config.rollout.num_envs, world=world) as envs:
        load = _loader(config, checkpoint, teacher, rows, world)
        loaded = load()
        scorer = find_scorer(config.optim.log_probs, loaded.model.device, half=config.dtype == "bfloat16")
        # A model of which each process holds a part cannot sample without the others, so the sampler gets its own.
        played = loaded if world.size == 1 else load()
        critic = algorithm.critic and Critic(
            played.model,
            algorithm.critic,
            micro_tokens=config.optim.micro_tokens,
            seed=config.seed,
            bfloat16=config.dtype == "bfloat16",
            checkpointing=config.optim.checkpointing,
            world=world,
        )
        world.shard(loaded.model, blocks_of(loaded.model))
        learner = Learner(
            loaded.model,
            config.optim,
            steps=config.steps,
            temperature=config.rollout.temperature,
            seed=config.seed,
            critic=critic,
            scorer=scorer,
            world=world,
        )
        with closing(make_sampler(played, config)) as sampler:
            yield Parts(loaded, sampler, envs, algorithm, learner, rows, world)


def _loader(
    config: TrainConfig, checkpoint: Path | None, teacher: str, rows: Rows, world: World
) -> Callable[[], LoadedModel]:
    """What makes the model of a run, with its adapter if it has one; every time the same."""
    episodes: list[Episode] = []
    if config.model == TINY and checkpoint is None:
        # The tokenizer is trained on the texts that will be imitated.
        episodes = flat(world.together(lambda: _play(config, teacher, rows, world)))

    arithmetic: Any = {"dtype": config.dtype, "weights": config.weights, "attention": config.attention}

    def load() -> LoadedModel:
        if config.model == TINY and checkpoint is None:
            head_dim = ENGINES[config.rollout.engine].tiny_head_dim
            loaded = make_tiny(episodes, config.seed, head_dim=head_dim, device=config.device, **arithmetic)
        else:
            name = config.model if checkpoint is None else str(checkpoint)
            loaded = load_model(name, device=config.device, **arithmetic)
        choose_trained(loaded.model, config.lora, config.seed)
        return loaded

    return load


def make_envs(config: TrainConfig, num_envs: int, info_methods: Sequence[str] = (), world: World = ALONE) -> VectorEnv:
    """This process's share of `num_envs` environments of training; see `gem.make_vec` for the rest and errors."""
    return _make(config.trained, config, world, num_envs, info_methods)


def _make(
    env: EnvConfig, config: TrainConfig, world: World, num_envs: int, info_methods: Sequence[str] = ()
) -> VectorEnv:
    return make_vec(
        env.ids,
        -(-num_envs // world.size),
        backend=config.rollout.backend,
        wrappers=env.wrappers,
        info_methods=info_methods,
        env_kwargs=env.env,
    )


def make_rows(config: TrainConfig) -> Rows:
    """The rows of data sets that are trained on, and those of evaluations."""
    trained, evaluated = dict(_tables(config.trained)), dict(_tables(config.evaluated))
    return split(trained, evaluated, seed=config.seed, most=config.eval.episodes)


def _tables(env: EnvConfig) -> Iterator[tuple[str, Table]]:
    for part in env.parts:
        with make(
            part.id, wrappers=[*as_list(part.wrappers), *as_list(env.wrappers)], **{**env.env, **part.env}
        ) as made:
            table = table_of(made)
            if table is not None and made.spec is not None:
                yield made.spec.id, table


def make_evaluation(config: TrainConfig, rows: Rows | None = None, world: World = ALONE) -> Evaluation:
    """The evaluation of the model, and of the policies that it is compared with; `rows` is what `make_rows` returns."""
    return _evaluation(config, config.evaluated, rows or make_rows(config), world)


def make_training_evaluation(config: TrainConfig, world: World = ALONE) -> Evaluation:
    """An evaluation on the environment of training, where evaluations have another."""
    return _evaluation(config, config.trained, Rows({}, {}), world)


def _evaluation(config: TrainConfig, env: EnvConfig, rows: Rows, world: World) -> Evaluation:
    make, evaluate = functools.partial(_make, env, config, world), config.eval
    return Evaluation(env.id, config.model, config.seed, evaluate.episodes, make, config.rollout.num_envs, rows, world)


def make_watch(config: TrainConfig, vocabulary: int, *, has_expert: bool) -> Watch:
    """What detects a run that goes wrong; see `gem_train.runs.watch.Watch`."""
    advice = Advice(config.rollout, config.optim, config.warmup, config.dtype, has_expert)
    return Watch(config.watch, vocabulary, advice)


def _play(config: TrainConfig, teacher: str, rows: Rows, world: World) -> list[Episode]:
    """This process's share of the episodes that the tokenizer is trained on."""
    seeds = (seeding.derive(config.seed, "tokenizer", index) for index in range(_TOKENIZER_EPISODES))
    with (
        closing(make_policy(teacher)) as policy,
        make_envs(config, config.rollout.num_envs, policy.info_methods, world) as envs,
    ):
        starts = world.share(list(map(rows.train, assign(seeds, envs.shares))))
        return list(played_in_order(policy, envs, starts))
