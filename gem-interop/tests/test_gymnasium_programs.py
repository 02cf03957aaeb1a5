"""Envs in programs for Gymnasium."""

import pytest

import gem
from gem.errors import ConfigError, EpisodeOver, ResetNeeded
from gem_interop.gymnasium import ToGymnasium


class Parrot(gem.TurnEnv):
    """Two turns; the observation is what `parts` makes of the action."""

    def __init__(self, parts=lambda text: text):
        super().__init__(max_turns=2)
        self.parts = parts

    def _reset(self, options):
        return self.parts(f"Say {self.rng.random()} ✓")

    def _step(self, action):
        return gem.Step.ongoing(self.parts(action), 0.5)

    def sample_action(self):
        return "é 世界 🦜"


@pytest.mark.full
@pytest.mark.parametrize("render_mode", [None, "ansi"])
@pytest.mark.parametrize("make", [lambda: gem.make("core:Echo-v0"), Parrot])
def test_gymnasiums_own_checker_has_nothing_to_say(make, render_mode) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(ToGymnasium(make(), render_mode=render_mode))


@pytest.mark.full
def test_steps_seeds_options_and_errors_are_those_of_the_env() -> None:
    ours, theirs = gem.make("core:Echo-v0"), ToGymnasium(gem.make("core:Echo-v0"), render_mode="ansi")

    with pytest.raises(ResetNeeded):
        theirs.render()
    with pytest.raises(ResetNeeded):
        theirs.step("early")
    with pytest.raises(ConfigError, match="reset takes no option 'level'"):
        theirs.reset(options={"level": 1})
    for seed in (7, None):
        assert theirs.reset(seed=seed) == ours.reset(seed=seed)
        while True:
            action = ours.sample_action()
            assert theirs.gem_env.sample_action() == action
            step = ours.step(action)
            assert theirs.step(action) == tuple(step)
            assert theirs.render() == step.observation
            if step.done:
                break
        with pytest.raises(EpisodeOver):
            theirs.step("late")
    theirs.reset()
    with pytest.raises(TypeError, match="text"):
        theirs.step(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigError, match=r"gem\.make\(id\), not 'core:Echo-v0'"):
        ToGymnasium("core:Echo-v0")
    with pytest.raises(ConfigError, match="render_mode must be None or 'ansi'"):
        ToGymnasium(ours, render_mode="human")


@pytest.mark.full
def test_texts_are_joined_and_images_and_texts_that_are_too_long_refused() -> None:
    texts = ToGymnasium(Parrot(lambda text: [{"type": "text", "text": text}, {"type": "text", "text": "end"}]))
    texts.reset()
    assert texts.step("middle")[0] == "middle\nend"

    image = ToGymnasium(Parrot(lambda text: [{"type": "image_url", "image_url": {"url": "data:,"}}]))
    with pytest.raises(ConfigError, match=r"^Parrot observes image_url, and ToGymnasium takes text only"):
        image.reset()

    short = ToGymnasium(Parrot(), max_length=50)
    short.reset(seed=0)
    with pytest.raises(ConfigError, match="an observation has 51 characters"):
        short.step("x" * 51)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_gymnasiums_vectors_and_wrappers_take_the_env_and_keep_every_character(kind: str) -> None:
    from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
    from gymnasium.wrappers import RecordEpisodeStatistics

    def make():
        return RecordEpisodeStatistics(ToGymnasium(Parrot(), max_length=100))

    made = [make, make]
    envs = SyncVectorEnv(made) if kind == "sync" else AsyncVectorEnv(made, shared_memory=False)
    try:
        observations, _ = envs.reset(seed=[3, 4])
        alone = [Parrot().reset(seed=seed)[0] for seed in (3, 4)]
        assert list(observations) == alone
        assert all(text in envs.single_observation_space for text in observations)
        observations, rewards, *_ = envs.step(("é 世界 🦜", "\n\x00ascii"))
        assert list(observations) == ["é 世界 🦜", "\n\x00ascii"]
        assert list(rewards) == [0.5, 0.5]
        *_, truncated, info = envs.step(("a", ""))
        assert list(truncated) == [True, True]
        assert list(info["episode"]["r"]) == [1.0, 1.0]
    finally:
        envs.close()


@pytest.mark.full
def test_shared_memory_is_refused_because_gymnasium_would_never_read_the_texts_in_it() -> None:
    from gymnasium.vector import AsyncVectorEnv

    with pytest.raises(ValueError, match="shared_memory=False"):
        AsyncVectorEnv([lambda: ToGymnasium(Parrot())])


@pytest.mark.full
def test_a_text_is_not_flattened() -> None:
    from gymnasium.wrappers import FlattenObservation

    with pytest.raises(ConfigError, match="cannot be flattened"):
        FlattenObservation(ToGymnasium(Parrot(), max_length=100)).reset(seed=3)
