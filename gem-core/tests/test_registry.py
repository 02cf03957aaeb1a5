"""From an id to an environment."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sample_envs import Counted, Loud, Named, Sum

import gem
from gem.core import Env
from gem.errors import ConfigError, DuplicateId, MissingExtra, PackError, SpecError, UnknownId
from gem.packs.discovery import OWN_PACKS, Pack
from gem.packs.lookup import find_named
from gem.packs.make import bind
from gem.packs.preflight import check_envs
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


def test_arguments_of_an_env_may_have_the_names_of_ours() -> None:
    arguments = {"id": "a", "ids": "b", "entry_point": "c", "spec": "d"}
    gem.register("lab:Named", Named, **arguments)

    assert gem.make("lab:Named").unwrapped.taken == ("a", "b", "c", "d")
    [checked] = check_envs("lab:Named", (), **{**arguments, "ids": "e"}).values()
    assert gem.make(checked.spec).unwrapped.taken == ("a", "e", "c", "d")


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
    again = gem.make(msgspec.json.decode(msgspec.json.encode(env.spec), type=EnvSpec))
    assert again.spec == env.spec
    again.reset(seed=0)
    assert [again.step(again.expert_action()).truncated for _ in range(2)] == [False, True]


def test_one_wrapper_with_settings_may_stand_alone_and_stays_as_it_was_given() -> None:
    limit = {"name": "turn_limit", "max_turns": 2}
    env = gem.make("core:Echo-v0", wrappers=limit)
    limit["max_turns"] = 9

    assert env.spec is not None
    assert env.spec.wrappers == ({"name": "turn_limit", "max_turns": 2},)


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


@pytest.mark.parametrize("id", ["sample_envs:Sum", "gem.packs.echo:Echo"])
def test_a_class_can_be_named_directly(id: str) -> None:
    env = gem.make(id)

    assert f"{type(env).__module__}:{type(env).__name__}" == id


def test_a_registered_id_wins_over_a_module_of_that_name() -> None:
    gem.register("sample_envs:Sum", Sum, rounds=8)

    assert gem.make("sample_envs:Sum").rounds == 8


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


def test_a_signature_is_read_once_and_arguments_are_still_checked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    gem.make("sample_envs:Sum")
    monkeypatch.setattr(inspect, "signature", None)  # calling it would raise

    gem.make("sample_envs:Sum")
    for _ in range(2):
        with pytest.raises(SpecError, match="takes no argument 'colour'"):
            gem.make("sample_envs:Sum", colour="red")


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


def wrapped(wrapper: Any) -> Callable[[], object]:
    return lambda: gem.make("core:Echo-v0", wrappers=[wrapper])


def spec(entry_point: str, extra: str | None = None) -> EnvSpec:
    return EnvSpec(id="lab:Data", entry_point=entry_point, extra=extra)


def local() -> object:
    class Local(Sum):
        pass

    return gem.register("lab:Local-v0", Local)


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: gem.make("subprocess:Popen", args=["true"]), SpecError, "not an environment"),
    (lambda: gem.make("gem.answers:boxed", args=["true"]), SpecError, "not an environment"),
    *((lambda what=what: gem.make(what), SpecError, "with gem.register") for what in (Sum, Sum(), None, 5)),
    (wrapped({"name": "gem.wrappers:TurnLimit"}), SpecError, "needs the argument 'max_turns'"),
    (wrapped({"name": "gem.wrappers:TurnLimit", "max_turn": 2}), SpecError, "Did you mean 'max_turns'?"),
    (wrapped({"name": "tool_env", "tools": "x", "max_cals": 2}), SpecError, "Did you mean 'max_calls'?"),
    (wrapped({"max_turns": 2}), SpecError, "settings need a 'name' beside them"),
    (wrapped(3), SpecError, "3 is neither a name nor"),
    (wrapped("builtins:repr"), SpecError, "returns a str, not a gem.Env"),
    (wrapped("nonsense"), UnknownId, "no installed pack has a wrapper 'nonsense'"),
    (wrapped("nosuch:x"), UnknownId, "the module 'nosuch' of the wrapper 'nosuch:x' does not exist"),
    (lambda: find_named("policy", "exprt"), UnknownId, "Did you mean 'expert'"),
    (lambda: gem.make("sample_envs:_Hidden"), SpecError, "'sample_envs:_Hidden' is not an environment id"),
    (lambda: gem.make("sample_envs:Sum", round=3), SpecError, "Did you mean 'rounds'? It takes: rounds, largest"),
    (lambda: gem.make("sample_envs:Sum", max_turns=0), ConfigError, "max_turns"),
    (lambda: gem.make("core:Ecko-v0"), UnknownId, "Did you mean 'core:Echo-v0'?"),
    (lambda: gem.make("core:echo-v0"), UnknownId, "Did you mean 'core:Echo-v0'?"),
    (lambda: gem.make("cor:Echo-v0"), UnknownId, "Did you mean 'core:Echo-v0'?"),
    (lambda: gem.make("zzz:Qqq"), UnknownId, "`gemx list` shows every id"),
    (lambda: gem.make("Echo"), SpecError, "is 'namespace:Name"),
    (lambda: gem.make("no_such_module_here:Echo"), UnknownId, "no installed pack"),
    (lambda: gem.make("sample_envs:Sun"), PackError, "Did you mean 'Sum'"),
    (lambda: gem.make(spec("sample_envs:Half")), SpecError, "its class does not define sample_action, step"),
    (lambda: gem.make(spec("no_such:Data", "gem-envs-lab[data]")), MissingExtra, "pip install 'gem-envs-lab[data]'"),
    (lambda: gem.make(spec("no_such:Data")), PackError, "cannot be imported: ModuleNotFoundError"),
    # `math` and `code` are modules of the standard library.
    (lambda: Registry([]).find("math:sqrt"), UnknownId, "gem-envs-math"),
    (lambda: Registry([]).find("game:Sudoku-v0-easy"), UnknownId, "pip install ./gem-envs-games in a clone"),
    (lambda: [gem.register("lab:Sum-v0", Sum) for _ in range(2)], DuplicateId, "earlier gem.register"),
    (lambda: gem.register("core:Echo-v0", Sum), DuplicateId, "gem-core"),
    (local, SpecError, "top level"),
    (lambda: gem.register("lab:Sum-v0", "sample_envs.Sum"), SpecError, "entry point"),
    (lambda: gem.register("Sum", Sum), SpecError, "not an environment id"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_cannot_be_made_found_or_registered_says_why(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()
