"""Episodes for tinker-cookbook, played by its own rollouts with a policy that says what it is told."""

import asyncio
import pickle
import random

import pytest
from samples import CHATML, tokenizer
from starting import EVALUATION, IDS, SEED, TRAINING
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.exceptions import AllTrajectoriesFailedError
from tinker_cookbook.rl.data_processing import trajectory_to_data
from tinker_cookbook.rl.rollout_strategy import RetryOnFailure
from tinker_cookbook.rl.rollouts import do_group_rollout

from gem.chat.encoder import ChatEncoder
from gem.errors import ConfigError, UnknownId
from gem_interop.tinker import WITHOUT_FAILED, EpisodeFailed, GemDatasetBuilder

pytestmark = pytest.mark.filterwarnings("default")  # tinker's own
CHAT = ChatEncoder(tokenizer())


class Says(TokenCompleter):
    """Replies in turn, then random letters, or some that depend on what was read; it keeps what it is asked."""

    def __init__(self, *replies, rng=None):
        self.replies, self.rng, self.asked = list(replies), rng, []

    async def __call__(self, model_input, stop, *, max_tokens=None):
        self.asked.append((model_input.to_ints(), stop, max_tokens))
        rng = self.rng or random.Random(model_input.length)
        text = self.replies.pop(0) if self.replies else rng.choice("abcdefg") + "<|im_end|>"
        ids = CHAT.encode(text)[:max_tokens]
        return TokensWithLogprobs(list(ids), [-1.0] * len(ids), "stop" if text.endswith("<|im_end|>") else "length")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer")
    tokenizer().save_pretrained(path)
    return str(path)


@pytest.fixture
def dataset(folder):
    def make(env="interop_envs:Talk", **settings):
        settings = {"batch_size": 2, "group_size": 3, "batches": 4, **settings}
        return asyncio.run(GemDatasetBuilder(env=env, model_name=folder, **settings)())

    return make


def play(group, policy, strategy=WITHOUT_FAILED):
    return asyncio.run(do_group_rollout(group, policy, strategy))


def rewards(played):
    return [[turn.reward for turn in each.transitions] for each in played.trajectories_G]


def test_batches_have_groups_of_episodes_from_the_same_start_and_an_evaluation_has_others(dataset):
    data, tests = dataset(env=["interop_envs:Talk", "core:Echo-v0"], test_episodes=5)
    groups = [group for index in range(len(data)) for group in data.get_batch(index)]
    assert len({group.start.seed for group in groups}) == len(groups) == 8
    assert [group.start.id for group in groups[:2]] == ["interop_envs:Talk", "core:Echo-v0"]
    assert [group.logging_tags() for group in data.get_batch(0)] == [["interop_envs:Talk"], ["core:Echo-v0"]]
    evaluated = tests.get_batch(0)
    assert (len(tests), len(evaluated), {group.size for group in evaluated}) == (1, 5, {1})
    assert not {group.start.seed for group in evaluated} & {group.start.seed for group in groups}
    assert dataset()[1] is None


def test_a_group_that_was_pickled_plays_the_same_before_and_after_it_was_played(dataset):
    [group, _] = dataset()[0].get_batch(0)
    sent = pickle.loads(pickle.dumps(group))
    first = play(group, Says())
    assert rewards(first) == rewards(play(sent, Says())) == rewards(play(pickle.loads(pickle.dumps(group)), Says()))
    assert len({each.transitions[0].ob.length for each in first.trajectories_G}) == 1


def test_a_failed_episode_is_left_out_or_played_again(dataset):
    group = dataset(group_size=2)[0].get_batch(0)[0]
    fails = next(text for text in map(str, range(1000)) if sum(map(ord, text)) % 13 == 0) + "<|im_end|>"
    left = play(group, Says(fails))
    assert (len(left.trajectories_G), [error.error_type for error in left.rollout_errors]) == (1, ["EpisodeFailed"])
    assert "from seed" in left.rollout_errors[0].error_message
    assert "the env is broken" in left.rollout_errors[0].error_message
    assert len(play(group, Says(fails), RetryOnFailure(1)).trajectories_G) == 2


def test_a_call_in_text_ends_a_reply_and_nothing_behind_it_is_trained(dataset):
    tools = {"name": "tool_env", "tools": "interop_envs:add", "format": "hermes"}
    group = dataset(wrappers=tools, group_size=1)[0].get_batch(0)[0]
    call = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
    policy = Says(call)
    [played] = play(group, policy).trajectories_G
    assert policy.asked[0][1] == ["</tool_call>", "<|im_end|>"]
    assert CHAT.decode(policy.asked[1][0]).endswith("<|im_end|>\n<|im_start|>assistant\n")
    [datum] = trajectory_to_data(played, 1.0)
    mask = datum.loss_fn_inputs["mask"].to_torch().tolist()
    assert sum(mask) == sum(len(turn.ac.tokens) for turn in played.transitions)

    group = dataset(wrappers=tools, group_size=1)[0].get_batch(0)[0]
    with pytest.raises(EpisodeFailed, match=f"ended after {len(call)}"):
        play(group, Says(call + " and more<|im_end|>"), strategy=None)


