"""`gemx export`: recorded episodes as rows for the trainers of others."""

import errno
import json
import os
from pathlib import Path

import pytest
import tool_samples
from chat_samples import call, calling, look, play
from click.testing import CliRunner, Result
from session_samples import tokenizer

import gem
from gem.chat import ChatEncoder
from gem.cli.main import main
from gem.episode import Completion, Start
from gem.episode.codec import to_json
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.rollout.transcript import Transcript
from gem.tool import FORMATS
from gem_eval.export import replace

ID = "session_samples:Count"
SCRIPTS = {
    0: [["hi ☃", "end"], ["hi ☃", "no", "no"], ["yes", "end"], ["hi ☃", "fail"]],
    1: [["end"], ["end"]],
    2: [["longer", "no", "no"], ["no", "no", "no"]],
    13: [["end"]],
}
"""Seed → the replies of each attempt. The reset with 13 fails."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine episodes, of which two failed and four have success."""

    def reply(transcript):
        start = transcript.start
        return SCRIPTS[start.seed][start.group][len(transcript.turns)]

    path = tmp_path_factory.mktemp("export") / "episodes.jsonl"
    starts = [Start(seed, group=group) for seed, scripts in SCRIPTS.items() for group in range(len(scripts))]
    with gem.make_vec(ID, 1) as envs, Recorder(path) as recorder:
        for _ in recorder.record(rollout(reply, envs, starts, max_turns=3)):
            pass
    return path


def export(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["export", *(str(each) for each in arguments)])


def rows(out: Path, *arguments: object) -> list[dict]:
    done = export("--out", out, *arguments)
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def said(messages: list[dict]) -> list[str]:
    return [each["content"] for each in messages if each["role"] == "assistant"]


def test_rendered_by_the_template_messages_give_the_ids_of_the_episode(recording, tmp_path):
    """They are those that the encoder reads and samples, but for the line end after the last message."""
    found = rows(tmp_path / "rows.jsonl", recording, "--format", "sft")
    kept = [record for record in read(recording) if record.failure is None]
    reader = tokenizer()
    encoder = ChatEncoder(reader)
    assert len(found) == len(kept) == 7
    for row, record in zip(found, kept, strict=True):
        whole = encoder.as_sampled((turn.observation, turn.action) for turn in record.turns)
        ids = [id for completion in whole for id in (*completion.prompt_ids, *completion.ids)]
        rendered = reader.apply_chat_template(row["messages"], tokenize=True, add_generation_prompt=False)
        assert rendered == [*ids, *encoder.encode("\n")]


def test_a_failed_episode_is_never_exported_and_its_number_is_said(recording, tmp_path):
    done = export(recording, "--format", "messages", "--out", tmp_path / "rows.jsonl")

    assert "7 rows; load_dataset('json'" in done.stdout
    assert "2 episodes failed when recorded, and were left out." in done.stderr
    assert "fail" not in (tmp_path / "rows.jsonl").read_text()
    for format in ("sft", "dpo", "messages"):
        assert all(
            "fail" not in json.dumps(row) for row in rows(tmp_path / "rows.jsonl", recording, "--format", format)
        )


def test_messages_have_the_rewards_and_where_they_come_from(recording, tmp_path):
    row = rows(tmp_path / "rows.jsonl", recording, "--format", "messages")[0]

    assert (row["rewards"], row["return"], row["success"]) == ([4.0, 10.0], 14.0, True)
    assert (row["id"], row["seed"], row["group"], row["recorded_in"]) == (ID, 0, 0, f"{recording}:1")
    assert said(row["messages"]) == ["hi ☃", "end"]
    assert row["messages"][-1]["role"] == "assistant"
    assert row["observation"] == "Well done."


@pytest.mark.parametrize(
    ("filters", "expected"),
    [((), 7), (["--success"], 4), (["--min-return", "12"], 2), (["--success", "--min-return", "14"], 1)],
)
def test_filters_choose_episodes(recording, tmp_path, filters, expected):
    found = rows(tmp_path / "rows.jsonl", recording, "--format", "messages", *filters)

    assert len(found) == expected
    assert all(row["success"] or "--success" not in filters for row in found)


