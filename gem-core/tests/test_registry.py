"""From an id to an environment."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from sample_envs import Counted, Loud, Sum

import gem
from gem.core import Env
from gem.errors import ConfigError, DuplicateId, MissingExtra, PackError, SpecError, UnknownId
from gem.packs.discovery import OWN_PACKS, Pack
from gem.packs.importing import import_object
from gem.packs.lookup import find_named
from gem.packs.make import bind
from gem.packs.registry import Registry
from gem.packs.spec import EnvSpec

pytestmark = pytest.mark.usefixtures("core_only")


def test_make_builds_what_the_id_says() -> None:
    env = gem.make("core:Echo-v0")

    assert type(env).__name__ == "Echo"
    assert env.spec == gem.get_spec("core:Echo-v0")


def test_registered_kwargs_and_limit_reach_the_env_and_those_given_win() -> None:
    gem.register("lab:Sum-v0", Sum, max_turns=7, rounds=5)
    plain, changed = gem.make("lab:Sum-v0"), gem.make("lab:Sum-v0", rounds=2, max_turns=1)

    assert (plain.rounds, plain.largest, plain.max_turns) == (5, 9, 7)
    assert (changed.rounds, changed.largest, changed.max_turns) == (2, 9, 1)


def test_the_spec_of_an_env_builds_the_same_env_again() -> None:
    gem.register("lab:Sum-v0", Sum, max_turns=7, rounds=5)
    env = gem.make("lab:Sum-v0", wrappers=[Counted], rounds=2, max_turns=3)

    assert env.spec is not None
    again = gem.make(env.spec)

    assert (again.rounds, again.max_turns) == (2, 3)
    assert again.spec == env.spec


def test_the_spec_of_an_env_names_its_wrappers_and_builds_them_again() -> None:
    gem.register("lab:Sum-v0", Sum)
    env = gem.make("lab:Sum-v0", wrappers=["sample_envs:Counted", Loud])

    assert env.spec is not None
    assert env.spec.wrappers == ("sample_envs:Counted", "sample_envs:Loud")
    again = gem.make(env.spec)
    assert (type(again), type(again.env), again.spec) == (Loud, Counted, env.spec)


def test_a_wrapper_with_settings_is_data_that_builds_it_again() -> None:
    gem.register("lab:Sum-v0", Sum)
    limit = {"name": "gem.wrappers:TurnLimit", "max_turns": 2}
    env = gem.make("lab:Sum-v0", wrappers=[limit, "concat"])

    assert env.spec is not None
    assert env.spec.wrappers == (limit, "concat")
    again = gem.make(EnvSpec.model_validate_json(env.spec.model_dump_json()))
    assert again.spec == env.spec
    again.reset(seed=0)
    assert [again.step(again.expert_action()).truncated for _ in range(2)] == [False, True]


def test_one_wrapper_with_settings_may_stand_alone_and_stays_as_it_was_given() -> None:
    limit = {"name": "turn_limit", "max_turns": 2}
    env = gem.make("core:Echo-v0", wrappers=limit)
    limit["max_turns"] = 9

    assert env.spec is not None
    assert env.spec.wrappers == ({"name": "turn_limit", "max_turns": 2},)


@pytest.mark.parametrize("id", ["subprocess:Popen", "os:system", "gem.parsing:boxed"])
def test_something_other_than_an_environment_is_not_called(id: str) -> None:
    with pytest.raises(SpecError, match="not an environment"):
        gem.make(id, args=["true"])


@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        ({"name": "gem.wrappers:TurnLimit"}, r"the wrapper 'gem\.wrappers:TurnLimit' needs the argument 'max_turns'"),
        ({"name": "gem.wrappers:TurnLimit", "max_turn": 2}, r"no argument 'max_turn'\. Did you mean 'max_turns'\?"),
        (3, "3 is neither a name nor"),
        ("builtins:repr", "the wrapper 'builtins:repr' returns a str, not a gem.Env"),
        ({"name": "tool_env", "tools": "x", "max_cals": 2}, "takes no argument 'max_cals'. Did you mean 'max_calls'?"),
        ({"max_turns": 2}, r"settings need a 'name' beside them, and \{'max_turns': 2\} does not have one"),
    ],
)
def test_a_wrapper_with_wrong_settings_is_refused(wrapper: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        gem.make("core:Echo-v0", wrappers=[wrapper])


def test_bind_gives_the_spec_of_an_env_without_making_it() -> None:
    spec = gem.register("lab:Sum-v0", Sum, max_turns=7, rounds=5)
    env = gem.make(spec, wrappers=[Counted], largest=3, max_turns=2)

    assert bind(spec, wrappers=[Counted], largest=3, max_turns=2) == env.spec
    assert bind(spec) == gem.make(spec).spec == spec


def test_a_wrapper_that_cannot_be_named_is_described_and_not_guessed_at() -> None:
    gem.register("lab:Sum-v0", Sum)
    env = gem.make("lab:Sum-v0", wrappers=[lambda env: Loud(Counted(env))])

    assert env.spec is not None
    with pytest.raises(UnknownId, match=r"no installed pack has a wrapper .*<lambda>"):
        gem.make(env.spec)


def test_no_limit_given_in_place_of_a_specs_limit_stays_no_limit() -> None:
    gem.register("lab:Sum-v0", Sum, max_turns=7)
    env = gem.make("lab:Sum-v0", max_turns=None)

    assert env.spec is not None
    assert env.max_turns is None
    assert gem.make(env.spec).max_turns is None


def test_what_was_registered_is_listed_by_id() -> None:
    gem.register("lab:Sum-v0", "sample_envs:Sum")
    gem.register("a_lab:Sum-v0", "sample_envs:Sum")

    assert [spec.id for spec in gem.all_specs()] == ["a_lab:Sum-v0", "core:Echo-v0", "lab:Sum-v0"]


@pytest.mark.parametrize("id", ["sample_envs:Sum", "gem.envs.echo:Echo"])
def test_a_class_can_be_named_directly(id: str) -> None:
    env = gem.make(id)

    assert f"{type(env).__module__}:{type(env).__name__}" == id


def test_a_class_whose_name_cannot_name_an_env_is_refused() -> None:
    with pytest.raises(SpecError, match="'sample_envs:_Hidden' is not an environment id"):
        gem.make("sample_envs:_Hidden")


def test_a_registered_id_wins_over_a_module_of_that_name() -> None:
    gem.register("sample_envs:Sum", Sum, rounds=8)

    assert gem.make("sample_envs:Sum").rounds == 8


def test_a_module_does_not_take_the_place_of_a_known_namespace() -> None:
    # `math` and `code` are modules of the standard library.
    with pytest.raises(UnknownId, match="gem-envs-math"):
        Registry([]).find("math:sqrt")


def test_wrappers_apply_in_order_the_last_outermost() -> None:
    env = gem.make("sample_envs:Sum", wrappers=[Counted, Loud])

    assert isinstance(env, Loud)
    assert isinstance(env.env, Counted)


def test_an_env_whose_wrapper_is_refused_is_closed() -> None:
    inner: list[Env] = []

    class Refused(Counted):
        def __init__(self, env: Env) -> None:
            inner.append(env)
            raise ConfigError("it takes no such env")

    for wrappers in ([Refused], [Counted, Refused]):
        with pytest.raises(ConfigError, match="no such env"):
            gem.make("sample_envs:Closable", wrappers=wrappers)

    assert [env.unwrapped.closed for env in inner] == [True, True]


def test_an_unknown_argument_is_refused_with_those_there_are() -> None:
    with pytest.raises(SpecError, match=r"no argument 'round'.*Did you mean 'rounds'.*rounds, largest, max_turns"):
        gem.make("sample_envs:Sum", round=3)


def test_a_signature_is_read_once_and_arguments_are_still_checked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    gem.make("sample_envs:Sum")
    monkeypatch.setattr(inspect, "signature", None)  # calling it would raise

    gem.make("sample_envs:Sum")
    for _ in range(2):
        with pytest.raises(SpecError, match="takes no argument 'colour'"):
            gem.make("sample_envs:Sum", colour="red")


def test_an_argument_out_of_range_is_the_envs_own_error() -> None:
    with pytest.raises(ConfigError):
        gem.make("sample_envs:Sum", max_turns=0)


@pytest.mark.parametrize(
    ("id", "error", "message"),
    [
        ("core:Ecko-v0", UnknownId, "Did you mean 'core:Echo-v0'?"),
        ("core:echo-v0", UnknownId, "Did you mean 'core:Echo-v0'?"),
        ("cor:Echo-v0", UnknownId, "Did you mean 'core:Echo-v0'?"),
        ("zzz:Qqq", UnknownId, "`gemx list` shows every id"),
        ("Echo", SpecError, "is 'namespace:Name"),
        ("no_such_module_here:Echo", UnknownId, "no installed pack"),
        ("sample_envs:Sun", PackError, "Did you mean 'Sum'"),
    ],
)
def test_the_error_of_an_unknown_id_says_what_to_do(id: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        gem.make(id)
    assert message in str(raised.value)


def test_an_id_of_a_pack_that_is_not_installed_names_the_pack_to_install() -> None:
    with pytest.raises(
        UnknownId, match=r"gem-envs-games, which is not installed: pip install \./gem-envs-games in a clone"
    ):
        Registry([]).find("game:Sudoku-v0-easy")


@pytest.mark.parametrize(
    ("installed", "missing"),
    [([], ["gem-envs-math", "gem-envs-code", "gem-envs-qa"]), (["gem-envs-math"], ["gem-envs-code", "gem-envs-qa"])],
)
def test_an_id_of_a_namespace_that_packs_share_names_each_pack_to_install(
    installed: list[str], missing: list[str]
) -> None:
    packs = [Pack(name, "1.0", "gem_envs_none.plugin", ("eval",), state="loaded") for name in installed]
    with pytest.raises(UnknownId) as raised:
        Registry(packs).find("eval:MATH500")

    named = [name for name in OWN_PACKS if f"{name}, which also has 'eval' ids, is not installed" in str(raised.value)]
    assert sorted(named) == sorted(missing)


def test_an_id_is_registered_once() -> None:
    gem.register("lab:Sum-v0", Sum)

    with pytest.raises(DuplicateId, match=r"earlier gem\.register"):
        gem.register("lab:Sum-v0", Sum)
    with pytest.raises(DuplicateId, match="gem-core"):
        gem.register("core:Echo-v0", Sum)


def test_what_other_processes_could_not_find_is_not_registered() -> None:
    class Local(Sum):
        pass

    with pytest.raises(SpecError, match="top level"):
        gem.register("lab:Local-v0", Local)
    with pytest.raises(SpecError, match="entry point"):
        gem.register("lab:Sum-v0", "sample_envs.Sum")
    with pytest.raises(SpecError, match="not an environment id"):
        gem.register("Sum", Sum)


def test_a_missing_dependency_names_its_extra() -> None:
    spec = EnvSpec(id="lab:Data", entry_point="no_such_module_here:Data", extra="gem-envs-lab[data]")

    with pytest.raises(MissingExtra, match=r"needs no_such_module_here: pip install 'gem-envs-lab\[data\]'"):
        gem.make(spec)
    with pytest.raises(PackError, match="'no_such_module_here:Data' cannot be imported: ModuleNotFoundError"):
        gem.make(spec.model_copy(update={"extra": None}))


def test_policies_and_wrappers_are_found_by_name() -> None:
    assert find_named("policy", "expert")().info_methods == ("expert_action",)
    with pytest.raises(UnknownId, match="Did you mean 'expert'"):
        find_named("policy", "exprt")
    with pytest.raises(UnknownId, match="no installed pack has a wrapper 'nonsense'"):
        find_named("wrapper", "nonsense")
    with pytest.raises(UnknownId, match="nonsense"):
        gem.make("core:Echo-v0", wrappers="nonsense")
    with pytest.raises(UnknownId, match="the module 'nosuch' of the wrapper 'nosuch:x' does not exist"):
        gem.make("core:Echo-v0", wrappers="nosuch:x")


def test_an_object_is_imported_by_its_dotted_name() -> None:
    assert import_object("gem.core:Env.reset") is Env.reset


@pytest.mark.parametrize("what", [Sum, Sum(), None, 5])
def test_make_takes_no_class_and_says_what_to_do_with_one(what: Any) -> None:
    with pytest.raises(SpecError, match=r"an env is made by its id, .* or give it an id with gem\.register"):
        gem.make(what)


def test_an_abstract_class_is_refused_by_what_it_does_not_define() -> None:
    spec = EnvSpec(id="lab:Half-v0", entry_point="sample_envs:Half")

    with pytest.raises(SpecError, match=r":Half' cannot be made: its class does not define sample_action, step$"):
        gem.make(spec)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", r"'lab_{0}:Env' cannot be imported: ZeroDivisionError: division by zero \(lab_{0}\.py, line 1\)$"),
        ("def", r"cannot be imported: SyntaxError: invalid syntax \(lab_{0}\.py, line 1\)$"),
        ("raise SystemExit(3)", r"cannot be imported: SystemExit: 3 \(lab_{0}\.py, line 1\)$"),
        ("import no_such_module", r"cannot be imported: ModuleNotFoundError: No module named 'no_such_module'$"),
        ("", "lab_{0} has no 'Env'"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    module = f"lab_{request.node.callspec.indices['text']}"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(PackError, match=message.replace("lab_{0}", module)) as raised:
        gem.make(EnvSpec(id="lab:Env-v0", entry_point=f"{module}:Env"))
    assert "\n" not in str(raised.value)
