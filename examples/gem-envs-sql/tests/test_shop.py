"""The answers, what a query may do, and the grades of Shop."""

import pytest
from gem_envs_sql.shop import Shop

import gem
from gem.tool import ToolError


def answer(env):
    """The answer to the question of an episode, found without SQL."""
    tables = env.rows
    product = {number: (name, category, cents) for number, name, category, cents in tables["products"]}
    paid = {number: customer for number, customer, status in tables["orders"] if status == "paid"}
    bought = [(paid[order], *product[which], count) for order, which, count in tables["lines"] if order in paid]
    name, city = ({each[0]: each[column] for each in tables["customers"]} for column in (1, 2))
    asked = env.question
    if "for games" in asked or "for tools" in asked:
        kind = "games" if "for games" in asked else "tools"
        return sum(cents * count for who, _, of, cents, count in bought if of == kind and city[who] in asked)
    if "never" in asked:
        return sum(city[who] in asked and who not in paid.values() for who in name)
    if "customer paid most" in asked:
        spent = {who: sum(cents * count for buyer, _, _, cents, count in bought if buyer == who) for who in name}
        return min((-cents, name[who]) for who, cents in spent.items())[1]
    buyers = {each: len({who for who, what, *_ in bought if what == each}) for each, _, _ in product.values()}
    return min((-count, what) for what, count in buyers.items())[1]


@pytest.mark.parametrize("customers", [2, 12, 14])
def test_every_answer_is_that_of_a_search_without_sql(customers):
    env = Shop(customers)
    for seed in range(60):
        env.reset(seed=seed)
        assert env.answer == str(answer(env)), (seed, env.question)


@pytest.mark.parametrize(
    "sql",
    [
        "delete from orders",
        "attach 'other.db' as other",
        "pragma writable_schema = 1",
        "select random()",
        "select date('now')",
        "select load_extension('x')",
        "select 1; select 2",
        "select * from nothing",
        "select hex(zeroblob(1000000000))",
        "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n",
        "\ud800",
    ],
)
def test_a_query_that_does_more_than_read_or_does_not_end_is_answered_and_costs_nothing_else(sql):
    env = Shop()
    env.reset(seed=0)
    before = env.query(sql="select count(*), sum(quantity) from lines")
    with pytest.raises(ToolError, match="Only SELECT is allowed"):
        env.query(sql=sql)
    assert env.query(sql="select count(*), sum(quantity) from lines") == before


def test_a_long_result_is_cut_and_says_so():
    env = Shop(14)
    env.reset(seed=0)
    shown = env.query(sql="select id, null from orders").split("\n")
    assert shown[:2] == ["id | null", "1 | NULL"]
    assert len(shown) == 22
    assert shown[-1] == "… there are more rows"


def test_the_expert_queries_once_and_answers():
    env = gem.make("sql:Shop-v0-hard")
    for seed in range(10):
        env.reset(seed=seed)
        assert not env.step(env.expert_action()).done
        assert env.step(env.expert_action()).info["success"]


def test_case_does_not_matter_and_a_wrong_answer_earns_nothing():
    env = Shop()
    env.reset(seed=0)
    assert env.step("\\boxed{ " + env.answer.upper() + " }").reward == 1.0
    env.reset(seed=0)
    assert env.step("\\boxed{nobody}").reward == 0.0
    env.reset(seed=0)
    assert env.step("nobody").reward == -0.1
