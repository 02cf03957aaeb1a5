"""Budgets of `gem_eval`: of tokens, cost and minutes, with one request at a time and with many."""

import random
import time

import pytest
from click.testing import CliRunner

from gem.cli.main import main
from gem.episode import Completion, Usage
from gem.errors import Failure
from gem.record import read
from gem.rollout.policy import Policy
from gem.testing.chat_server import chat_server
from gem_eval import Budget, evaluate

pytestmark = pytest.mark.usefixtures("core_only")

SUM = "sample_envs:Sum"


class Server(Policy):
    """Answers some of its requests, the oldest first: with `text(rng)`, and `usage(of its words)`, if it counts. The
    first ones fail."""

    def __init__(self, text, usage=None, at_once=10**6, fails=0):
        self.fails = fails
        self.text, self.usage, self.at_once = text, usage, at_once
        self.rng = random.Random(0)
        self.asked, self.most, self.replies = [], 0, 0

    def send(self, transcripts):
        self.asked += transcripts
        self.most = max(self.most, len(self.asked))

    def recv(self, min_results=1, timeout=None):
        ready, self.asked = self.asked[: self.at_once], self.asked[self.at_once :]
        self.replies += len(ready)
        return dict(map(self.reply, ready))

    def reply(self, slot):
        self.fails -= 1
        if self.fails >= 0:
            return slot, Failure("it is on fire", "")
        text = self.text(self.rng)
        return slot, Completion(text, usage=self.usage and self.usage(len(text.split())))

    def forget(self, slot):
        self.asked = [each for each in self.asked if each != slot]


def spending():
    """Replies of 15 tokens, which a game survives."""
    return Server(lambda rng: "\\boxed{0}", lambda words: Usage(10, 5))


def thousands(usage, fails=0):
    """Replies of 1,000 tokens, by their 4,000 characters, on average, which a game survives."""
    return Server(lambda rng: "\\boxed{0}" + rng.randint(500, 1500) * " abc", usage, at_once=7, fails=fails)


def used(found):
    return found.meter.spent.prompt + found.meter.spent.completion


@pytest.mark.parametrize(
    "budget",
    [Budget(max_tokens=150), Budget(max_cost=0.15, prices=(1000, 1000)), Budget(max_cost=0.1, prices=(0, 2000, 0))],
    ids=["tokens", "cost", "cost of replies"],
)
@pytest.mark.parametrize("num_envs", [1, 2, 64])
def test_a_budget_ends_an_evaluation_in_order_and_it_can_be_resumed(budget, num_envs, tmp_path):
    """Each episode takes three replies of 15 tokens, and ten replies are the budget."""
    out = tmp_path / "out"
    options = {"episodes": 80, "num_envs": num_envs, "max_turns": 3, "floors": False}
    found = evaluate(SUM, spending(), **options, budget=budget, out=out)

    assert (found.budget_spent, found.played, found.asked, found.total().failures) == (True, 3, 80, 0)
    assert found.meter.spent.prompt == 90
    assert found.as_json()["partial"] is True
    assert len(list(read(out))) == 3
    again = evaluate(SUM, spending(), **options, out=out)
    assert (again.resumed, again.played, again.budget_spent) == (3, 80, False)


@pytest.mark.parametrize(
    ("usage", "rate"),
    [
        (lambda words: Usage(25, words), 1),
        (None, 1),
        (lambda words: Usage(), 1),
        (lambda words: Usage(1, 1), 1),
        (lambda words: Usage(250, 10 * words), 10),
    ],
    ids=["honest", "no usage", "zeros", "too little", "too much"],
)
@pytest.mark.parametrize("tokens", [100, 30_000, 300_000])
@pytest.mark.parametrize("turns", [1, 3])
def test_a_budget_holds_with_many_episodes_at_once_whatever_the_server_counts(usage, rate, tokens, turns):
    server = thousands(usage)
    options = {"episodes": 400, "num_envs": 64, "max_turns": turns, "floors": False}
    found = evaluate(SUM, server, **options, budget=Budget(max_tokens=tokens))

    episode, reply = turns * rate * 1000, rate * 1500
    assert found.budget_spent
    assert tokens - max(0.05 * tokens, episode + reply) <= used(found) <= tokens + max(0.05 * tokens, reply)
    # What has begun is played to its end, if the budget allows one episode at all.
    assert server.replies <= turns * (found.played + 1)


