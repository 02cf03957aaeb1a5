"""The page of `gemx view` in Chromium, on machines that have one; no test stands in for it."""

import json
import math
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from msgspec import structs
from test_view import audited

from gem.episode import Completion, Episode, TokenTexts, Trace, Turn
from gem.record import Recorder
from gem_eval.results.standings import Game, standings
from gem_eval.view import page_of, run_of

pytestmark = pytest.mark.full

HOSTILE = (
    "</script><script>document.title = 'run'</script><!-- <script> <img src=x onerror=\"document.title='run'\">"
    "<svg onload=alert(1)> <a href='javascript:alert(1)'>x</a> &lt;b&gt; {{7*7}} \u2028 \u202e txt.exe \x00"
    " \ud800 \U0001f680"
)


def episode(seed: int, success: bool, total: float, *texts: str, tokens: TokenTexts | None = None) -> Episode:
    replies = [Completion(text, tokens=tokens if index == 0 else None) for index, text in enumerate(texts)]
    infos = [{"tool": {"name": "python", "status": "ok"}} if text.startswith("<python>") else {} for text in texts]
    rewards = [0.0] * (len(texts) - 1) + [total]
    turns = tuple(
        Turn(f"see {text}", reply, reward, info)
        for text, reply, reward, info in zip(texts, replies, rewards, infos, strict=True)
    )
    return Episode(
        id=f"lab:{'AB'[seed % 2]}",
        seed=seed,
        traces=(Trace(turns),),
        observation="the end",
        terminated=True,
        truncated=False,
        success=success,
    )


