"""Models that play roles in an evaluation: settings, commands, budgets over all of them, and what is reported."""

import json

import pytest
from click.testing import CliRunner

import gem
from gem.cli.main import main
from gem.errors import ConfigError, RecordError
from gem.record import read
from gem.testing.chat_server import Trouble, chat_server
from gem_eval import Budget, evaluate, read_models, read_settings, read_suite
from gem_eval.trust import needs_trust

pytestmark = pytest.mark.usefixtures("core_only")

SHOP = "role_envs:Shop"


def shop(messages):
    """Both the customer, who wants four words, and the agent, who says back what it reads."""
    said = messages[-1]["content"]
    return "one two three four" if said.startswith("wish") else said


def models_at(server, **settings):
    return {"user": {"name": "openai", "model": "user", "base_url": server.url, **settings}}


def agent_at(server):
    return {"name": "openai", "model": "agent", "base_url": server.url}


def tokens_at(server, model):
    """Tokens of the requests for a model, as the server counts them."""
    asked = [body["messages"] for body in server.bodies if body["model"] == model]
    return sum(len(str(m["content"]).split()) for each in asked for m in each), len(asked)


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_the_summary_says_what_each_role_was_asked_for(backend, tmp_path):
    with chat_server(shop) as server:
        prices = {"prices": (1000, 0)}
        found = evaluate(
            SHOP, agent_at(server), episodes=6, backend=backend, models=models_at(server, **prices), out=tmp_path,
            budget=Budget(prices=(1, 1)),
        )  # fmt: skip
        prompt, requests = tokens_at(server, "user")
        read_by_agent, _ = tokens_at(server, "agent")

    total = found.total()
    assert (total.episodes, total.success, total.prompt_tokens) == (6, 1.0, read_by_agent)
    assert total.floors == {}
    of_user = found.as_json()["roles"]["user"]
    assert (of_user["replies"], of_user["requests"], of_user["prompt_tokens"]) == (12, requests, prompt)
    assert of_user["cost"] == pytest.approx(prompt / 1000)
    assert found.meter.cost == pytest.approx(total.cost + of_user["cost"])
    assert found.meter.tokens == sum(
        each["prompt_tokens"] + each["completion_tokens"] for each in (found.total().as_json(), of_user)
    )
    assert json.loads((tmp_path / "summary.json").read_text())["roles"] == found.as_json()["roles"]
    assert server.url not in (tmp_path / "episodes.jsonl").read_text()


@pytest.mark.parametrize("limit", ["tokens", "cost"])
@pytest.mark.parametrize("num_envs", [1, 8])
def test_a_budget_counts_what_roles_use(limit, num_envs, tmp_path):
    """An episode takes 8 tokens of the agent, and 22 of the user: 6 when it begins."""
    budget = {"tokens": Budget(max_tokens=1000), "cost": Budget(max_cost=1, prices=(1000, 1000))}[limit]
    with chat_server(shop, Trouble(latency=lambda rng: rng.random() / 500)) as server:
        found = evaluate(
            SHOP, agent_at(server), episodes=100, num_envs=num_envs, backend="thread", models=models_at(server),
            budget=budget, out=tmp_path,
        )  # fmt: skip

    used = found.meter.tokens
    assert found.budget_spent
    assert found.total().failures == 0
    assert 20 <= found.played < 50
    assert 800 <= used <= 1000 + 6 * num_envs  # the user of a new episode is asked before the agent
    assert used > 2 * (found.meter.spent.prompt + found.meter.spent.completion)


def test_the_cache_saves_what_roles_would_use(tmp_path):
    with chat_server(shop) as server:
        for _ in range(2):
            before = server.requests
            found = evaluate(
                SHOP, agent_at(server), episodes=4, models=models_at(server), cache=tmp_path / "kept", backend="thread"
            )
            assert found.total().success == 1.0
    assert server.requests == before + 4
    assert (found.roles["user"].cached, found.roles["user"].usage.prompt) == (8, 0)