@pytest.mark.parametrize("fails", [1, 30, 200])
def test_requests_that_fail_say_nothing_of_what_a_reply_costs(fails):
    options = {"episodes": 400, "num_envs": 64, "max_turns": 1, "floors": False}
    found = evaluate(SUM, thousands(None, fails=fails), **options, budget=Budget(max_tokens=30_000))

    assert 28_000 <= used(found) <= 31_500


def test_where_every_request_fails_some_fail_at_once():
    broken = thousands(None, fails=400)
    lost = evaluate(SUM, broken, episodes=400, num_envs=64, floors=False, budget=Budget(max_tokens=30_000))

    assert (len(lost.failed), broken.most) == (400, 4)


@pytest.mark.parametrize("tokens", [1, 40])
def test_the_command_ends_with_the_status_of_a_partial_report_if_no_episode_fits_too(tokens):
    with chat_server(lambda messages: "\\boxed{0}") as server:
        command = ["eval", SUM, "--model", "openai:any", "--base-url", server.url, "--max-turns", "3", "--no-floors"]
        done = CliRunner().invoke(main, [*command, "--episodes", "500", "--max-tokens", str(tokens)])
        assert server.requests <= 4
    assert (done.exit_code, "the budget is spent" in done.stdout) == (3, True)


@pytest.mark.parametrize("limit", [{"max_tokens": 10**7}, {"max_cost": 10.0}, {"max_cost": 10.0, "max_tokens": 10**7}])
def test_a_budget_that_is_far_away_holds_one_request_back_until_the_first_reply(limit):
    server = thousands(None)
    found = evaluate(
        SUM, server, episodes=80, num_envs=64, max_turns=3, floors=False, budget=Budget(**limit, prices=(1, 1))
    )

    assert (found.played, found.budget_spent, server.most) == (80, False, 64)


def test_the_limit_that_is_nearer_ends_an_evaluation():
    options = {"episodes": 80, "num_envs": 64, "max_turns": 3, "floors": False}
    for tokens, cost in ((150, 9.0), (10**6, 0.15)):
        budget = Budget(max_tokens=tokens, max_cost=cost, prices=(1000, 1000))
        assert evaluate(SUM, spending(), **options, budget=budget).played == 3


@pytest.mark.parametrize("usage", [None, Usage(), Usage(1, 1)], ids=["no usage", "zeros", "too little"])
def test_tokens_that_a_server_does_not_count_are_estimated_where_there_is_a_budget(usage):
    options = {"episodes": 200, "num_envs": 1, "floors": False}
    server = Server(lambda rng: "x" * 40, lambda words: usage)
    free = evaluate(SUM, server, **options)
    spent = evaluate(SUM, server, **options, budget=Budget(max_tokens=3000))

    assert (free.played, free.budget_spent, free.meter.estimated) == (200, False, 0)
    assert (spent.budget_spent, spent.meter.estimated > 0) == (True, True)
    assert 2850 <= used(spent) <= 3000
    assert spent.meter.spent.completion == 10 * spent.meter.estimated


def test_a_count_that_is_possible_is_taken_as_it_is():
    server = Server(lambda rng: "x" * 40, lambda words: Usage(900, 9))
    found = evaluate(SUM, server, episodes=3, floors=False, budget=Budget(max_tokens=10**6))

    assert (found.meter.spent.completion % 9, found.meter.estimated) == (0, 0)


class Silent(Policy):
    """Never answers."""

    def send(self, transcripts):
        pass

    def recv(self, min_results=1, timeout=None):
        time.sleep(0.01)
        return {}


def test_a_limit_of_minutes_ends_even_if_the_model_never_answers():
    found = evaluate(SUM, Silent(), episodes=5, budget=Budget(max_minutes=0.005))

    assert (found.budget_spent, found.played) == (True, 0)
