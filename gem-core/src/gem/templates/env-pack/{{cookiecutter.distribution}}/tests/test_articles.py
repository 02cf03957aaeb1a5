"""The rows and the grades of Articles."""

from {{ cookiecutter.package }}.articles import Articles

import gem

ID = "{{ cookiecutter.namespace }}:Articles"


def test_the_gold_answer_of_every_row_is_right_and_the_other_article_is_wrong():
    for id in (ID, f"{ID}-test"):
        env = gem.make(id).unwrapped
        for index, row in enumerate(env.rows):
            env.reset(seed=0, options={"index": index})
            assert env.step(env.expert_action()).info["success"]
            env.reset(options={"index": index})
            assert env.step("\\boxed{an}" if row["answer"] == "a" else "\\boxed{a}").reward == 0.0


def test_no_row_is_both_trained_on_and_tested():
    words = [{row["question"] for row in gem.make(id).unwrapped.rows} for id in (ID, f"{ID}-test")]
    assert not words[0] & words[1]


def test_case_and_spaces_do_not_matter_and_a_reply_without_a_box_costs():
    env = Articles([{"word": "egg", "article": "an"}])
    env.reset(seed=0)
    assert env.step("\\boxed{ An }").reward == 1.0
    env.reset()
    assert env.step("an").reward == -0.1
