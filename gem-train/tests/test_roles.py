"""Models that play roles in a run, and a model on this machine that plays one."""

import asyncio
import json
from pathlib import Path

import pytest

import gem
from gem.errors import ConfigError, Fault, UnknownId
from gem.testing.chat_server import Trouble, chat_server
from gem_train.config.training import load_config, may_change
from gem_train.models.tiny import tiny_model, tiny_tokenizer
from gem_train.preflight import check
from gem_train.runs.display import Display
from gem_train.train import train

SMALL = {
    "id": "told_envs:Told",
    "steps": 2,
    "rollout": {"episodes": 8, "num_envs": 8, "max_new_tokens": 4},
    "warmup": {"steps": 2, "episodes": 4},
    "eval": {"episodes": 8},
    "watch": {"stop": False},
}


def test_the_environments_of_a_run_ask_the_models_of_its_settings(tmp_path):
    with chat_server(lambda messages: messages[-1]["content"][-1], Trouble(latency=lambda rng: 0.01)) as server:
        user = {"name": "openai:x", "base_url": server.url}
        config = load_config([SMALL, {"models": {"user": user}, "cache": str(tmp_path / "cache")}])
        assert config.rollout.backend == "thread"
        check(config, tmp_path)
        with Display(quiet=True) as display:
            summary = train(config, tmp_path / "run", display)

    assert (summary.before.failures, summary.after.failures) == (0, 0)
    # All eight environments may ask one of the four questions before its first answer is kept; else there are hundreds.
    assert 4 <= server.requests <= 32
    episodes = [json.loads(line) for line in (tmp_path / "run" / "episodes.jsonl").read_text().splitlines()]
    assert {each["traces"][0]["turns"][0]["observation"] for each in episodes} <= {f"Say {n}." for n in range(4)}
    with pytest.raises(ConfigError, match="no model plays the role 'user'"):
        check(load_config([SMALL]), tmp_path)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"cache": "kept"}, ConfigError, "cache keeps the answers"),
        ({"models": {"user": "nobody:x"}}, UnknownId, "nobody"),
        ({"models": {"user": 3}}, ConfigError, "models"),
    ],
)
def test_models_of_roles_that_do_not_exist_are_refused_before_anything_is_built(settings, error, said, tmp_path):
    with pytest.raises(error, match=said):
        check(load_config([SMALL, settings]), tmp_path)


def test_another_address_of_a_model_is_the_same_run_and_another_model_is_not():
    assert may_change("models.judge.base_url")
    assert may_change("cache")
    assert not may_change("models.judge.model")
    assert not may_change("models.judge")


def test_a_model_on_this_machine_plays_a_role_and_reads_the_system_message(tmp_path: Path):
    tokenizer = tiny_tokenizer([])
    tiny_model(tokenizer, 0).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = {"name": "hf", "model": str(tmp_path), "temperature": 0, "max_new_tokens": 5}
    asked = [{"role": "user", "content": "Is it right?"}]
    with gem.use_models({"judge": model}) as used:
        judge = gem.chat_model("judge")

        async def ask_all():
            return await asyncio.gather(*(judge.ask(asked) for _ in range(5)))

        texts = {answer.text for answer in asyncio.run(ask_all())}
        assert len(texts) == 1
        alone = used.asked["judge"]
        assert (alone.replies, alone.usage.completion > 0) == (5, True)
        judge.ask_sync([{"role": "system", "content": "Be harsh."}, *asked])
        assert used.asked["judge"].usage.prompt > alone.usage.prompt * 6 / 5  # longer than the others
        with pytest.raises(Fault):
            judge.ask_sync(asked, schema=bool)