TOKENS = TokenTexts(("so", " be", "\n", "it"), (-0.001, -1.0, -6.0, -math.inf), mask=(1, 1, 0, 0), prompt="<|user|>")
FIRST = [episode(seed, seed % 3 == 0, seed / 10, "a", "b") for seed in range(250)]
CALL = json.dumps({"content": "Wait.", "tool_calls": [{"function": {"name": "add", "arguments": '{"a": 1}'}}]})
FIRST[8] = episode(8, False, 0.8, CALL, "b")
FIRST[7] = episode(7, False, 0.7, HOSTILE, "<python>1</python>", "c", tokens=TOKENS)
SECOND = [episode(seed, seed % 3 == 0 and seed != 30, seed / 10 - (seed == 40), "a", "c") for seed in range(250)]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a page with two runs of 250 episodes, the first of which has curves too."""
    folder = tmp_path_factory.mktemp("pages")
    for name, episodes in (("first", FIRST), ("second", SECOND)):
        with Recorder(folder / name / "episodes.jsonl", policy=name) as recorder:
            for each in episodes:
                recorder.write(each)
    lines = [
        {"phase": "train", "step": step, "success": 0.5, "turns": 1 + step / 1e4, HOSTILE: step}
        for step in range(1, 51)
    ]
    (folder / "first" / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "page.html").write_text(page_of([run_of(folder / name) for name in ("first", "second")]))
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


ROWS = "[...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"


def choose(label: str, value: str) -> str:
    """Choose or type a value in the control with this label."""
    return f"""(() => {{
        const label = [...document.querySelectorAll('label')].find((each) => each.firstChild.textContent === {label!r});
        const control = label.querySelector('select, input');
        control.value = {value!r};
        control.dispatchEvent(new Event(control.tagName === 'SELECT' ? 'change' : 'input', {{ bubbles: true }}));
    }})()"""


def summary(browser: Browser) -> str:
    return browser.evaluate("document.querySelector('.summary').textContent")


if CHROMIUM:

    def test_the_table_shows_filters_and_sorts_the_episodes(browser: Browser, address: str) -> None:
        browser.open(address)
        assert len(browser.evaluate(ROWS)) == 200  # and a button for the rest
        browser.evaluate(
            "[...document.querySelectorAll('button')].find((each) => each.textContent.startsWith('Show')).click()"
        )
        assert len(browser.evaluate(ROWS)) == 250

        browser.evaluate(choose("environment", "lab:B"))
        browser.evaluate(choose("outcome", "success"))
        browser.evaluate(choose("return from", "10"))
        browser.evaluate(choose("to", "20"))
        kept = [each for each in FIRST if each.id == "lab:B" and each.success and 10 <= each.total_reward <= 20]
        assert summary(browser).startswith(f"{len(kept)} episodes · success 100.0%")
        browser.evaluate("[...document.querySelectorAll('th')].find((each) => each.textContent === 'return').click()")
        browser.evaluate(
            "[...document.querySelectorAll('th')].find((each) => each.textContent.startsWith('return')).click()"
        )
        shown = [float(row[2]) for row in browser.evaluate(ROWS)]
        assert shown == sorted((each.total_reward for each in kept), reverse=True)

        browser.call("Page.reload", "Page.loadEventFired")  # the address keeps the filters
        assert [float(row[2]) for row in browser.evaluate(ROWS)] == shown
        browser.open(address)
        browser.evaluate(choose("text", "TXT.EXE"))
        assert len(browser.evaluate(ROWS)) == 1

    def test_markup_in_an_episode_is_shown_and_nothing_of_it_runs(browser: Browser, address: str) -> None:
        browser.requests.clear()
        browser.open(f"{address}#open=7&plain=1")
        texts = browser.evaluate("[...document.querySelectorAll('pre')].map((each) => each.textContent)")
        shown = HOSTILE
        for unseen in ("\u2028", "\u202e", "\x00", "\ud800"):
            shown = shown.replace(unseen, f"U+{ord(unseen):04X}")

        assert shown in texts
        assert f"see {shown}" in texts
        assert browser.evaluate("document.title") == "gemx view"
        assert browser.evaluate("document.querySelectorAll('main script, main img, main svg, main a').length") == 0
        browser.open(f"{address}#tab=Training")
        assert browser.evaluate("document.querySelectorAll('figure').length") == 3
        assert [each for each in browser.requests if not each.startswith(("file:", "about:"))] == []
        # A program that got into the page all the same would not run.
        browser.evaluate(
            "const it = document.createElement('script'); it.textContent = 'document.title = 7';"
            "document.body.append(it)"
        )
        assert browser.evaluate("document.title") == "gemx view"
        assert browser.faults[0].count("Content Security Policy")
        browser.faults.clear()

    def test_charts_begin_with_success_even_if_it_is_constant_and_ticks_differ(browser: Browser, address: str) -> None:
        browser.open(f"{address}#tab=Training")
        names = browser.evaluate("[...document.querySelectorAll('figcaption')].map((each) => each.textContent)")
        ticks = browser.evaluate(
            "[...document.querySelectorAll('figure')].map((each) => "
            "[...each.querySelectorAll('text[text-anchor=end]')].map((text) => text.textContent))"
        )

        assert names[:2] == ["success", "turns"]
        for each in ticks:
            assert len(each[:-1]) == len(set(each[:-1])) > 2  # the last is the end of the steps

    def test_a_call_of_a_chat_api_is_shown_as_text_and_call_and_its_json_below(browser: Browser, address: str) -> None:
        browser.open(f"{address}#open=8")
        shown = browser.evaluate("[...document.querySelectorAll('.agent > pre')].map((each) => each.textContent)")

        assert shown == ["Wait.", 'add({"a": 1})', "b"]
        assert browser.evaluate("document.querySelector('.agent details pre').textContent") == CALL

    def test_tokens_are_coloured_by_their_probabilities_and_struck_out_by_the_mask(
        browser: Browser, address: str
    ) -> None:
        browser.open(f"{address}#open=7")
        tokens = browser.evaluate(
            "[...document.querySelectorAll('.tokens .token')].map((each) => [each.textContent, each.style.background,"
            " each.title, getComputedStyle(each).textDecorationLine])"
        )

        assert [text for text, *_ in tokens] == ["so", " be", "↵\n", "it"]
        assert [bool(colour) for _, colour, *_ in tokens] == [False, True, True, True]
        assert [line for *_, line in tokens] == ["none", "none", "line-through", "line-through"]
        assert tokens[1][2] == "log-probability -1, probability 36.8%"
        assert tokens[3][2] == "log-probability -Infinity, probability 0.0%; not learned from"
        assert "tool python: ok" in browser.evaluate("document.querySelector('.call').textContent")
        browser.evaluate("document.querySelector('.legend input').click()")
        assert browser.evaluate("document.querySelectorAll('.tokens').length") == 0

    def test_two_runs_are_compared_item_by_item_where_they_differ_first(browser: Browser, address: str) -> None:
        browser.open(f"{address}#tab=Compare")
        rows = browser.evaluate(ROWS)

        assert [row[1] for row in rows[:2]] == ["30", "40"]  # the outcome differs, then the return
        assert rows[0][2:4] == ["success", "no success"]
        assert rows[1][-1] == "-1"
        assert summary(browser).startswith("250 episodes with equal starts in both")
        browser.evaluate("document.querySelector('tbody tr').click()")
        browser.evaluate("new Promise((done) => setTimeout(done, 50))")
        assert browser.evaluate("[...document.querySelectorAll('h2')].map((each) => each.textContent.trim())") == [
            "first",
            "second",
        ]
        assert browser.evaluate("document.querySelectorAll('.columns .turn').length") == 2 * 3
        assert browser.evaluate("document.querySelector('.divider').textContent") == "from here on they differ"
        browser.evaluate("history.back()")
        browser.evaluate("new Promise((done) => setTimeout(done, 200))")
        assert len(browser.evaluate(ROWS)) == 200

    def test_an_address_of_a_page_with_more_runs_compares_those_that_there_are(browser: Browser, address: str) -> None:
        browser.open(f"{address}#tab=Compare&first=7&second=8")

        assert summary(browser).startswith("250 episodes with equal starts in both")

    def test_a_page_of_runs_without_episodes_says_so(browser: Browser, tmp_path: Path) -> None:
        (tmp_path / "begun.jsonl").touch()
        (page := tmp_path / "page.html").write_text(page_of([run_of(tmp_path / "begun.jsonl")]))
        browser.open(page.as_uri())

        assert (
            browser.evaluate("document.querySelector('main').textContent")
            == "These runs hold no episodes, or none yet."
        )

    def test_the_runs_are_summed_up_by_environment(browser: Browser, address: str) -> None:
        browser.open(f"{address}#tab=Runs")
        rows = browser.evaluate(ROWS)
        won = [each.success for each in FIRST if each.id == "lab:A"]

        assert [row[:3:2] for row in rows] == [
            ["first", "lab:A"],
            ["first", "lab:B"],
            ["second", "lab:A"],
            ["second", "lab:B"],
        ]
        assert rows[0][4:6] == [str(len(won)), f"{100 * sum(won) / len(won):.1f}%"]

    def test_an_episode_of_several_players_shows_what_each_did_and_earned(browser: Browser, tmp_path: Path) -> None:
        info = {"player": "odd", "rewards": {"odd": {"bid": -0.5}}}
        even = Turn("a card", Completion("bid"), 1.5, info, {"bid": 1.5})
        odd = Turn("a card", Completion("bid"), -0.5, {}, {"bid": -0.5})
        traces = (Trace((even,), "even", (0,), "expert"), Trace((odd,), "odd", (1,), "random"))
        with Recorder(tmp_path / "episodes.jsonl") as recorder:
            recorder.write(structs.replace(FIRST[0], traces=traces))
        page = tmp_path / "page.html"
        page.write_text(page_of([run_of(tmp_path)]))
        browser.open(f"{page.as_uri()}#open=0")
        assert "returns: even 1.5 (expert), odd -0.5 (random)" in summary(browser)
        acted = browser.evaluate("[...document.querySelectorAll('.agent .who')].map((each) => each.textContent)")
        assert acted == ["action 1 of evenreward 1.5bid 1.5", "action 2 of oddreward -0.5bid -0.5"]

    def test_a_tournament_shows_ratings_and_each_against_each_which_opens_their_games(
        browser: Browser, tmp_path: Path
    ) -> None:
        names = ["expert", HOSTILE.replace("\ud800", ""), "a name that is far too long for the place beside a picture"]
        games = [
            Game(str(seed), order, (float(order[0] < order[1]), float(order[1] < order[0])))
            for seed in range(5)
            for order in permutations(range(3), 2)
        ]
        with Recorder(tmp_path / "episodes.jsonl") as recorder:
            for number, game in enumerate(games):
                traces = tuple(
                    Trace((Turn("?", Completion("x"), earned, {}),), seat, (index,))
                    for index, (seat, earned) in enumerate(zip("xy", game.returns or (), strict=True))
                )
                seats = {seat: names[each] for seat, each in zip("xy", game.seating, strict=True)}
                recorder.write(structs.replace(FIRST[0], seed=number, traces=traces), {"seats": seats})
        (tmp_path / "arena.json").write_text("{}")
        summary_of = {**standings(games, names, ["x", "y"]).as_json(), "env": "lab:A", "asked": 40, "games": 30}
        (tmp_path / "summary.json").write_text(json.dumps(summary_of))
        page = tmp_path / "page.html"
        page.write_text(page_of([run_of(tmp_path)]))
        browser.open(page.as_uri())
        assert summary(browser) == "30 of 40 games"
        rows = browser.evaluate(ROWS)
        assert [(row[0], row[3:7]) for row in (rows[0], rows[2])] == [
            ("expert", ["20", "20", "0", "0"]),
            (names[2], ["20", "0", "0", "20"]),
        ]
        assert rows[3][1:] == ["–", "100.0%10 · 0 · 0", "100.0%10 · 0 · 0"]
        places = "[...document.querySelectorAll('circle')].map((each) => Number(each.getAttribute('cx')))"
        first, second, third = browser.evaluate(places)
        assert first > second > third
        assert browser.evaluate("document.querySelectorAll('main script, main img, main a').length") == 0
        browser.evaluate("document.querySelectorAll('.pairs tbody tr')[0].cells[2].click()")
        browser.evaluate("new Promise((done) => setTimeout(done, 200))")
        assert summary(browser).startswith("10 episodes · mean turns 2")
        opened = browser.evaluate(ROWS)
        assert {row[2] for row in opened} == {"1 – 0", "0 – 1"}
        assert all("expert" in row[1] for row in opened)
        browser.evaluate("document.querySelector('tbody tr').click()")
        browser.evaluate("new Promise((done) => setTimeout(done, 200))")
        assert "returns: x 1 (expert), y 0 (" in summary(browser)
        with Recorder(tmp_path / "episodes.jsonl") as recorder:
            recorder.write(FIRST[0], {"seats": {"agent": {"toString": 1}, "__proto__": None}})
        page.write_text(page_of([run_of(tmp_path)]))
        browser.open(f"{page.as_uri()}#tab=Episodes&open=30")
        assert "return 0" in summary(browser)
        browser.open(f"{page.as_uri()}#tab=Episodes")
        assert len(browser.evaluate(ROWS)) == 31

    def test_the_scores_of_a_judge_are_shown_with_weights_and_reasons(browser: Browser, tmp_path: Path) -> None:
        kept = {"score": 0.5, "points": [4, 6], "reasons": ["half <b>of</b> it", "more"]}
        info = {"scored": {"env": {"env": 1.0}, "scores": {"judge/right": kept}, "weights": {"judge/right": 2.0}}}
        turns = (
            Turn("a card", Completion("bid"), 2.0, info, {"env": 1.0, "judge/right": 1.0}),
            Turn("a card", Completion("bid"), 0.0, {"scored": {"scores": 3, "by": "somebody else, with words"}}),
        )
        with Recorder(tmp_path / "episodes.jsonl") as recorder:
            recorder.write(structs.replace(FIRST[0], traces=(Trace(turns),)))
        page = tmp_path / "page.html"
        page.write_text(page_of([run_of(tmp_path)]))
        browser.open(f"{page.as_uri()}#open=0")
        acted = browser.evaluate("[...document.querySelectorAll('.agent .who')].map((each) => each.textContent)")
        assert acted[0] == "action 1reward 2env 1judge/right 1"
        told = browser.evaluate("[...document.querySelectorAll('.agent details')].map((each) => each.textContent)")
        assert told[0] == "scoresjudge/right: 0.5 × 2\n    points: 4; 6\n    reasons: half <b>of</b> it; more"
        assert told[1].startswith('scored{"scores":3')

    def test_no_program_of_a_page_had_a_fault(browser: Browser, address: str) -> None:
        for place in (
            "",
            "#open=3",
            "#tab=Compare&open=1&differ=worse",
            "#tab=Training&metric=succ",
            "#open=99999&run=7&tab=No",
        ):
            browser.open(address + place)
            assert browser.evaluate("document.getElementById('main').children.length") > 0
        assert browser.faults == []

    def test_cards_are_shown_as_text_and_a_row_opens_what_was_found(browser: Browser, tmp_path: Path) -> None:
        file = audited(tmp_path, HOSTILE)
        (tmp_path / "page.html").write_text(page_of([run_of(file)]))
        browser.requests.clear()
        browser.faults.clear()
        browser.open((tmp_path / "page.html").as_uri())

        rows = browser.evaluate(ROWS)
        assert [row[1] for row in rows] == ["known", "found"]
        assert rows[0][2:4] == ["○", ""]
        browser.evaluate("document.querySelectorAll('tbody tr')[1].click()")
        browser.evaluate("new Promise((done) => setTimeout(done, 100))")
        texts = browser.evaluate("[...document.querySelectorAll('.finding pre')].map((each) => each.textContent)")
        shown = HOSTILE
        for unseen in ("\u2028", "\u202e", "\x00", "\ud800"):
            shown = shown.replace(unseen, f"U+{ord(unseen):04X}")
        assert texts == [shown, "(empty)"]
        assert f"seed {2**63 - 1}" in browser.evaluate("document.querySelector('.finding').textContent")
        assert browser.evaluate("document.title") == "gemx view"
        assert browser.evaluate("document.querySelectorAll('main script, main img, main svg, main a').length") == 0
        assert [each for each in browser.requests if not each.startswith(("file:", "about:"))] == []
        assert browser.faults == []
