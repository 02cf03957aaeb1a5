"""Folders of evaluations from other people: without --trust, resuming one runs nothing of theirs and sends nothing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import gem
from gem.cli.main import main
from gem.errors import DataUnavailable, RecordError
from gem.packs.registry import get_spec
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.testing.chat_server import chat_server
from gem.vector import make_vec
from gem_eval import evaluate, read_settings
from gem_eval.trust import check_episode, names_in

ECHO = "core:Echo-v0"
PLANTED = """
from pathlib import Path
Path({mark!r}).touch()
from gem.packs.echo import Echo as Door

def wrapper(env, **settings):
    return env

def answer(observation, **settings):
    return "x"
"""
TOUCH = {"name": "subprocess:getoutput", "cmd": "touch {mark}"}
SECRET = {"name": "openai", "model": "any", "base_url": "{url}", "key_variable": "A_SECRET"}


def group(*ids: str, **fields: Any) -> dict[str, Any]:
    return {"groups": [{"ids": ids or [ECHO], "episodes": 2, **fields}]}


DOORS: dict[str, dict[str, Any]] = {
    "a function of Python as the model": {"model": TOUCH},
    "a model that the folder names": {"model": "planted:answer"},
    "a model with settings": {"model": {"name": "planted:answer", "level": 1}},
    "an environment that the folder names": group("planted:Door"),
    "an environment behind a harmless one": group(ECHO, "planted:Door"),
    "an environment in a second group": {
        "groups": [{"name": "a", "ids": [ECHO], "episodes": 1}, {"name": "b", "ids": ["planted:Door"], "episodes": 1}]
    },
    "a wrapper": group(wrappers=["planted:wrapper"]),
    "a wrapper with settings": group(wrappers=[{"name": "planted:wrapper", "level": 1}]),
    "a tool": group(tools=["planted:answer"]),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an evaluation; `planted` can be imported, and leaves the file `mark`."""
    (tmp_path / "planted.py").write_text(PLANTED.format(mark=str(tmp_path / "mark")))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("A_SECRET", "the-secret")
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def plant(folder: Path, changes: dict[str, Any], **values: str) -> None:
    """Write an `eval.json` that asks for two episodes of Echo, but for the changes."""
    text = json.dumps({"gem_eval": 1, "model": "random", **group(), "floors": False, **changes})
    for name, value in {"mark": str(folder.parent / "mark"), **values}.items():
        text = text.replace("{" + name + "}", value)
    (folder / "eval.json").write_text(text)


def resume(folder: Path, *words: str) -> Any:
    return CliRunner().invoke(main, ["eval", "--resume", str(folder), "--json", *words])


@pytest.mark.parametrize("name", DOORS)
def test_a_folder_runs_nothing_without_trust_and_with_it_does(name: str, folder: Path) -> None:
    import sys

    sys.modules.pop("planted", None)
    plant(folder, DOORS[name])
    before = sorted(path.name for path in folder.iterdir())
    refused = resume(folder)
    assert refused.exit_code == 1
    assert "has what only a trusted file may have: " in refused.stderr
    assert "pass --trust" in refused.stderr
    with pytest.raises(RecordError, match="only a trusted file"):
        read_settings(folder)
    assert not (folder.parent / "mark").exists()
    assert sorted(path.name for path in folder.iterdir()) == before

    resume(folder, "--trust")
    assert (folder.parent / "mark").exists()


@pytest.mark.parametrize("words", [[], ["--model", "openai:other"], ["--model-arg", "key_variable=OPENAI_API_KEY"]])
def test_an_address_or_a_variable_of_the_folder_is_not_used(words: list[str], folder: Path) -> None:
    with chat_server(lambda messages: "x") as server:
        plant(folder, {"model": SECRET}, url=server.url)
        refused = resume(folder, *words)
        assert refused.exit_code == 1
        assert server.requests == 0
        if "--model" not in words:
            assert f"the setting 'base_url' of the model 'openai', '{server.url}'" in refused.stderr
            assert "Give the model and its settings in this command too (--model, --base-url" in refused.stderr


def test_what_the_command_names_itself_needs_no_trust(folder: Path) -> None:
    with chat_server(lambda messages: "x") as server:
        model = {"name": "openai:any", "base_url": "http://localhost:1/v1", "temperature": 0.5}
        plant(folder, {"model": {**model, "name": "openai", "model": "any"}})
        done = resume(folder, "--base-url", server.url)
        assert (done.exit_code, server.requests) == (0, 2)
        (folder / "episodes.jsonl").unlink()
        words = ["--model", "openai:any", "--base-url", server.url, "--model-arg", "temperature=0.5"]
        assert (resume(folder, *words).exit_code, server.requests) == (0, 4)
        other = resume(folder, *words[:-1], "temperature=1")
        assert "holds another evaluation (model: " in other.stderr


def test_registered_things_need_no_trust_and_settings_of_environments_do(folder: Path) -> None:
    plant(folder, {})
    assert json.loads(resume(folder).stdout)["episodes"] == 2
    (folder / "episodes.jsonl").unlink()
    plant(folder, group(kwargs={"level": 1}))
    assert "the setting 'level' of its environments, 1" in resume(folder).stderr
    plant(folder, group(wrappers=["concat"]))
    assert "the wrappers ['concat']" in resume(folder).stderr


