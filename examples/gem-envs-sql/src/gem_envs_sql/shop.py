"""Shop: find something out about a shop by querying its database."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from gem import Step, TurnEnv
from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.tool import Content, ToolCall, ToolError, tool
from gem.tool.content import wrap
from gem.wrappers.tool_env import ToolResult

TABLES = {
    "customers": ("id", "name", "city"),
    "products": ("id", "name", "category", "cents"),
    "orders": ("id", "customer", "status"),
    "lines": ("order_id", "product", "quantity"),
}
"""Table → its columns."""

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jun", "Kim", "Leo", "Mia", "Noa")
CITIES = ("Bern", "Lima", "Oslo", "Pune")
STATES = ("paid", "paid", "paid", "cancelled")
PRODUCTS = {"games": ("chess", "go", "cards", "dice"), "tools": ("hammer", "saw", "drill", "ruler")}

_PAID = (
    "from orders o join customers c on c.id = o.customer join lines l on l.order_id = o.id "
    "join products p on p.id = l.product where o.status = 'paid'"
)
QUESTIONS = {
    "How many cents were paid for {category} by customers from {city}?": f"""select
        coalesce(sum(l.quantity * p.cents), 0) {_PAID} and p.category = '{{category}}' and c.city = '{{city}}'""",
    "Which customer paid most? If several did, say the one whose name comes first.": f"""select
        c.name {_PAID} group by c.id order by sum(l.quantity * p.cents) desc, c.name limit 1""",
    "How many customers from {city} never paid for an order?": """select count(*) from customers
        where city = '{city}' and id not in (select customer from orders where status = 'paid')""",
    "Which product was paid for by most different customers? If several were, say the first by name.": f"""select
        p.name {_PAID} group by p.id order by count(distinct c.id) desc, p.name limit 1""",
}
"""Question → the query that answers it."""

# What a query may do: read these tables, with functions that neither guess nor look at the clock.
_FUNCTIONS = {"count", "sum", "avg", "min", "max", "abs", "round", "length", "lower", "upper", "substr", "coalesce"}
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_INSTRUCTIONS, _LONGEST, _SHOWN = 2_000_000, 10_000, 20


class Shop(TurnEnv):
    r"""Answer a question about a shop with the tool `query`, then say the answer as `\boxed{Ada}` or `\boxed{12}`.

    The tool is this env's own: put a `gem.ToolEnv` around it, as the ids do. The first observation has the question and
    the tables; every further one has the result of a query.

    Rewards: 1 for the right answer, 0 for another. A reply with neither a call nor a box costs 0.1 and loses. Every
    reply takes a turn, calls included.

    Args:
        customers: of the shop, from 2 to 14; they have three orders each on average, some of them cancelled.
        max_turns: replies in an episode.
    """

    def __init__(self, customers: int = 12, max_turns: int | None = 8) -> None:
        super().__init__(max_turns=max_turns)
        self.customers = check_int("customers", customers, 2, len(NAMES))
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        """Table → its rows. A snapshot holds these; a database is made from them for each query."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        draw = self.rng
        names = draw.sample(NAMES, self.customers)
        products = [(name, category) for category, names in PRODUCTS.items() for name in names]
        orders = [(number, draw.randint(1, self.customers)) for number in range(1, 3 * self.customers + 1)]
        self.rows = {
            "customers": [(number, name, draw.choice(CITIES)) for number, name in enumerate(names, 1)],
            "products": [(number, *each, draw.randint(1, 40) * 25) for number, each in enumerate(products, 1)],
            "orders": [(*each, "paid" if each[0] == 1 else draw.choice(STATES)) for each in orders],
            "lines": [
                (order, product, draw.randint(1, 4))
                for order, _ in orders
                for product in sorted(draw.sample(range(1, len(products) + 1), draw.randint(1, 3)))
            ],
        }
        chosen = {"category": draw.choice(sorted(PRODUCTS)), "city": draw.choice(CITIES)}
        asked, answering = draw.choice(list(QUESTIONS.items()))
        self.question, self.sql = asked.format(**chosen), answering.format(**chosen)
        self.answer = str(self._run(self.sql)[1][0][0])
        tables = "\n".join(f"{table}({', '.join(columns)})" for table, columns in TABLES.items())
        return (
            f"A shop has a database with these tables:\n{tables}\n"
            "Prices are in cents. The status of an order is 'paid' or 'cancelled'; cancelled is not paid.\n"
            f"{self.question}\nQuery the database with the tool, then answer inside \\boxed{{}}, for example "
            f"\\boxed{{12}} or \\boxed{{Ada}}, without a call. You have {self.max_turns} replies; each call takes one. "
            "A reply with neither a call nor a box loses."
        )

    @tool
    def query(self, sql: str) -> str:
        """Run one SELECT of SQLite on the database, and show the first 20 rows of its result.

        Args:
            sql: the query.
        """
        try:
            columns, rows = self._run(sql)
        except (sqlite3.Error, sqlite3.Warning, UnicodeEncodeError) as error:
            raise ToolError(f"{error}. Only SELECT is allowed, with common functions, and it must end soon.") from error
        lines = [" | ".join("NULL" if value is None else str(value) for value in row) for row in (columns, *rows)]
        return "\n".join([*lines[: _SHOWN + 1], *(["… there are more rows"] if len(rows) > _SHOWN else [])])

    def _run(self, sql: str) -> tuple[Sequence[Any], list[tuple[Any, ...]]]:
        """The columns and the first rows of a query; one that takes too long, or does more than read, raises."""
        with closing(sqlite3.connect(":memory:")) as database:
            for table, columns in TABLES.items():
                database.execute(f"create table {table}({', '.join(columns)})")
                database.executemany(f"insert into {table} values ({', '.join('?' * len(columns))})", self.rows[table])
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            database.set_authorizer(_allow)
            database.set_progress_handler(lambda: True, _INSTRUCTIONS)
            cursor = database.execute(sql)
            return [column[0] for column in cursor.description or ()], cursor.fetchmany(_SHOWN + 1)

    def after_call(self, shown: Content) -> Step:
        """Every call takes a turn."""
        self.turn += 1
        if self.last_turn:
            return Step.cut_off(wrap("", shown, "\n\nThat was your last reply: you lose."))
        return Step.ongoing(shown)

    def _step(self, action: str) -> Step:
        answer = boxed(action)
        if answer is None:
            return self.malformed("You neither called the tool nor answered inside \\boxed{}. You lose.")
        success = answer.strip().casefold() == self.answer.casefold()
        text = "That is right." if success else f"That is wrong: it is {self.answer}."
        return Step.final(text, float(success), success=success)

    def sample_call(self) -> ToolCall | None:
        """A look at a table; now and then none."""
        table = self.action_rng.choice([*TABLES, None])
        return table and ToolCall("query", {"sql": f"select * from {table} limit 5"})

    def expert_call(self, results: Sequence[ToolResult]) -> ToolCall | None:
        """The query that answers the question, once."""
        return None if results else ToolCall("query", {"sql": self.sql})

    def sample_action(self) -> str:
        return "\\boxed{" + str(self.action_rng.choice([*NAMES, *range(10)])) + "}"

    def expert_action(self) -> str:
        """The answer; in a `ToolEnv` it queries first."""
        return "\\boxed{" + self.answer + "}"


def _allow(action: int, _first: str | None, second: str | None, *_: str | None) -> int:
    allowed = action in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS)
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
