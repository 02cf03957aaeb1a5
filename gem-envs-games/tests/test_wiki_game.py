import pytest

import gem
from gem.errors import ConfigError
from gem_envs_games.replies import box
from gem_envs_games.wiki_game.env import BACK, WikiGame
from gem_envs_games.wiki_game.graph import WikiGraph

ATLAS = [
    "Home\tWhere all ways begin. It has three doors. Nobody lives here.\t1 2 3",
    "Left Hand\tThe left way.\t0 4",
    "Right Hand\tThe right way.\t0",
    "Cliff\tNothing leads on from here.\t",
    "Goal\tWhere all ways end.\t0",
]
"""A small encyclopedia with a dead end."""


def started(start="Home", target="Goal", **kwargs):
    env = WikiGame(**{"max_turns": 6, **kwargs})
    env._wiki = WikiGraph(ATLAS)
    env.reset(seed=0, options={"start": start, "target": target})
    return env


def rewards(env, *reply):
    return [env.step(box(title)).reward for title in reply]


def test_the_first_observation_has_the_rules_the_target_the_page_and_its_links():
    env = WikiGame(max_turns=6)
    env._wiki = WikiGraph(ATLAS)
    observation, info = env.reset(seed=0, options={"start": "Home", "target": "Goal"})
    assert observation.endswith(
        "Target page: Goal (Where all ways end.)\n"
        "You are on: Home (Where all ways begin. It has three doors. Nobody lives here.)\n"
        "Links of this page:\nLeft Hand\nRight Hand\nCliff\nTurns left: 6\nEnter your move."
    )
    assert "You have 6 turns" in observation
    assert "\\boxed{}" in observation
    assert info == {}


def test_the_target_earns_1_and_each_page_on_the_way_costs_a_twentieth():
    env = started()
    first, last = env.step(box("Left Hand")), env.step(box("Goal"))
    assert first.observation.startswith("At turn 1, you followed the link to Left Hand.\n")
    assert (first.reward, first.done) == (-0.05, False)
    assert last.observation.startswith("Congratulations! You reached the target page in 2 turns.\n")
    assert (last.reward, last.terminated, last.info) == (1.0, True, {"success": True})


@pytest.mark.parametrize("reply", ["left hand", "LEFT HAND", "Left_Hand", "  Left   Hand\n", "_left hand_"])
def test_case_and_underscores_for_spaces_do_not_matter(reply):
    env = started()
    env.step(box(reply))
    assert env.page.title == "Left Hand"


def test_accents_and_the_shape_of_apostrophes_do_not_matter_unless_two_links_differ_in_them_alone():
    env = started()
    env._wiki = WikiGraph(["A\tA.\t1 2 3", "São Tomé’s\tB.\t0", "Rose\tC.\t0", "Rosé\tD.\t0"])
    for reply, title in [("sao tome's", "São Tomé’s"), ("Rosé", "Rosé"), ("Rose", "Rose")]:
        env.reset(seed=0, options={"start": "A", "target": "Rose" if title != "Rose" else "Rosé"})
        env.step(box(reply))
        assert env.page.title == title


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("Goal", "it has no link 'Goal'."),
        ("Left Hnad", "it has no link 'Left Hnad'. Did you mean 'Left Hand'?"),
        (BACK, f"it has no link '{BACK}'."),
        ("a\x00\ud800b", "it has no link 'a??b'."),
        ("x" * 100_000, f"it has no link '{'x' * 80}...'."),
        ("{Left Hand}", "it has no link '{Left Hand}'."),
    ],
)
def test_a_title_that_is_not_a_link_costs_a_fifth_and_a_turn_and_the_player_stays(reply, shown):
    env = started()
    step = env.step(box(reply))
    assert step.observation.startswith(f"At turn 1, you stay on Home: {shown}")
    assert (step.reward, step.done, env.page.title, env.turn) == (-0.2, False, "Home", 1)
    assert "malformed" not in step.info


@pytest.mark.parametrize("reply", ["", "Left Hand", "\\boxed{}", "\\boxed{ }", "\\boxed{Left Hand"])
def test_a_reply_without_a_title_costs_a_fifth_and_a_turn_and_the_game_continues(reply):
    env = started()
    step = env.step(reply)
    assert step.observation.startswith("At turn 1, you did not give a title inside \\boxed{}.")
    assert (step.reward, step.done, step.info) == (-0.2, False, {"malformed": True})


def test_a_page_on_the_last_turn_costs_nothing_and_the_game_is_lost_by_the_turn_limit():
    env = started(max_turns=4)
    assert rewards(env, "Left Hand", "Home", "nowhere") == [-0.05, -0.05, -0.2]
    step = env.step(box("Right Hand"))
    assert (step.reward, step.terminated, step.truncated, step.info) == (0.0, False, True, {"success": False})
    assert "That was your last turn: you lose." in step.observation