def test_a_pair_shares_its_prompt_and_differs_in_its_outcome(recording, tmp_path):
    found = rows(tmp_path / "rows.jsonl", recording, "--format", "dpo")
    whole = {row["recorded_in"]: row for row in rows(tmp_path / "whole.jsonl", recording, "--format", "messages")}

    assert [(row["chosen_recorded_in"], row["rejected_recorded_in"]) for row in found] == [
        (f"{recording}:1", f"{recording}:2"),
        (f"{recording}:7", f"{recording}:8"),
    ]
    for row in found:
        better, worse = whole[row["chosen_recorded_in"]], whole[row["rejected_recorded_in"]]
        assert (better["id"], better["seed"]) == (worse["id"], worse["seed"])
        assert (better["success"], better["return"]) > (worse["success"], worse["return"])
        assert row["prompt"] + row["chosen"] == better["messages"]
        assert row["prompt"] + row["rejected"] == worse["messages"]
        assert row["prompt"][-1]["role"] == "user"
        assert row["chosen"][0] != row["rejected"][0]
    assert said(found[0]["prompt"]) == ["hi ☃"]
    assert len(rows(tmp_path / "rows.jsonl", recording, "--format", "dpo", "--success")) == 1


def test_what_cannot_be_paired_or_exported_is_said_and_nothing_is_written(recording, tmp_path):
    only = tmp_path / "only.jsonl"
    only.write_text("".join(recording.read_text().splitlines(keepends=True)[4:6]))
    out = tmp_path / "rows.jsonl"
    for arguments, message in (
        ([only, "--format", "dpo"], "`gemx eval ID --k 8 --out FOLDER`"),
        ([only, "--format", "sft", "--min-return", "99"], "ask for less"),
    ):
        done = export("--out", out, *arguments)
        assert done.exit_code == 1
        assert message in done.stderr
    assert list(tmp_path.iterdir()) == [only]


def test_a_recording_is_never_replaced(recording):
    before = recording.read_bytes()
    done = export(recording, "--format", "sft", "--out", recording)

    assert (done.exit_code, recording.read_bytes()) == (1, before)
    assert "choose another file" in done.stderr


@pytest.mark.parametrize(
    ("format", "change", "message"),
    [
        ("sft", {"observation": [{"text": "no type"}]}, "has content parts or calls that no environment writes"),
        ("sft", {"info": {"calls": [{}, {}]},
                 "completion": {"text": json.dumps(calling(*[call("a", "now")] * 2)["message"])}},
         "has content parts or calls that no environment writes"),
        ("messages", {"reward": float("nan")}, "strange.jsonl:1 has NaN or Infinity"),
    ],
)  # fmt: skip
def test_a_recording_with_anything_in_it_gets_an_error_of_one_line(recording, tmp_path, format, change, message):
    record = json.loads(recording.read_text().splitlines()[0])
    described = FORMATS["openai"].describe({"now": tool_samples.now})
    record["traces"][0]["turns"][0] |= {"observation": f"Hi.\n\n{described}", **change}
    file = tmp_path / "strange.jsonl"
    file.write_text(json.dumps(record) + "\n")
    done = export(file, "--format", format, "--out", tmp_path / "rows.jsonl")

    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == [file]


def write(path: Path, *episodes) -> Path:
    with Recorder(path, policy={"name": "openai", "model": "any", "system": "Be brief."}) as recorder:
        for episode in episodes:
            recorder.write(episode)
    return path


@pytest.mark.parametrize("format", ["openai", "auto"])
def test_calls_of_tools_are_those_that_the_api_was_sent(tmp_path, format):
    answers = [
        calling(call("c1", "now"), call("c2", "book", '{"day": 1, "hour": 9}'), reasoning_content="Hm."),
        calling(call("c3", "search", '{"query": "hats"}')),
        "A hat.",
    ]
    tools = [tool_samples.now, tool_samples.book, tool_samples.search]
    episode, requests = play(answers, tools, format=format, system="Be brief.", return_reasoning=True)
    path = write(tmp_path / "episodes.jsonl", episode)
    [row] = rows(tmp_path / "rows.jsonl", path, "--format", "sft", "--reasoning")
    [bare] = rows(tmp_path / "rows.jsonl", path, "--format", "sft")

    assert row["tools"] == requests[0]["tools"]
    sent = requests[-1]["messages"]
    for message in sent:
        for each in message.get("tool_calls", ()):
            each["function"]["arguments"] = json.loads(each["function"]["arguments"])
    assert row["messages"] == [*sent, {"role": "assistant", "content": "A hat."}]
    assert "Hm." in json.dumps(row)
    assert "Hm." not in json.dumps(bare)


def test_pictures_and_cut_replies_are_not_for_trainers_of_text(tmp_path):
    seen, _ = play([calling(call("a", "look", '{"where": "here"}')), "A hat."], look)
    done = export(write(tmp_path / "seen.jsonl", seen), "--format", "sft", "--out", tmp_path / "rows.jsonl")
    assert done.exit_code == 1
    assert "seen.jsonl:1 has a part of the type 'image_url'" in done.stderr

    with gem.make_vec(ID, 1) as envs:
        said_in_part = rollout(lambda transcript: Completion("end", finish_reason="length"), envs, [1])
        cut = write(tmp_path / "cut.jsonl", *said_in_part)
    assert "1 have a reply that was cut off" in export(cut, "--format", "sft", "--out", tmp_path / "rows.jsonl").stderr
    [row] = rows(tmp_path / "rows.jsonl", cut, "--format", "messages")
    assert row["finish_reasons"] == ["length"]


