"""Ids that a pack looks up instead of listing them: environments of other libraries."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import gem
from gem.cli.main import main
from gem.errors import PackError, SpecError, UnknownId
from gem.packs import registry
from gem.packs.discovery import Pack
from gem.packs.spec import EnvId
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.rollout.policy import random_policy
from gem.testing.subject import find_entries

FAR = "far:http://somewhere:80/a?b=c"


@pytest.fixture(autouse=True)
def pack(core_only: registry.Registry, monkeypatch: pytest.MonkeyPatch) -> Pack:
    pack = Pack("source-pack", "1.0", "source_pack", ("far", "sums"))
    monkeypatch.setattr(registry, "_registry", registry.Registry([*core_only.packs, pack]))
    return pack


def test_an_id_is_looked_up_when_it_is_asked_for() -> None:
    assert gem.make("sums:rounds2").rounds == 2
    assert gem.make("sums:One-v0").rounds == 1
    assert gem.make(FAR).rounds == len(FAR) - 4
    assert [spec.id for spec in gem.all_specs()] == ["core:Echo-v0", "sums:One-v0"]


def test_a_name_with_a_slash_is_one_name_and_no_other_name_is_freer_than_before() -> None:
    assert EnvId.parse(FAR) == ("far", FAR.removeprefix("far:"), None, None)
    assert str(EnvId.parse("gymnasium:ALE/Pong-v5")) == "gymnasium:ALE/Pong-v5"
    for id in ("far:localhost:80", "far:http://a,b", "far:http://a b", "Far:http://a", "sums:a--b"):
        with pytest.raises(SpecError, match="is not an environment id"):
            gem.make(id)


def test_a_name_that_the_source_does_not_know_is_answered_with_those_it_knows() -> None:
    with pytest.raises(UnknownId, match=r"'sums:round2'\. Did you mean 'sums:rounds2'.*`gemx list sums` shows"):
        gem.make("sums:round2")
    with pytest.raises(PackError, match="source_pack:sums must return the EnvSpec of 'sums:odd' or None, not 'not a"):
        gem.make("sums:odd")


def gemx(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_list_names_sources_and_what_they_know_only_when_it_is_asked_for() -> None:
    everything = json.loads(gemx("list", "--json"))

    assert [env["id"] for env in everything["envs"]] == ["core:Echo-v0", "sums:One-v0"]
    assert [source["id"] for source in everything["sources"]] == ["far:URL", "sums:N"]
    listed = json.loads(gemx("list", "sums", "--json"))
    assert [env["id"] for env in listed["envs"]] == ["sums:One-v0", *(f"sums:rounds{n}" for n in (1, 2, 3))]
    assert gemx("list", "far").split() == ["source-pack", "1.0", "far:URL", "Envs", "elsewhere"]
    assert "rounds3" not in gemx("list")


def test_patterns_info_and_doctor_reach_looked_up_ids(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"notes +no limit *\n +no snapshots", gemx("info", "sums:rounds2"))
    assert json.loads(gemx("info", FAR, "--json"))["pack"] == "source-pack"
    broken = [replace(each, names="source_pack:unknown") for each in pack.sources if each.namespace == "sums"]
    monkeypatch.setattr(pack, "sources", broken)
    packs = json.loads(CliRunner().invoke(main, ["doctor", "--seconds", "60", "--json"]).stdout)["packs"]
    (reason,) = [each["reason"] for each in packs if each["pack"] == "source-pack"]
    assert reason == "the source 'sums:N': 'source_pack:unknown': source_pack has no 'unknown'. Did you mean 'known'?"


def test_check_takes_a_source_as_a_name() -> None:
    assert [entry.spec.id for entry in find_entries("sums")] == [
        "sums:One-v0", *(f"sums:rounds{n}" for n in (1, 2, 3))
    ]  # fmt: skip


@pytest.mark.parametrize("backend", ["thread", pytest.param("process", marks=pytest.mark.full)])
def test_looked_up_envs_are_played_and_recorded(backend: str, tmp_path: Path) -> None:
    path, policy, ids = tmp_path / "episodes.jsonl", random_policy(), ["sums:rounds2", FAR]
    with (
        gem.make_vec(
            ids, 2, backend=backend, num_workers=2, info_methods=policy.info_methods, env_kwargs={"max_turns": 3}
        ) as envs,
        Recorder(path) as recorder,
    ):
        list(recorder.record(rollout(policy, envs, range(6))))
    records = list(read(path))

    assert {record.id for record in records} == set(ids)
    assert not any(record.failure for record in records)


def test_two_packs_cannot_look_up_one_namespace(pack: Pack) -> None:
    other = Pack("zother-pack", "1.0", "source_pack", ("far", "sums"))
    registry.Registry([pack, other]).load()

    assert (pack.state, other.state) == ("loaded", "failed")
    assert other.reason in (
        "it claims the source 'sums', which belongs to source-pack",
        "it claims the id 'sums:One-v0', which belongs to source-pack",
    )


def test_a_source_outside_the_namespaces_of_its_pack_fails_the_pack() -> None:
    pack = Pack("source-pack", "1.0", "source_pack", ("sums",))
    registry.Registry([pack]).load()

    assert pack.state == "failed"
    assert "'far:URL' is outside the namespaces of this pack" in str(pack.reason)
