"""Settings: where they come from, and the errors for wrong ones."""

import pytest

from gem.errors import ConfigError, UnknownId
from gem_train.config.sources import parse_setting, read_toml, to_toml
from gem_train.config.training import load_config

ECHO = {"id": "core:Echo-v0"}


def test_later_sources_win():
    config = load_config([ECHO, {"optim": {"lr": 1e-4, "epochs": 2}}, parse_setting("optim.lr=5e-4")])
    assert (config.optim.lr, config.optim.epochs) == (5e-4, 2)


def test_settings_override_the_tiny_preset():
    assert load_config([ECHO]).warmup.steps > 0
    assert load_config([ECHO, {"warmup": {"steps": 7}}]).warmup.steps == 7
    assert load_config([ECHO, {"model": "some/model"}]).warmup.steps == 0


WRONG = [
    ("stepps=3", "there is no setting 'stepps'. Did you mean 'steps'?"),
    ("optim.lrr=1", "Did you mean 'optim.lr'"),
    ("credit.gama=1", "Did you mean 'credit.gamma'"),
    ("credit.clip=-1", "credit.clip = -1"),
    ("credit.importance_cap=2", "it needs old_logprobs"),
    ("credit.importance=action", "set importance_cap"),
    ("credit.old_logprobs=learner credit.importance_cap=1 credit.importance_beyond=reject", "it must be above 1"),
    ("credit.old_logprobs=learner credit.importance_cap=2 credit.importance=geometric", "importance_beyond = 'reject'"),
    ("credit.policy_loss=cispo credit.dual_clip=3", "bounded by clip_high"),
    ("credit.ratio=action credit.actions=token", "leave ratio at 'token'"),
    ("rollouts.episodes=3", "Did you mean 'rollout'?"),
    ("rollout.engine=hff", "there is no engine 'hff'. Did you mean 'hf'? Known: hf"),
    ("rollout.async=true", "set rollout.max_lag, to at least 1"),
    ("rollout.late=drop", "rollout.late=drop plays episodes whose weights have changed"),
    ("rollout.async=true rollout.max_lag=1 rollout.engine=vllm engine.sleep=true", "it cannot sleep meanwhile"),
    ("rollout.asynchronous=true", "Did you mean 'rollout.async'"),
    ("rollout.max_lag=2 credit.old_logprobs=learner", "or set credit.importance_cap"),
    ("rollout.overlong_tokens=40", "are the last of rollout.max_new_tokens (32): set fewer"),
    ("rollout.dynamic_sampling=2", "set rollout.group_size, such as to 8 (now 1)"),
    ("lr=1e-3", "there is no setting 'lr'. Did you mean 'optim.lr' or 'warmup.lr'?"),
    ("optim.temperature=1", "Did you mean 'rollout.temperature' or 'eval.temperature'?"),
    ("engine.speed=9", "there is no setting 'engine.speed'"),
    ("optim.lr=-1", "optim.lr = -1"),
    ("optim.lr=fast", "optim.lr = 'fast'"),
    ("rollout.history=forget", "rollout.history = 'forget'"),
    ("wrappers.name=tool_env", "wrappers is names separated by commas"),
    ("seed=-1", "seed = -1"),
    ("optim.lr", "key=value"),
    ("weights=bfloat16", "set dtype=bfloat16, too"),
    ("attention=flash_atention_2 dtype=bfloat16", "Did you mean 'flash_attention_2'"),
    ("attention=a/b/c dtype=bfloat16", "Known: auto, sdpa"),
    ("attention=flash_attention_2", "set dtype=bfloat16"),
    ("algorithm=reinforce credit.per_env=true", "there is no setting 'credit.per_env'"),
    ("algorithm=rebm", "Did you mean 'rebn'"),
    ('mix=[{id="core:Echo-v0",wieght=2}]', "no setting 'mix.0.wieght'. Did you mean 'mix.0.weight'"),
    ('mix=[{id="core:Echo-v0",weight=0}]', "mix.0.weight = 0: input should be greater than 0"),
    ('id=a:B mix=[{id="core:Echo-v0"}]', "the ids are those of the tables [[mix]], core:Echo-v0: leave"),
    ("mix=[{weight=1}]", "mix.0.id is not set"),
    ("algorithm=gem_train.algorithms.rebn:ReBNSettings", "is not an algorithm"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG, ids=[settings for settings, _ in WRONG])
def test_the_error_of_wrong_settings_names_them_and_suggests_others(settings, message):
    with pytest.raises((ConfigError, UnknownId)) as caught:
        load_config([ECHO, *map(parse_setting, settings.split())])
    assert message in str(caught.value)


def test_late_episodes_need_a_correction_for_the_weights_that_they_were_sampled_under():
    late = [ECHO, {"rollout": {"max_lag": 2}}]
    assert load_config(late).rollout.max_lag == 2
    assert load_config([*late, {"credit": {"old_logprobs": "learner", "importance_cap": 2.0}}]).rollout.max_lag == 2


def test_each_algorithm_has_settings_of_its_own():
    assert load_config([ECHO, parse_setting("credit.per_env=true")]).credit.model_dump()["per_env"]


def test_an_algorithm_is_found_by_the_path_of_its_class():
    config = load_config([ECHO, {"algorithm": "gem_train.algorithms.rebn:ReBN"}])
    assert config.credit == load_config([ECHO]).credit


def test_an_environment_of_a_mix_has_its_arguments_over_those_of_all_and_its_wrappers_inside():
    tables = [{**ECHO, "env": {"word": "own"}, "wrappers": "inner"}, {"id": "core:Other-v0"}]
    config = load_config([{"mix": tables, "env": {"word": "of all"}, "wrappers": "outer"}])
    own, other = config.trained.parts
    assert (own.env, own.wrappers) == ({"word": "own"}, ["inner", "outer"])
    assert (other.env, other.wrappers) == ({"word": "of all"}, ["outer"])


def test_an_evaluation_has_its_arguments_over_those_of_training_and_its_split_over_both():
    own = {"env": {"word": "own", "split": "valid"}, "split": "test"}
    config = load_config([ECHO, {"env": {"word": "of training", "size": 3}, "eval": own}])
    assert config.evaluated.env == {"word": "own", "size": 3, "split": "test"}
    assert config.trained.env == {"word": "of training", "size": 3}


def test_the_levels_of_a_mix_begin_with_the_lowest_and_have_its_weights():
    tables = [
        {**ECHO, "level": 3},
        {"id": "core:Other-v0", "level": 1, "weight": 2},
        {"id": "core:Third-v0", "level": 1},
    ]
    levels = [{"core:Other-v0": 2.0, "core:Third-v0": 1.0}, {"core:Echo-v0": 1.0}]
    assert load_config([{"mix": tables}]).trained.levels == levels


def test_levels_cannot_be_chosen_where_a_mix_has_none():
    with pytest.raises(ConfigError, match=r"tasks\.sampler=levels .* give its tables a level"):
        load_config([{"mix": [ECHO, {"id": "core:Other-v0"}]}, parse_setting("tasks.sampler=levels")])


def test_values_are_read_as_toml_or_otherwise_as_text():
    assert parse_setting("a.b=[1, 2]") == {"a": {"b": [1, 2]}}
    assert parse_setting("model=Qwen/Qwen3-1.7B") == {"model": "Qwen/Qwen3-1.7B"}


def test_a_config_written_to_a_file_is_read_back(tmp_path):
    config = load_config([ECHO, parse_setting("env.word='x'"), parse_setting("optim.lr_end=1e-5")])
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config))
    assert load_config([read_toml(path)]) == config