def test_halves_of_surrogate_pairs_are_what_the_encoder_reads(recording, tmp_path):
    """`datasets` refused the whole file."""
    odd = tmp_path / "odd.jsonl"
    odd.write_text(recording.read_text().replace("Say anything", "Say \\ud800 \\ud83d\\ude00"))
    [first, *_] = rows(tmp_path / "rows.jsonl", odd, "--format", "sft")
    read_as = ChatEncoder(tokenizer()).prompt(Transcript("Say \ud800 😀 ☃."), [])
    assert first["messages"][0]["content"] == "Say \ufffd 😀 ☃."
    assert "\nSay \ufffd 😀 ☃.<" in ChatEncoder(tokenizer()).decode(read_as.ids)


def test_an_export_replaces_files_and_what_links_point_to_and_nothing_else(recording, tmp_path):
    """A pipe was replaced by a file, as was /dev/null for who may write there."""
    pipe, target, link = tmp_path / "pipe", tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    os.mkfifo(pipe)
    target.write_text("old")
    link.symlink_to(target)
    assert "is not a file that an export could replace" in export(recording, "--format", "sft", "--out", pipe).stderr
    assert export(recording, "--format", "sft", "--out", link).exit_code == 0
    assert (pipe.is_fifo(), link.is_symlink(), len(target.read_text().splitlines())) == (True, True, 7)


def test_an_export_that_cannot_be_written_names_its_file_and_leaves_the_old_one(tmp_path):
    def without_space(file, rows):
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    out = tmp_path / "rows.jsonl"
    out.write_text("old")
    with pytest.raises(OSError, match=r"No space left on device: '.*rows.jsonl'"):
        replace(out, [{}], without_space)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("rows.jsonl", "old")]


@pytest.mark.full
def test_the_call_that_is_printed_reads_back_a_file_whose_types_change_after_many_rows(recording, tmp_path):
    """`datasets` took the types of the first 10 MB: it misread contents, and refused tools."""
    from datasets import load_dataset

    [first, *_] = read(recording)
    many = tmp_path / "many.jsonl"
    many.write_text((json.dumps({**to_json(first), "observation": "x" * 2**20}) + "\n") * 11)
    called, _ = play([calling(call("c1", "now")), "A hat."], [tool_samples.now])
    out = tmp_path / "rows.jsonl"
    done = export(many, write(tmp_path / "calls.jsonl", called), "--format", "messages", "--out", out)
    code = done.stdout.partition("; ")[2].removesuffix(" reads it\n").removesuffix(")")
    found = eval(f"{code}, split='train', cache_dir={str(tmp_path / 'cache')!r})", {"load_dataset": load_dataset})
    assert found.to_list() == [json.loads(line) for line in out.read_text().splitlines()]


@pytest.mark.full
def test_what_parquet_cannot_hold_is_said_in_one_line(recording, tmp_path):
    odd = tmp_path / "odd.jsonl"
    odd.write_text(recording.read_text().replace('"traces":', f'"labels":{{"n":{10**30}}},"traces":'))
    done = export(odd, "--format", "parquet", "--out", tmp_path / "rows.parquet")
    assert "the rows do not fit into a Parquet file (OverflowError" in done.stderr
    assert not (tmp_path / "rows.parquet").exists()


@pytest.mark.full
def test_datasets_reads_back_every_row(recording, tmp_path):
    import datasets

    answers = [calling(call("c1", "now")), calling(call("c2", "book", '{"day": 1, "hour": 9}')), "A hat."]
    called, _ = play(answers, [tool_samples.now, tool_samples.book])
    seen, _ = play([calling(call("a", "look", '{"where": "here"}')), "A hat."], look)
    calls, pictures = write(tmp_path / "calls.jsonl", called), write(tmp_path / "pictures.jsonl", seen)
    cache = str(tmp_path / "cache")
    for format, inputs in (
        ("sft", [recording, calls]),
        ("dpo", [recording]),
        ("messages", [recording, calls, pictures]),
    ):
        out = tmp_path / f"{format}.jsonl"
        expected = rows(out, *inputs, "--format", format)
        found = datasets.load_dataset("json", data_files=str(out), split="train", cache_dir=cache)
        assert found.to_list() == expected
    out = tmp_path / "rows.parquet"
    assert export(*inputs, "--format", "parquet", "--out", out).exit_code == 0
    assert datasets.load_dataset("parquet", data_files=str(out), split="train", cache_dir=cache).to_list() == expected