@pytest.mark.parametrize("name", ["eval.json", "episodes.jsonl", "summary.json", "floors.jsonl", "pictures"])
def test_nothing_is_written_through_a_link_in_the_folder(name: str, tmp_path: Path) -> None:
    folder, target = tmp_path / "run", tmp_path / "target"
    evaluate(ECHO, "random", episodes=2, out=folder, floors=False)
    if (folder / name).exists():
        os.replace(folder / name, target)
    else:
        target.write_bytes(b"")
    (folder / name).symlink_to(target)
    before = target.read_bytes()
    done = CliRunner().invoke(main, ["eval", ECHO, "--episodes", "4", "--no-floors", "--out", str(folder)])
    assert done.exit_code == 1
    assert f"{folder / name} is a link to {target}" in done.stderr
    assert target.read_bytes() == before


def test_rows_are_not_downloaded_for_a_folder_or_a_recording_without_trust(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEM_DATA_DIR", str(tmp_path / "local"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    asked: list[object] = []

    def download(source: object) -> None:
        asked.append(source)
        raise DataUnavailable("no network")

    monkeypatch.setattr("gem.data.hub.download", download)
    id = "trusted:Sums-v0"
    gem.register(id, "dataset_envs:Sums", data={"name": "lab/Sums-10", "split": "train"})
    recorded = next(rollout(make_policy("random"), make_vec(ECHO, 1, info_methods=("sample_action",)), [0]))
    recorded = replace(recorded, id=id, spec=get_spec(id))
    for named in (id, "trusted:*"):
        plant(folder, group(named))
        refused = resume(folder)
        assert refused.exit_code == 1
        assert "the environment 'trusted:Sums-v0', whose rows would be downloaded (`gemx data " in refused.stderr
    with pytest.raises(RecordError, match="whose rows would be downloaded"):
        check_episode(recorded)
    assert not asked
    assert "no network" in resume(folder, "--trust").stderr
    assert asked

    rows = tmp_path / "local" / "lab" / "Sums-10" / "train.jsonl"
    rows.parent.mkdir(parents=True)
    rows.write_text('{"problem": "1+1", "answer": "2"}\n' * 2)
    check_episode(recorded)
    plant(folder, group(id))
    assert json.loads(resume(folder).stdout)["episodes"] == 2


@pytest.mark.parametrize("fields", [{"episodes": 10**15}, {"k": 10**12}, {"episodes": 10**4, "k": 10**4}])
def test_a_number_of_episodes_that_no_memory_holds_is_refused(fields: dict[str, int], folder: Path) -> None:
    plant(folder, group(**fields))
    refused = resume(folder)
    assert refused.exit_code == 1
    assert "episodes, and a group has at most 1,000,000: lower --episodes or --k" in refused.stderr


@pytest.mark.parametrize(
    "content", ["[]", "3", "", "[" * 100_000, '{"a":' * 50_000, '{"gem_eval": 1, "model": "random", "groups": []}']
)
def test_what_holds_no_settings_is_refused_in_a_line(content: str, folder: Path) -> None:
    (folder / "eval.json").write_text(content)
    refused = resume(folder)

    assert refused.exit_code == 1
    assert "eval.json does not hold the settings of an evaluation" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_configuration_is_told_by_the_code_commands_and_addresses_that_it_names() -> None:
    tool = {"name": "mcp", "config": {"a": {"command": "npx", "args": ["-y"]}}}
    names = ["core:Echo-v0", "core:Echo", "game:*-easy", "lab.envs:Env", "openenv:http://far.example:80"]

    assert names_in({"ids": names, "tools": [tool], "steps": 3, "policy": "random"}) == [
        "the code at 'core:Echo'",
        "the code at 'lab.envs:Env'",
        "the address 'openenv:http://far.example:80'",
        "the command 'npx'",
    ]


def test_gemx_eval_names_the_code_of_a_suite_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text('[a]\nids = ["core:Echo-v0"]\nwrappers = ["lab.missing:Wrapper"]\n')
    done = CliRunner().invoke(main, ["eval", "--suite", str(tmp_path / "suite.toml"), "--model", "random"])

    assert done.exit_code == 1
    assert done.stderr.splitlines()[0].endswith("suite.toml names the code at 'lab.missing:Wrapper'.")


def test_a_recorded_text_of_any_length_is_a_short_line_of_what_differs(tmp_path: Path) -> None:
    evaluate(ECHO, "random", episodes=1, out=tmp_path, floors=False)
    [line] = (tmp_path / "episodes.jsonl").read_bytes().splitlines()
    record = json.loads(line)
    record["traces"][0]["turns"][0]["observation"] = "x" * 2_000_000
    (tmp_path / "episodes.jsonl").write_text(json.dumps(record) + "\n")
    done = CliRunner().invoke(main, ["reproduce", str(tmp_path)])

    assert done.exit_code == 1
    assert len(done.output) < 20_000


def test_ray_is_started_for_a_folder_only_if_the_command_says_so(folder: Path) -> None:
    plant(folder, {"backend": "ray"})
    assert "the backend 'ray', which starts programs" in resume(folder).stderr
    assert json.loads(resume(folder, "--backend", "sync").stdout)["episodes"] == 2


@pytest.mark.parametrize("name", ["eval.json", "episodes.jsonl", "floors.jsonl"])
def test_a_pipe_in_the_folder_is_named_and_not_waited_for(name: str, folder: Path) -> None:
    plant(folder, {"floors": True})
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    refused = resume(folder)
    assert refused.exit_code == 1
    assert "a pipe" in refused.stderr or "has no eval.json" in refused.stderr