def test_wrappers_may_be_names_or_tables(tmp_path):
    tools = {"name": "tool_env", "tools": ["python", {"name": "search", "topk": 2}], "format": "hermes"}
    path = tmp_path / "config.toml"
    path.write_text(to_toml(load_config([ECHO, {"wrappers": [tools, "concat"]}])))
    assert load_config([read_toml(path)]).wrappers == [tools, "concat"]
    assert load_config([ECHO, parse_setting("wrappers=python_tool")]).wrappers == "python_tool"
    setting = parse_setting('wrappers=[{name = "tool_env", tools = "python", max_calls = 3}]')
    assert (
        parse_setting('wrappers=[{"name": "tool_env", "tools": "python", "max_calls": 3}]') == setting
    )  # as gemx eval has it
    assert load_config([ECHO, setting]).wrappers == [{"name": "tool_env", "tools": "python", "max_calls": 3}]


def test_a_file_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"missing\.toml"):
        read_toml(tmp_path / "missing.toml")
    (tmp_path / "broken.toml").write_text("a = ")
    with pytest.raises(ConfigError, match="not TOML"):
        read_toml(tmp_path / "broken.toml")
    (tmp_path / "digits.toml").write_text("seed = " + "9" * 5000)
    with pytest.raises(ConfigError, match="not TOML: Exceeds the limit"):
        read_toml(tmp_path / "digits.toml")


@pytest.mark.parametrize("key", ["a." * 50 + "a", '"a" . ' * 50 + "a", "'\\'." * 50 + "a", r'"\"".' * 50 + "a"])
def test_a_key_of_many_parts_which_takes_tomllib_gigabytes_is_refused(key, tmp_path):
    (tmp_path / "deep.toml").write_text(f"{key} = 1\n")
    with pytest.raises(ConfigError, match="a key has more than 50 parts"):
        read_toml(tmp_path / "deep.toml")
    (tmp_path / "large.toml").write_text("# " + "a" * 2**18)
    with pytest.raises(ConfigError, match=r"cannot read the config file .*: it has more than 262,144 bytes"):
        read_toml(tmp_path / "large.toml")
