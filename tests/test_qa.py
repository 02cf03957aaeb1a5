"""The questions of gem-envs-qa with the search of gem-tools, over the documents that ship with them."""

from pathlib import Path

import gem
from gem.rollout import rollout
from gem.rollout.policy import expert_policy
from gem_tools.search.server import serving
from gem_tools.search.shared import shared_index

CORPUS = "gem_envs_qa:corpus.jsonl"
SEARCH = {"name": "tool_env", "tools": [{"name": "search", "source": CORPUS}]}


def test_the_expert_finds_each_document_of_each_question_and_answers_right() -> None:
    env = gem.make("qa:Sample", wrappers=[SEARCH])
    rows = len(env.unwrapped.rows)  # type: ignore[attr-defined]
    missed: list[str] = []
    for index in range(rows):
        env.reset(options={"index": index})
        titles = env.unwrapped.row.titles  # type: ignore[attr-defined]
        for title in titles:
            step = env.step(env.expert_action() or "")
            missed += [] if f"(Title: {title})" in step.observation else [title]
        step = env.step(env.expert_action() or "")
        assert step.info["success"]
        assert step.info["tool_use_counter"] == len(titles)

    assert rows == 200
    assert missed == []


def test_questions_of_the_hub_are_asked_with_a_corpus_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"title": "Norway", "text": "Its capital is Oslo."}\n', "utf-8")
    for id in ("eval:2Wiki", "qa:HotpotQA"):
        search = {"name": "search", "source": str(tmp_path / "own.jsonl")}
        tools = {"name": "tool_env", "tools": [search]}
        rows = [{"question": "What is the capital of Norway?", "answer": ["Oslo"]}]
        env = gem.make(id, data=rows, wrappers=[tools])
        env.reset(seed=0)

        assert "Its capital is Oslo." in env.step("<search>capital of Norway</search>").observation
        assert env.step("<answer>Oslo</answer>").info["success"]


def test_the_question_itself_finds_the_first_document_but_seldom_that_of_a_later_hop() -> None:
    index = shared_index(CORPUS)
    env = gem.make("qa:Sample")
    rows = [env.unwrapped._row(row) for row in env.unwrapped.rows]  # type: ignore[attr-defined]
    found = {row: {hit.document.title for hit in index.search([row.question], 3)[0]} for row in rows}
    first = [row.titles[0] in found[row] for row in rows]
    later = [row.titles[-1] in found[row] for row in rows if len(row.titles) > 2]

    assert sum(first) / len(first) > 0.8
    assert sum(later) / len(later) < 0.5


def test_a_server_of_the_corpus_is_searched_by_every_client(monkeypatch) -> None:
    policy = expert_policy()
    with serving(shared_index(CORPUS)) as url:
        monkeypatch.setenv("SEARCH_URL", url)
        made = gem.make_vec("qa:Sample", 4, wrappers=["search_tool_no_int_reward"], info_methods=policy.info_methods)
        with made as envs:
            episodes = list(rollout(policy, envs, starts=range(12)))

    assert all(episode.success and len(episode.turns) > 1 for episode in episodes)