def test_the_command_takes_roles_on_the_server_of_the_model_and_a_suite_has_them_as_tables(tmp_path):
    suite = tmp_path / "shops.toml"
    with chat_server(shop) as server:
        suite.write_text(
            f'[shop]\nids = ["{SHOP}"]\nepisodes = 3\n'
            f'[models.user]\nname = "openai:user"\nbase_url = "{server.url}"\ntemperature = 0.5\nprices = [2, 2]\n'
        )
        assert [group.name for group in read_suite(suite)] == ["shop"]
        assert read_models(suite)["user"]["temperature"] == 0.5
        model = ["--model", "openai:agent", "--base-url", server.url]
        role = ["--role", "user=openai:user", "--role-arg", "user.temperature=0.25", "--role-arg", "user.prices=1,1"]
        for command in (["--suite", str(suite)], [SHOP, "--episodes", "3", *role]):
            asked = len(server.bodies)
            ran = CliRunner().invoke(main, ["eval", *command, *model, "--prices", "1,1", "--json"])
            assert ran.exit_code == 0, ran.output
            found = json.loads(ran.stdout)
            assert found["success"] == 1.0
            assert found["roles"]["user"]["replies"] == 6
            temperature = {body.get("temperature") for body in server.bodies[asked:] if body["model"] == "user"}
            assert temperature == {0.25 if SHOP in command else 0.5}
            assert "prices" not in server.bodies[asked]
        shown = CliRunner().invoke(main, ["eval", SHOP, "--episodes", "3", *role, *model])
        assert "6 replies, " in shown.output


def test_an_env_whose_role_nobody_set_is_refused_before_anything_is_asked():
    ran = CliRunner().invoke(main, ["eval", SHOP, "--episodes", "1"])

    assert ran.exit_code != 0
    assert "--role user=openai:NAME" in ran.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--role", "user"], "ROLE=MODEL"),
        (["--role", "user=nobody:x"], "nobody"),
        (["--role", "a user=random"], "a role is a word"),
        (["--role-arg", "user.temperature=0"], "of a role that --role sets"),
        (["--role", "user=openai:x", "--role-arg", "user.prices=cheap"], "IN,OUT"),
        (["--role", "user=openai:x", "--role-arg", "user.heat=1", "--base-url", "http://localhost:1/v1"], "heat"),
        (["--cache", "kept"], "no role is set"),
    ],
)
def test_roles_that_are_not_well_formed_are_refused(options, said):
    ran = CliRunner().invoke(main, ["eval", SHOP, "--episodes", "1", *options])

    assert ran.exit_code not in (0, 3)
    assert said in ran.output


def test_another_judge_is_another_evaluation_and_a_folder_of_others_asks_for_trust(tmp_path):
    out = tmp_path / "out"
    with chat_server(shop) as server:
        options = {"episodes": 2, "backend": "thread", "out": out}
        evaluate(SHOP, agent_at(server), models=models_at(server), **options)
        again = evaluate(SHOP, agent_at(server), models=models_at(server, timeout=9, prices=(1, 1)), **options)
        assert (again.resumed, again.roles) == (2, {})
        with pytest.raises(ConfigError, match="models of roles"):
            evaluate(SHOP, agent_at(server), models=models_at(server, temperature=1), **options)
        assert len(list(read(out))) == 2
    assert needs_trust(read_settings(out, trust=True))
    with pytest.raises(RecordError, match="--trust"):
        read_settings(out)


def test_a_budget_ends_random_play_that_uses_roles_too():
    with chat_server(shop) as server:
        found = evaluate(
            SHOP, "random", episodes=100, num_envs=1, models=models_at(server), budget=Budget(max_tokens=220)
        )

    assert found.budget_spent
    assert 9 <= found.played <= 11


def test_a_budget_counts_models_that_the_caller_has_set_for_this_evaluation_alone():
    with chat_server(shop) as server, gem.use_models(models_at(server)) as used:
        options = {"num_envs": 1, "floors": False, "budget": Budget(max_tokens=300)}
        for _ in range(2):
            found = evaluate(SHOP, agent_at(server), episodes=100, **options)
            assert found.budget_spent
            assert 9 <= found.played <= 10
            assert found.meter.tokens <= 306
        assert used.asked["user"].replies == 2 * found.roles["user"].replies
