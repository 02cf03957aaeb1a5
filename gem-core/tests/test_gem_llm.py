"""Names of gem-llm raise an error that says what to write instead."""

import pytest
from sample_envs import Counted, Sum

import gem
from gem.core import Env


@pytest.mark.parametrize("env", [Sum(), Counted(Counted(Sum()))])
@pytest.mark.parametrize(
    ("name", "instead"),
    [("sample_random_action", r"sample_action\(\)"), ("spawn", r"gem\.make\(env\.spec, …\).* fork\(n\)")],
)
def test_a_method_of_gem_llm_names_its_successor(env: Env, name: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=f"'{name}' is gem-llm's name; write {instead}"):
        getattr(env, name)
    assert not hasattr(env, name)


@pytest.mark.parametrize(("name", "instead"), [("print_envs", r"gem\.all_specs\(\)"), ("EnvWrapper", r"gem\.Wrapper")])
def test_a_function_of_gem_llm_names_its_successor(name: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=f"'{name}' is gem-llm's name; write {instead}"):
        getattr(gem, name)
    with pytest.raises(AttributeError, match="module 'gem' has no attribute 'nonsense'"):
        gem.nonsense  # noqa: B018
