"""examples/selfplay: its settings are accepted, and what it imitates plays legally and by its card."""

from collections import Counter
from pathlib import Path

import pytest

import gem
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem_train import preflight
from gem_train.config.sources import read_toml
from gem_train.config.training import load_config

FOLDER = Path(__file__).parent.parent / "examples" / "selfplay"


@pytest.fixture(autouse=True)
def _there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(FOLDER)


def test_the_settings_are_accepted(tmp_path: Path) -> None:
    preflight.check(load_config([read_toml(Path("run.toml"))]), tmp_path)


def test_the_beginner_bets_and_calls_more_often_with_a_higher_card() -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    policy = make_policy("beginner:play")
    with gem.make_vec("arena:KuhnPoker-v0", 8, env_kwargs={"rules": False}) as envs:
        for episode in rollout(policy, envs, range(600)):
            assert episode.failure is None
            for turn in episode.turns:
                assert not turn.info.get("malformed")
                card = str(turn.observation).partition("Your card: ")[2][0]
                counts[card, turn.action in ("\\boxed{bet}", "\\boxed{call}")] += 1
    policy.close()
    shares = [counts[card, True] / (counts[card, True] + counts[card, False]) for card in "JQK"]
    assert shares == pytest.approx([1 / 3, 1 / 2, 2 / 3], abs=0.1)
