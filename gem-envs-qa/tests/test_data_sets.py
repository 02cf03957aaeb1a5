"""The ids of gem-llm, end to end on local copies of their data sets."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from local_copies import COPIES

import gem
from gem.rollout import each_row, rollout
from gem.rollout.policy import expert_policy
from gem.testing.checks import CHECKS
from gem_envs_qa import plugin

SPECS = {spec.id: spec for spec in plugin.gem_envs()}
HUB = {id: spec.kwargs["data"] for id, spec in SPECS.items() if "split" in spec.kwargs.get("data", {})}
IDS_OF_GEM_LLM = {
    *(f"logic:RuleTaker-d{depth}" for depth in (0, 1, 2, 3, 5)),
    *("qa:NaturalQuestions", "qa:HotpotQA", "eval:QaOpen", "eval:2Wiki", "eval:PopQA", "eval:TriviaQA"),
    *("eval:HotpotQA", "eval:Bamboogle", "eval:NaturalQuestions", "eval:Musique"),
}


def test_every_question_id_of_gem_llm_is_there_and_has_its_own_data():
    assert set(HUB) == IDS_OF_GEM_LLM
    assert {(data["name"], data["split"]) for data in HUB.values()} == set(COPIES)
    assert len({(data["name"], data["split"]) for data in HUB.values()}) == len(HUB)
    assert all(data["licence"] and data["about"] for data in HUB.values())


@pytest.mark.parametrize("id", sorted(IDS_OF_GEM_LLM))
def test_every_row_of_a_local_copy_is_asked_and_its_answer_is_graded_right(
    id: str, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEM_DATA_DIR", str(copies))
    env = gem.make(id)
    rows = COPIES[HUB[id]["name"], HUB[id]["split"]]
    for index, row in enumerate(rows):
        text, _ = env.reset(options={"index": index})

        assert text.startswith(row.get("problem") or row["question"])
        assert env.step(env.expert_action()).reward == 1.0
        env.reset(options={"index": index})
        assert env.step("<answer>something else</answer>").reward == 0.0
    with pytest.raises(gem.errors.ConfigError, match="0 to 1"):
        env.reset(options={"index": len(rows)})


@pytest.mark.full
def test_the_rows_may_also_be_parquet_files_that_the_library_datasets_reads(tmp_path: Path) -> None:
    import datasets

    for name, split in [("axon-rl/HotpotQA", "train"), ("axon-rl/search-eval", "nq")]:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        datasets.Dataset.from_list(COPIES[name, split]).to_parquet(folder / f"{split}-00000-of-00001.parquet")
    for id, folder in [("qa:HotpotQA", "axon-rl/HotpotQA"), ("eval:NaturalQuestions", "axon-rl/search-eval")]:
        env = gem.make(id, data={**SPECS[id].kwargs["data"], "name": str(tmp_path / folder)})
        env.reset(seed=0)

        assert env.step(env.expert_action()).reward == 1.0


def gemx(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gem", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **environ}
    )


@pytest.mark.full
def test_every_id_keeps_the_contract_and_its_expert_is_right_on_every_row(
    copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = gemx("check", "gem-envs-qa", GEM_DATA_DIR=str(copies))
    ids, expert = ["qa:Sample", *HUB], expert_policy()
    monkeypatch.setenv("GEM_DATA_DIR", str(copies))
    with gem.make_vec(ids, 16, info_methods=expert.info_methods) as envs:
        played = list(rollout(expert, envs, each_row(ids)))

    assert checked.returncode == 0, checked.stdout
    assert f"{len(SPECS)} environments: {len(CHECKS) * len(SPECS)} passed, 0 failed, 0 skipped" in checked.stdout
    assert len(played) == 200 + 2 * len(HUB)
    assert all(episode.success for episode in played)


@pytest.mark.full
def test_without_rows_an_id_is_described_and_the_error_says_where_they_may_be_put(tmp_path: Path) -> None:
    nowhere = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "GEM_DATA_DIR": str(tmp_path)}
    described, played = gemx("info", "eval:2Wiki", **nowhere), gemx("play", "eval:2Wiki", **nowhere)

    assert "512 questions of 2WikiMultihopQA" in described.stdout
    assert played.returncode == 1
    for named in ("'axon-rl/search-eval', split '2wiki'", f"{tmp_path}/datasets", f"{tmp_path}/axon-rl/search-eval"):
        assert named in played.stderr


def test_the_specs_are_plain_data() -> None:
    assert all(json.loads(json.dumps(spec.kwargs)) == dict(spec.kwargs) for spec in SPECS.values())
