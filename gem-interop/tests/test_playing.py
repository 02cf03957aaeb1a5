"""What modules share: rows name starts, an episode that failed is played again, and settings are checked."""

import asyncio

import pytest
from session_samples import tokenizer as bytes_with
from starting import EVALUATION, IDS, SEED, TRAINING

from gem.errors import ConfigError, UnknownId
from gem_interop.playing import Player, prompt_of, start_of, starts

TEMPLATE = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
ECHO, TALK = "core:Echo-v0", "interop_envs:Talk"
LIMITS = {"max_context": 400, "max_new_tokens": 5}


@pytest.fixture(scope="module")
def tokenizer():
    return bytes_with(TEMPLATE)


def play(player, tokenizer, env, reply):
    async def one():
        async def generate(session, ids):
            return reply(session, ids)

        [start] = starts(env, 1, 0)
        try:
            return await player.play(prompt_of(*start), generate, tokenizer, **LIMITS)
        finally:
            await player.close()

    return asyncio.run(one())


def test_rows_name_starts_in_turn_and_by_seed():
    first, second, third = starts([ECHO, TALK], 3, 0)
    assert [first[0], second[0], third[0]] == [ECHO, TALK, ECHO]
    assert start_of(prompt_of(*first)) == first
    assert len({start for seed in (0, 1) for start in starts(ECHO, 5, seed)}) == 10
    assert starts(ECHO, 5, 1) == starts(ECHO, 6, 1)[:5]
    assert not set(starts(ECHO, 50, 1)) & set(starts(ECHO, 50, 1, evaluation=True))
    assert starts(IDS, 3, SEED) == TRAINING
    assert starts(IDS, 3, SEED, evaluation=True) == EVALUATION


def test_an_episode_that_failed_is_played_again_so_many_times(tokenizer):
    began = []

    def reply(session, ids):
        began.append(list(ids))
        return [5, 6], [-1.0, -2.0], "stop"

    result = play(Player(retries=3), tokenizer, "interop_envs:Broken", reply)
    assert len(began) == 4
    assert began == [began[0]] * 4, "each try has the same start"
    assert result.failure.error == "OSError: the env is broken"
    assert Player().reward(result) is None


def test_a_reply_that_the_engine_gave_up_ends_without_a_result(tokenizer):
    assert play(Player(), tokenizer, "interop_envs:Talk", lambda session, ids: None) is None


def test_the_score_is_the_return_or_the_success(tokenizer):
    ids = tokenizer.encode("e", add_special_tokens=False)  # 101: a return of 0.2 for each turn
    result = play(Player(), tokenizer, "interop_envs:Talk", lambda session, read: (ids, None, "stop"))
    assert Player().reward(result) == pytest.approx(0.2 * len(result.episode.turns))
    assert Player(score="success").reward(result) == 0.0


def test_a_player_whose_first_event_loop_was_closed_at_once_plays_in_the_next(tokenizer):
    player = Player()
    [start] = starts("interop_envs:Talk", 1, 0)

    async def leave():
        left = asyncio.create_task(player.play(prompt_of(*start), None, tokenizer, **LIMITS))
        await asyncio.sleep(0)
        assert not left.done()

    asyncio.run(leave())
    assert play(player, tokenizer, "interop_envs:Talk", lambda session, ids: ([5], None, "stop")).episode.turns


def test_settings_that_an_env_refuses_raise_for_every_episode(tokenizer):
    async def twice():
        player = Player(env_kwargs={"max_turns": 0})
        [start] = starts("interop_envs:Talk", 1, 0)
        both = [player.play(prompt_of(*start), None, tokenizer, **LIMITS) for _ in range(2)]
        return await asyncio.gather(*both, return_exceptions=True)

    for error in asyncio.run(twice()):
        assert isinstance(error, ConfigError)
        assert "max_turns" in str(error)
    with pytest.raises(UnknownId):
        play(Player(), tokenizer, "game:NoSuch-v0", lambda session, ids: None)
