"""The policies `hf` and `vllm`: any model plays."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

import gem
from gem.errors import ConfigError, MissingExtra
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.rollout.transcript import Transcript
from gem_train.engines.hf import HFSampler
from gem_train.models.tiny import tiny_model, tiny_tokenizer

LONGEST = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, as any is kept, with probabilities that are far from equal."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = tiny_tokenizer([])
    model = tiny_model(tokenizer, 0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@torch.no_grad()
def test_the_most_likely_tokens_are_those_of_transformers_generate(folder):
    policy = make_policy({"name": "hf", "model": str(folder), "temperature": 0, "max_new_tokens": LONGEST})
    assert isinstance(policy, HFSampler)
    transcripts = {slot: Transcript(f"Question {slot * 'x'}") for slot in range(4)}
    policy.send(transcripts)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    found = policy.recv(4)
    for completion in found.values():
        read = torch.tensor([completion.prompt_ids])
        said = model.generate(read, do_sample=False, max_new_tokens=LONGEST, eos_token_id=list(policy.chat.stop_ids))
        assert completion.ids == tuple(said[0, read.shape[1] :].tolist())
        logprobs = model(said).logits[0, read.shape[1] - 1 : -1].log_softmax(-1).amax(-1)
        torch.testing.assert_close(torch.tensor(completion.logprobs), logprobs, atol=1e-4, rtol=0)
    assert len({completion.ids for completion in found.values()}) > 1


def test_a_model_plays_with_the_settings_that_are_given(folder):
    settings = {"max_new_tokens": 3, "temperature": 0.5, "history": "keep", "rows": 7, "dtype": "bfloat16"}
    policy = make_policy({"name": "hf", "model": str(folder), **settings})
    assert isinstance(policy, HFSampler)
    assert (policy.max_new_tokens, policy.temperature, policy.settings.rows) == (3, 0.5, 7)
    assert (policy.chat.history, policy.model.dtype) == ("keep", torch.bfloat16)


@pytest.mark.parametrize("name", ["hf", "checkpoint"])
def test_replies_come_with_their_tokens_where_recordings_want_them(folder, name):
    setting = "model" if name == "hf" else "path"
    policies = [
        make_policy({"name": name, setting: str(folder), "max_new_tokens": LONGEST, "device": "cpu", **more})
        for more in ({}, {"logprobs": True})
    ]
    with gem.make_vec("core:Echo-v0", 2) as envs:
        plain, shown = (list(rollout(policy, envs, range(3))) for policy in policies)

    for one, other in zip(*(sorted(each, key=lambda episode: episode.seed) for each in (plain, shown)), strict=True):
        said, tokens = one.turns[0].completion, other.turns[0].completion.tokens
        assert said.tokens is None
        assert "".join(tokens.text).startswith(said.text)
        assert (tokens.logprobs, tokens.mask) == (said.logprobs, ())
        assert one.turns[0].observation in tokens.prompt


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "the policy hf needs a model: hf:PATH"),
        ({"model": "/nowhere"}, "there is no model at '/nowhere'"),
        ({"temperature": -1.0}, "temperature is 0, for the most likely tokens, or above 0, not -1.0"),
        ({"rows": 0}, "engine.rows = 0"),
        ({"device": "tpu9"}, "cannot use the device 'tpu9'"),
    ],
)
def test_what_cannot_be_played_is_refused_with_what_to_do(folder, settings, message):
    model = {} if not settings else {"model": str(folder)}
    with pytest.raises(ConfigError, match=message):
        make_policy({"name": "hf", **model, **settings})


def test_without_vllm_its_policy_says_what_to_install(folder, monkeypatch):
    monkeypatch.setattr("gem_train.preflight.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"vllm, which is not installed: docs/engines.md says how"):
        make_policy({"name": "vllm", "model": str(folder)})


def test_what_the_pack_offers_is_imported_without_torch():
    program = (
        "import sys\nfrom gem.packs.importing import import_object\nfrom gem_train import plugin\n"
        "for table in (plugin.gem_policies(), plugin.gem_algorithms()):\n"
        "    for entry_point in table.values():\n        import_object(entry_point)\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
