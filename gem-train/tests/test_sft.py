"""`gemx sft`: what is imitated, what enters the loss, resuming, and what the folder is good for."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from msgspec.structs import replace
from replicas import family
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

from gem.chat.encoder import ChatEncoder
from gem.cli.main import main
from gem.episode import Completion, Episode, Trace, Turn
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.vector import make_vec
from gem_eval.results import Result
from gem_eval.results.intervals import wilson_interval
from gem_train.batch import TokenSequence, collate
from gem_train.runs.display import Display
from gem_train.sft.config import SFTOptimConfig, load_sft_config
from gem_train.sft.demonstrations import demonstrations, encode, load, split
from gem_train.sft.imitation import Imitator, tokenized
from gem_train.sft.training import SFTSummary, sft

ECHO = {"id": "core:Echo-v0", "data": {"episodes": 200}, "eval_every": 50}
SHORT = {"steps": 9, "checkpoint_every": 4, "eval_every": 3, "data": {"episodes": 40}, "optim": {"episodes": 8}}


def run(out: Path, *settings: dict) -> SFTSummary:
    config = load_sft_config([ECHO, *settings])
    with Display(quiet=True) as display:
        return sft(config, out, display)


def metrics(out: Path) -> list[dict]:
    lines = map(json.loads, (out / "metrics.jsonl").read_text().splitlines())
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def weights(out: Path, step: int) -> dict[str, torch.Tensor]:
    return load_file(out / "checkpoint" / f"step-{step}" / "model" / "model.safetensors")


def success(policy: str) -> int:
    """Of 64 episodes."""
    made = make_policy(policy)
    with make_vec("core:Echo-v0", 64, info_methods=made.info_methods) as envs:
        return sum(episode.success for episode in rollout(made, envs, range(64)))


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SFTSummary]:
    out = tmp_path_factory.mktemp("runs") / "echo"
    return out, run(out, {"steps": 130})


def test_a_model_learns_what_the_expert_says_and_succeeds_more_often_than_random_play(cloned):
    out, summary = cloned
    assert (summary.episodes, summary.held_out_episodes) == (180, 20)
    assert summary.held_out_loss_before > 5
    assert summary.held_out_loss_after < 0.2
    measured = [line["held_out_loss"] for line in metrics(out) if "held_out_loss" in line]
    assert [line["step"] for line in metrics(out) if "held_out_loss" in line] == [0, 50, 100, 130]
    assert (measured[0], measured[-1]) == (summary.held_out_loss_before, summary.held_out_loss_after)
    assert wilson_interval(success(str(out)), 64)[0] > wilson_interval(success("random"), 64)[1]


def test_what_was_learned_loads_with_transformers_and_is_a_start_for_gemx_train(cloned, tmp_path):
    out, _ = cloned
    model = out / "checkpoint" / "step-130" / "model"
    assert AutoModelForCausalLM.from_pretrained(model).num_parameters() > 100_000
    assert AutoTokenizer.from_pretrained(model).chat_template
    command = ["train", "core:Echo-v0", "--model", str(out), "--steps", "1", "--out", str(tmp_path / "run"), "--json"]
    command += ["--set", "eval.episodes=32", "--set", "rollout.max_new_tokens=16", "--set", "rollout.episodes=8"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["before"]["success"] > 0.7


class StopAt:
    """A display that is interrupted after a step."""

    def __init__(self, step: int, error: type[BaseException]) -> None:
        self.display, self._step, self._error = Display(quiet=True), step, error

    def __getattr__(self, name: str):
        return getattr(self.display, name)

    def imitated(self, step: int, steps: int, values: dict) -> None:
        if step == self._step:
            raise self._error


@pytest.mark.parametrize(("error", "saved"), [(KeyboardInterrupt, 6), (ZeroDivisionError, 4)])
def test_a_run_that_was_stopped_ends_as_an_unbroken_one(tmp_path, error, saved):
    run(tmp_path / "whole", SHORT)
    with pytest.raises(error):
        sft(load_sft_config([ECHO, SHORT]), tmp_path / "stopped", StopAt(6, error))
    assert (tmp_path / "stopped" / "checkpoint" / f"step-{saved}").is_dir()
    run(tmp_path / "stopped", SHORT)
    assert metrics(tmp_path / "stopped") == metrics(tmp_path / "whole")
    whole, resumed = weights(tmp_path / "whole", 9), weights(tmp_path / "stopped", 9)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    # A finished run is not repeated, and more steps extend it.
    assert run(tmp_path / "whole", SHORT).steps == 9
    assert run(tmp_path / "whole", SHORT, {"steps": 11}).steps == 11
    assert [line["step"] for line in metrics(tmp_path / "whole")] == list(range(12))


@pytest.mark.full
def test_an_adapter_is_trained_alone_and_resumed_exactly(cloned, tmp_path):
    out, _ = cloned
    settings = {"model": str(out), "lora": {"rank": 4}, "device": "cpu", "steps": 5, "checkpoint_every": 2}
    run(tmp_path / "whole", SHORT, settings)
    with pytest.raises(ZeroDivisionError):
        sft(load_sft_config([ECHO, SHORT, settings]), tmp_path / "stopped", StopAt(3, ZeroDivisionError))
    run(tmp_path / "stopped", SHORT, settings)
    files = [tmp_path / name / "checkpoint" / "step-5" / "model" for name in ("whole", "stopped")]
    assert not (files[0] / "model.safetensors").exists()
    whole, resumed = (load_file(file / "adapter_model.safetensors") for file in files)
    assert any(tensor.any() for name, tensor in whole.items() if "lora_B" in name)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_every_episode_is_learned_from_once_in_each_pass_over_them(tmp_path, monkeypatch):
    step, seen = Imitator.step, []

    def recording_step(self, sequences: list[TokenSequence], lr: float) -> dict[str, float]:
        seen.extend(map(id, sequences))
        return step(self, sequences, lr)

    monkeypatch.setattr(Imitator, "step", recording_step)
    run(tmp_path / "run", SHORT)  # 9 steps of 8 episodes: 36 episodes twice
    assert len(set(seen[:36])) == 36
    assert sorted(seen[:36]) == sorted(seen[36:])
    assert seen[:36] != seen[36:]


@pytest.mark.parametrize("warmup_steps", [0, 4])
def test_the_learning_rate_falls_linearly_and_first_rises_if_asked(tmp_path, monkeypatch, warmup_steps):
    step, rates = Imitator.step, []

    def noting_step(self, sequences: list[TokenSequence], lr: float) -> dict[str, float]:
        rates.append(lr)
        return step(self, sequences, lr)

    monkeypatch.setattr(Imitator, "step", noting_step)
    run(tmp_path / "run", SHORT, {"optim": {"lr": 1e-3, "warmup_steps": warmup_steps}})
    rising = [(each + 1) / 4 if warmup_steps else 1.0 for each in range(4)] + [1.0] * 5
    assert rates == pytest.approx([1e-3 * (1 - each / 9) * rising[each] for each in range(9)])


def sequences(seed: int) -> list[TokenSequence]:
    rng = np.random.default_rng(seed)
    made = []
    for length in (9, 30, 17, 4):
        sampled = rng.random(length) < 0.4
        sampled[0], sampled[-1] = False, True
        ids, turn = rng.integers(0, 60, length), np.where(sampled, 0, -1)
        made.append(TokenSequence(ids, sampled, np.zeros(length, np.float32), turn))
    return made


def model() -> Qwen3ForCausalLM:
    config = Qwen3Config(
        vocab_size=60,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
    )
    torch.manual_seed(0)
    return Qwen3ForCausalLM(config).eval()


def gradient(network: Qwen3ForCausalLM) -> torch.Tensor:
    return torch.cat([parameter.grad.flatten() for parameter in network.parameters()])


@pytest.mark.parametrize("micro_tokens", [8192, 20, 1])
@pytest.mark.parametrize("target", ["actions", "all"])
def test_the_gradient_is_that_of_the_chosen_tokens_each_counted_once(target, micro_tokens):
    """Against autograd on one sequence after the other."""
    given, expected, ours = sequences(1), model(), model()
    total, tokens = 0.0, 0
    for sequence in given:
        ids = torch.from_numpy(sequence.ids)
        chosen = torch.from_numpy(sequence.sampled)[1:] if target == "actions" else torch.ones(len(ids) - 1).bool()
        logprobs = expected(input_ids=ids[None]).logits[0, :-1].log_softmax(-1)
        total -= logprobs.gather(-1, ids[1:, None])[:, 0][chosen].sum()
        tokens += int(chosen.sum())
    (total / tokens).backward()

    imitator = Imitator(ours, SFTOptimConfig(grad_clip=1e9, micro_tokens=micro_tokens), target)
    measured = imitator.loss(given)
    made = imitator.step(given, lr=0.0)
    assert made["tokens"] == tokens
    assert made["loss"] == pytest.approx(measured, rel=1e-5)
    assert made["loss"] == pytest.approx((total / tokens).item(), rel=1e-5)
    torch.testing.assert_close(gradient(ours), gradient(expected), rtol=1e-4, atol=1e-6)
    # The learning rate is that of the step: 0 here.
    assert all(map(torch.equal, ours.parameters(), expected.parameters()))


def episode(*turns: tuple[str, str], seed: int = 0, success: bool = True, reward: float = 1.0) -> Episode:
    made = tuple(Turn(asked, Completion(said), reward / len(turns), {}) for asked, said in turns)
    return Episode(
        id="core:Echo-v0",
        seed=seed,
        traces=(Trace(made),),
        observation="",
        terminated=True,
        truncated=False,
        success=success,
    )


def test_observations_do_not_enter_the_loss_of_actions_with_a_real_template():
    """The embedding of a word that only an observation has gets no gradient as an output."""
    chat = ChatEncoder(family("qwen3"), template_kwargs={"enable_thinking": False})
    asked, said = "WXYZ <|im_end|>", "abc"
    [sequence, again] = collate([tokenized(episode((asked, said), (asked, said)), chat)]).sequences
    for each in (sequence, again):
        assert chat.decode(each.ids[each.sampled].tolist()) == "abc<|im_end|>"
    # The second is what the template shows, and nothing that was said before is learned twice.
    assert chat.decode(again.ids.tolist()).count("abc") == 2
    network = model()
    network.resize_token_embeddings(len(chat.tokenizer))
    Imitator(network, SFTOptimConfig(grad_clip=1e9), "actions").step([sequence, again], lr=0.0)
    head = network.lm_head.weight.grad
    # The gradient of an output that is never the target is positive wherever the state is; of a target it is not.
    state = network.model(input_ids=torch.from_numpy(sequence.ids)[None]).last_hidden_state[0]
    position = int(np.flatnonzero(sequence.sampled)[0]) - 1
    said_id, asked_id = (chat.encode(text)[0] for text in ("a", "W"))
    assert torch.dot(head[said_id], state[position]) < 0 < torch.dot(head[asked_id], state[position])


def test_an_episode_that_is_longer_than_the_models_context_loses_its_last_turns():
    chat = ChatEncoder(family("qwen2.5"))
    turns = [("asked", "said")] * 6
    long, tiny = episode(*turns), episode(("asked " * 50, "said"))
    [sequence] = collate([tokenized(long, chat)]).sequences
    limit = len(sequence) - 1
    found = encode([long, long.each_trace(lambda trace: replace(trace, turns=trace.turns[:2])), tiny], chat, limit)
    assert [len(each[0].turn[each[0].sampled]) > 0 if each else False for each in found.episodes] == [True, True, False]
    assert found.cut == 2
    assert max(found.episodes[0][0].turn) == 4
    assert len(found.episodes[0][0]) <= limit


def test_episodes_with_the_same_start_are_held_out_together_or_not_at_all():
    episodes = [episode(("?", str(group)), seed=seed) for seed in range(20) for group in range(4)]
    trained, held_out = split(episodes, 0.2, seed=1)
    assert (len(trained), len(held_out)) == (64, 16)
    assert {each.seed for each in trained}.isdisjoint(each.seed for each in held_out)
    assert split(episodes, 0.2, seed=1) == (trained, held_out)
    assert split(episodes, 0.0, seed=1) == (episodes, [])
    assert len(split(episodes[:4], 0.5, seed=1).trained) == 4


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path, policy = tmp_path / "played" / "episodes.jsonl", make_policy("random")
    with make_vec("core:Echo-v0", 8, info_methods=policy.info_methods) as envs, Recorder(path) as recorder:
        list(recorder.record(rollout(policy, envs, range(60))))
    return path


def test_of_a_recording_only_the_wanted_episodes_are_imitated(recording, tmp_path):
    wanted = {"id": "", "data": {"recording": str(recording.parent), "held_out": 0.0}, "steps": 1}
    succeeded = [record.seed for record in read(recording) if record.success]
    assert 0 < len(succeeded) < 30
    for name, data in (("all", {}), ("successful", {"successful": True}), ("paid", {"min_return": 1.0})):
        summary = run(tmp_path / name, wanted, {"data": data})
        assert summary.episodes == (60 if name == "all" else len(succeeded))
        assert (summary.held_out_episodes, summary.held_out_loss_after) == (0, None)
    kept = load(tmp_path / "successful" / "demonstrations.jsonl")
    assert [each.seed for each in kept] == succeeded
    assert Result.of(kept).success == 1.0
    recording.unlink()  # a run has its own copy
    assert run(tmp_path / "all", wanted, {"steps": 2}).steps == 2


def test_episodes_that_failed_are_not_imitated():
    data = {"policy": "random", "episodes": 12, "successful": False}
    config = load_sft_config([{"id": "play_envs:Walk", "env": {"fails": 3}, "data": data}])
    wanted, played = demonstrations(config, lambda done, total: None)
    assert 0 < len(wanted) < played == 12
    assert all(each.failure is None for each in wanted)


WRONG = {
    "": "give it an ID, such as game:GuessTheNumber-v0-easy, or --recording FILE, and not both",
    "core:Echo-v0 --recording x.jsonl": "and not both",
    "--recording missing.jsonl": "there is no recording missing.jsonl: `gemx eval ID --out FOLDER` writes one",
    "--recording episodes.jsonl --min-return 2": "of 60 episodes, ",
    "--recording episodes.jsonl --set env.a=1": "env and wrappers are of episodes that are played",
    "--recording notes.txt": "notes.txt, line 1: this is not JSON",
    "core:Ecko-v0": "Did you mean 'core:Echo-v0'",
    "core:Echo-v0 --policy expret": "Did you mean 'expert'",
    "core:Echo-v0 --model ./missing": "there is no model at './missing'",
    "core:Echo-v0 --set optim.lrr=1": "Did you mean 'optim.lr'",
    "core:Echo-v0 --set optim.loss=most": "optim.loss = 'most': input should be 'actions' or 'all'",
    "core:Echo-v0 --set lora.rank=4": "'tiny' begins with random weights",
}


def test_a_wrong_command_is_one_line_that_says_what_to_do(recording, monkeypatch):
    monkeypatch.chdir(recording.parent)
    Path("notes.txt").write_text("hello\n")
    for words, expected in WRONG.items():
        done = CliRunner().invoke(main, ["sft", *words.split()])
        assert (done.exit_code, done.stdout) == (1, ""), words
        assert expected in done.stderr, words
        assert len(done.stderr.splitlines()) == 1, done.stderr
    assert {path.name for path in Path.cwd().iterdir()} == {"notes.txt", "episodes.jsonl"}


def test_a_run_that_is_to_be_resumed_is_told_how():
    for command in ("train", "sft"):
        done = CliRunner().invoke(main, [command, "--resume", "runs/x"])
        assert done.exit_code == 2
        assert f"resumed by its settings: gemx {command} --config RUN/config.toml --out RUN" in done.stderr


def test_the_result_is_printed_and_is_json_if_asked(tmp_path):
    command = ["sft", "core:Echo-v0", "--steps", "2", "--set", "data.episodes=20", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(main, command)
    assert "loss of 2 held-out episodes: " in done.stdout
    assert "2 steps on 18 episodes" in done.stdout
    again = CliRunner().invoke(main, [*command, "--json"])
    assert json.loads(again.stdout) == json.loads((tmp_path / "run" / "summary.json").read_text())
    assert "finished already" in again.stderr