def test_a_template_that_changes_earlier_turns_makes_a_datum_of_each_part(tmp_path):
    made = tokenizer()
    made.chat_template = CHATML.replace("m.content", "m.content.split('</think>')[-1]")
    made.save_pretrained(tmp_path)
    builder = GemDatasetBuilder(
        env="interop_envs:Talk", model_name=str(tmp_path), batch_size=20, group_size=1, batches=1
    )
    for group in asyncio.run(builder())[0].get_batch(0):
        policy = Says("one<|im_end|>", "<think>hm</think>two<|im_end|>", "three<|im_end|>")
        [played] = play(group, policy).trajectories_G
        if len(played.transitions) == 3:
            break
    data = trajectory_to_data(played, 1.0)
    said = [turn.ac.tokens for turn in played.transitions]
    trained = [
        [
            id
            for id, on in zip(fields["target_tokens"].to_torch().tolist(), fields["mask"].to_torch(), strict=True)
            if on
        ]
        for fields in (datum.loss_fn_inputs for datum in data)
    ]
    assert trained == [said[0] + said[1], said[2]]
    assert policy.asked[2][0] == data[1].model_input.to_ints()[: len(policy.asked[2][0])]
    assert "hm" not in CHAT.decode(policy.asked[2][0])


def test_an_episode_that_was_not_played_to_its_end_gives_its_env_back(dataset):
    class Fails(Says):
        async def __call__(self, *_, **__):
            raise OSError("no sample today")

    group, other = dataset(max_envs=1, group_size=1)[0].get_batch(0)
    with pytest.raises(AllTrajectoriesFailedError):
        play(group, Fails())

    async def next_one():
        return await asyncio.wait_for(do_group_rollout(other, Says(), WITHOUT_FAILED), 20)

    assert len(asyncio.run(next_one()).trajectories_G) == 1


def test_limits_are_given_to_the_cookbook_and_ends_are_named(dataset):
    group = dataset(env="game:GuessTheNumber-v0-easy", max_new_tokens=5, max_turns=1)[0].get_batch(0)[0]
    policy = Says("a very long reply")
    played = play(group, policy)
    assert {most for _, _, most in policy.asked} == {5}
    assert {each.stop_reason for each in played.trajectories_G} <= {"max_turns", "completed"}
    last = played.trajectories_G[0].transitions[-1]
    assert last.metrics["success"] in (0.0, 1.0)
    assert "a ver" in [each.transitions[-1].logs["reply"] for each in played.trajectories_G]


def test_an_episode_whose_start_does_not_fit_the_context_is_left_out_and_stops_a_strict_run(dataset):
    """The envs have starts of other lengths; and a short start that ends out of context later is an episode."""
    group = dataset(max_context=3)[0].get_batch(0)[0]
    with pytest.raises(AllTrajectoriesFailedError):  # which the cookbook's loop counts as a skipped group
        play(group, Says())
    with pytest.raises(EpisodeFailed, match="no room for a reply in max_context=3"):
        play(group, Says(), strategy=None)
    fits = dataset(max_context=120)[0].get_batch(0)[0]
    ends = {each.stop_reason for each in play(fits, Says("a" * 500)).trajectories_G}
    assert "context_overflow" in ends


def test_success_may_be_the_only_reward(dataset):
    group = dataset(score="success", group_size=20)[0].get_batch(0)[0]
    played = play(group, Says(rng=random.Random(0)))
    ends = [each.transitions[-1].metrics["success"] for each in played.trajectories_G]
    assert rewards(played) == [
        [0.0] * (len(each.transitions) - 1) + [end] for each, end in zip(played.trajectories_G, ends, strict=True)
    ]
    assert {0.0, 1.0} == set(ends)


def test_refused_settings_raise_before_the_training(dataset):
    with pytest.raises(UnknownId, match="no-such"):
        dataset("game:no-such-v0")
    with pytest.raises(ConfigError, match="score is 'return' or 'success', not 'best'"):
        dataset(score="best")
    with pytest.raises(ConfigError, match="group_size"):
        dataset(group_size=0)


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others(dataset):
    data, tests = dataset(IDS, seed=SEED, batch_size=1, batches=3, test_episodes=3)
    made = [group.start for index in range(len(data)) for group in data.get_batch(index)]
    assert [(start.id, start.seed) for start in made] == TRAINING
    assert [(group.start.id, group.start.seed) for group in tests.get_batch(0)] == EVALUATION