@pytest.mark.parametrize(("reply", "reward", "info"), [(box("x"), -0.2, {}), ("x", -0.2, {"malformed": True})])
def test_a_title_that_is_not_a_link_costs_a_fifth_on_the_last_turn_too(reply, reward, info):
    env = started(max_turns=4)
    rewards(env, "Left Hand", "Home", "Left Hand")
    step = env.step(reply)
    assert (step.reward, step.truncated, step.info) == (reward, True, {"success": False, **info})


def test_without_going_back_a_dead_end_loses():
    for variant in ("noregrets", "eidetic"):
        step = started(variant=variant).step(box("Cliff"))
        assert "Cliff, which has no links. You lose." in step.observation
        assert (step.reward, step.terminated, step.info) == (0.0, True, {"success": False})


@pytest.mark.parametrize("variant", ["oneback", "freenav"])
def test_with_going_back_a_dead_end_costs_two_turns_and_sends_the_player_back(variant):
    env = started(variant=variant)
    step = env.step(box("Cliff"))
    assert "You are sent back to Home, which takes another turn." in step.observation
    assert "Turns left: 4\n" in step.observation
    assert (step.reward, step.done, env.turn, env.page.title) == (-0.1, False, 2, "Home")


def test_in_oneback_a_player_goes_back_once_but_not_twice_in_a_row_and_not_from_the_start():
    env = started(variant="oneback", max_turns=20)
    assert rewards(env, BACK, "Left Hand", "Home", BACK, BACK) == [-0.2, -0.05, -0.05, -0.05, -0.2]
    assert env.page.title == "Left Hand"
    assert rewards(env, "Home", BACK) == [-0.05, -0.05]
    assert env.page.title == "Left Hand"


def test_in_oneback_a_player_sent_back_from_a_dead_end_may_not_go_back_again():
    env = started(variant="oneback", max_turns=20)
    assert rewards(env, "Left Hand", "Home", "Cliff", BACK) == [-0.05, -0.05, -0.1, -0.2]


def test_in_freenav_a_player_may_go_back_to_the_start():
    env = started(variant="freenav", max_turns=20)
    assert rewards(env, "Left Hand", "Home", "Right Hand", BACK, BACK, BACK, BACK)[3:] == [-0.05] * 3 + [-0.2]
    assert env.page.title == "Home"


def test_in_eidetic_links_of_earlier_pages_of_the_episode_may_be_followed_and_are_listed():
    env = started(start="Left Hand", target="Right Hand", variant="eidetic")
    step = env.step(box("Home"))
    assert "Links of this page:\nLeft Hand\nRight Hand\nCliff\nLinks seen before:\nHome\nGoal\n" in step.observation
    assert env.step(box("Goal")).reward == -0.05
    assert env.step(box("Right Hand")).info == {"success": True}
    # The next episode has seen nothing yet.
    env.reset(seed=1, options={"start": "Goal", "target": "Cliff"})
    assert env.step(box("Right Hand")).reward == -0.2


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        ((5, "characters"), "Where..."),
        ((3, "words"), "Where all ways..."),
        ((1, "sentences"), "Where all ways begin...."),
        ((3, "sentences"), "Where all ways begin. It has three doors. Nobody lives here."),
        ([99, "words"], "Where all ways begin. It has three doors. Nobody lives here."),
    ],
)
def test_page_summary_length_says_how_much_of_a_page_is_shown(length, shown):
    env = started(page_summary_length=length)
    assert f"You are on: Home ({shown})\n" in env.step("").observation


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"start": "Home"}, "'start' and 'target'"),
        ({"start": "Home", "target": "Nowhere"}, "no page 'Nowhere'"),
        ({"start": "Nowhere", "target": "Home"}, "no page 'Nowhere'"),
        ({"start": "Home", "target": "Home"}, "two pages"),
    ],
)
def test_options_that_do_not_name_two_pages_are_refused(options, wrong):
    env = started()
    with pytest.raises(ConfigError, match=wrong):
        env.reset(seed=0, options=options)


@pytest.mark.parametrize("variant", ["noregrets", "oneback", "freenav", "eidetic"])
def test_every_variant_states_its_rules_and_the_expert_wins_it_in_as_few_turns_as_there_are_links(variant):
    env = gem.make("game:WikiGame-v0-hard", variant=variant)
    for seed in range(10):
        observation, _ = env.reset(seed=seed)
        assert (f"\\boxed{{{BACK}}}" in observation) == (variant in ("oneback", "freenav"))
        step = None
        while step is None or not step.done:
            step = env.step(env.expert_action())
        assert step.info["success"]
        assert 4 <= env.unwrapped.turn <= 6


@pytest.mark.parametrize("seeds", [20, pytest.param(1000, marks=pytest.mark.full)])
@pytest.mark.parametrize("id", ["game:WikiGame-v0-easy", "game:WikiGame-v0-hard"])
def test_the_expert_wins_every_episode(id, seeds):
    env = gem.make(id)
    for seed in range(seeds):
        env.reset(seed=seed)
        step = env.step(env.expert_action())
        while not step.done:
            step = env.step(env.expert_action())
        assert step.info["success"]
