"""Recordings from other people run none of their code unless they are trusted.

Each door is a recording that gets something run: it leaves a mark, or imports a module. That it does run, if it is
trusted, is the control.
"""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import gem
from gem.episode.codec import decode, from_json
from gem.errors import RecordError
from gem.packs.registry import registry
from gem_eval import reproduce, rescore

PLANTED = """
from pathlib import Path
Path({mark!r}).touch()
import gem
from gem.packs.echo import Echo as Door
from gem.tool import tool as _tool

class Holder:
    Door = Door

@_tool
def tool() -> str:
    '''Nothing.'''
    return ""

def tools(**settings):
    return [tool]

def wrapper(env, **settings):
    return env

def rows():
    return [{{"question": "Is it open?", "answer": "yes"}}]
"""
"""A module that leaves a mark when it is imported."""

PLANTED_MODULES = ("planted", "plänted", "planted_package", "planted_other", "this")

DIRECT = {"id": "planted:Door", "entry_point": "planted:Door", "pack": None}
CODE = {"id": "code:Basics-v0", "actions": ["```python\nopen('MARK', 'w')\n```"]}
QUESTIONS = {"id": "qa:Sample"}
WIKI = {"id": "game:WikiGame-v0-easy"}
LIVE = {"backend": "mw", "trawler_kwargs": {"url": "URL", "max_query_attempts": 1}}
SERVER = {"command": "touch", "args": ["MARK"]}
OPEN = {"level": "process"}
GONE = {"distribution": "gone", "version": "1"}


def tool_env(*tools: Any, name: str = "tool_env", actions: tuple[str, ...] = (), **settings: Any) -> dict[str, Any]:
    """A recording with tools around its env: one by itself, or several in a list."""
    return {
        "wrappers": [{"name": name, "tools": tools[0] if len(tools) == 1 else [*tools], **settings}],
        "actions": actions,
    }


def wrapped(*wrappers: Any, **others: Any) -> dict[str, Any]:
    return {"wrappers": [*wrappers], **others}


RUN_PYTHON, RUN_BASH = "<python>open('MARK', 'w')</python>", "<bash>touch MARK</bash>"
CELL, SEARCH = "<notebook>open('MARK', 'w')</notebook>", "<search>a word</search>"

DOORS: dict[str, dict[str, Any]] = {
    # The environment
    "a class that the file names": DIRECT,
    "a module that is only imported": {**DIRECT, "entry_point": "planted:nothing"},
    "a class in a class": {**DIRECT, "entry_point": "planted:Holder.Door"},
    "a module in a package": {**DIRECT, "id": "planted_inner:Door", "entry_point": "planted_package.inner:Door"},
    "an id in a namespace that a pack has": {**DIRECT, "id": "math:Door-v0"},
    "a module whose name is not ASCII": {**DIRECT, "entry_point": "plänted:Door"},
    # Its settings
    "a sandbox that is open": {**CODE, "kwargs": OPEN},
    "a server that the env asks": {**WIKI, "kwargs": LIVE},
    "another server that the env asks": {**WIKI, "kwargs": {**LIVE, "backend": "kiwix"}},
    "rows that a function makes": {**QUESTIONS, "kwargs": {"data": "planted:rows"}},
    "rows that a function makes, as fields": {**QUESTIONS, "kwargs": {"data": {"name": "planted:rows", "limit": 1}}},
    # Wrappers
    "a wrapper that the file names": wrapped("planted:wrapper"),
    "a wrapper in a table": wrapped({"name": "planted:wrapper"}),
    "a wrapper with settings": wrapped({"name": "planted:wrapper", "setting": 1}),
    "a wrapper between spaces": wrapped("  planted:wrapper\n"),
    "a wrapper between spaces that are not ASCII": wrapped("\u00a0planted:wrapper\u2003"),
    "a wrapper behind harmless ones": wrapped("concat", "episode_tracking", "planted:wrapper"),
    "a wrapper that is only imported": wrapped("planted:nothing"),
    "a module of Python as a wrapper": {**wrapped("this:s"), "imports": "this"},
    "ToolEnv by its own name": tool_env("planted:tool", name="gem.wrappers.tool_env:ToolEnv"),
    "ToolEnv by another name": tool_env("planted:tool", name="gem:ToolEnv"),
    # Tools
    "a tool that the file names": tool_env("planted:tool"),
    "a tool in a list": tool_env(["planted:tool"]),
    "a tool behind a comma": tool_env("calculator, planted:tool"),
    "a tool behind harmless ones": tool_env("calculator", {"name": "search", "topk": 2}, "planted:tool"),
    "a tool between spaces": tool_env(["calculator", "\tplanted:tool "]),
    "a tool between spaces that are not ASCII": tool_env(["\u2003planted:tool\u00a0"]),
    "a tool in a table": tool_env({"name": "planted:tool"}),
    "a tool in a table with settings": tool_env([{"name": "planted:tools", "level": 1}]),
    "a tool in a package": tool_env(["planted_package:tool"]),
    "a tool of a second ToolEnv": wrapped(
        {"name": "tool_env", "tools": "calculator"}, {"name": "tool_env", "tools": "planted:tool"}
    ),
    "a python that is open": tool_env({"name": "python", **OPEN}, actions=(RUN_PYTHON,)),
    "a bash that is open": tool_env([{"name": "bash", **OPEN}], actions=(RUN_BASH,)),
    "a notebook that is open": tool_env([{"name": "notebook", **OPEN}], actions=(CELL,)),
    "a python by its own name": tool_env(
        [{"name": "gem_tools.code.python:python_tool", **OPEN}], actions=(RUN_PYTHON,)
    ),
    "a module for programs": tool_env(
        [{"name": "python", "modules": ["planted_package"], **OPEN}], actions=("<python>1</python>",)
    ),
    "a module for cells": tool_env(
        [{"name": "notebook", "modules": ["planted_other"], **OPEN}], actions=("<notebook>1</notebook>",)
    ),
    "a search server": tool_env({"name": "search", "source": "URL"}, actions=(SEARCH,)),
    # MCP
    "a configuration in the working folder": tool_env([{"name": "mcp", "config": "servers.json"}]),
    "a command": tool_env({"name": "mcp", "config": SERVER}),
    "a command among servers": tool_env([{"name": "mcp", "config": {"mcpServers": {"one": SERVER}}}]),
    "a command behind harmless tools": tool_env("calculator", {"name": " mcp ", "config": SERVER}),
    "an MCP server at an address": tool_env([{"name": "mcp", "config": "URL"}]),
    "MCP by its own name": tool_env([{"name": "gem_tools.mcp:mcp_tools", "config": SERVER}]),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815 - the name that the class looks for

        def log_message(self, format: str, *args: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", asked
        http.shutdown()
        thread.join()


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that opened doors leave, beside the modules and the configuration by which they do."""
    mark = tmp_path / "mark"
    planted = PLANTED.format(mark=str(mark))
    for name in ("planted", "plänted"):
        (tmp_path / f"{name}.py").write_text(planted, encoding="utf-8")
    for package in ("planted_package", "planted_other"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(planted)
        (tmp_path / package / "inner.py").write_text(f"from {package} import *\n")
    (tmp_path / "servers.json").write_text(json.dumps({"command": "touch", "args": [str(mark)]}))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return mark


def recording(door: dict[str, Any], **places: str) -> dict[str, Any]:
    """The episode of a door, as JSON has it."""
    entry = registry().registered(door.get("id", "")) or registry().registered("core:Echo-v0")
    assert entry
    assert entry.pack
    spec = entry.spec
    turns = [{"observation": "", "action": action, "reward": 0.0, "info": {}} for action in door.get("actions", ())]
    record = {
        "gem_record": 1, "id": spec.id, "entry_point": spec.entry_point, "kwargs": {**spec.kwargs},
        "max_turns": spec.max_turns, "wrappers": [], "seed": 0, "group": 0, "gem_core": gem.__version__, "api": 1,
        "pack": {"distribution": entry.pack.distribution, "version": entry.pack.version},
        "started": None, "seconds": 0.0, "turns": turns, "observation": "", "terminated": True, "truncated": False,
        "success": False, "failure": None,
    }  # fmt: skip
    for name, value in door.items():
        if name in record:
            record[name] = {**spec.kwargs, **value} if name == "kwargs" else value
    text = json.dumps(record)
    for place, value in places.items():
        text = text.replace(place, value)
    return json.loads(text)


def forget() -> None:
    """Forget the planted modules, so that a later import runs them again."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in PLANTED_MODULES:
            del sys.modules[name]


@pytest.mark.filterwarnings("ignore::gem_sandbox.NotIsolated")
@pytest.mark.parametrize("name", DOORS)
def test_a_hostile_recording_runs_nothing_without_trust_and_with_it_does(
    name: str, mark: Path, server: tuple[str, list[str]]
) -> None:
    url, asked = server
    record = from_json(recording(DOORS[name], MARK=str(mark), URL=url), "a line")
    module = DOORS[name].get("imports", "planted")
    forget()
    del asked[:]

    def opened() -> bool:
        return mark.exists() or bool(asked) or module in sys.modules

    for play_again in (reproduce, rescore):
        with pytest.raises(RecordError, match=r"only a trusted file may have: .* pass --trust"):
            play_again(record)
        assert not opened()

    rescore(record, trust=True)
    assert opened()


COMMANDS = {
    # Entry point, wrapper and tool of the report: what each prints or leaves if it is run.
    "the entry point venv.__main__:x": ({**DIRECT, "entry_point": "venv.__main__:x"}, "usage: venv"),
    "the wrapper http.server:test": (wrapped({"name": "http.server:test", "port": "PORT"}), "Address already in use"),
    "mcp with a configuration in the working folder": (tool_env([{"name": "mcp", "config": "servers.json"}]), None),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] if name.startswith("mcp") else []) for name in COMMANDS]
)
def test_the_commands_run_nothing_without_trust(name: str, mark: Path) -> None:
    door, printed = COMMANDS[name]
    with socket.create_server(("0.0.0.0", 0)) as taken:  # so that a server that is started ends at once, and says so
        port = taken.getsockname()[1]
        mark.with_name("episodes.jsonl").write_text(json.dumps(recording(door)).replace('"PORT"', str(port)) + "\n")

        def gemx(command: str, *options: str) -> subprocess.CompletedProcess[str]:
            arguments = [sys.executable, "-m", "gem", command, "episodes.jsonl", *options]
            return subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=60, cwd=mark.parent)

        for command in ("reproduce", "rescore"):
            done = gemx(command)
            assert (done.returncode, done.stdout) == (1, "")
            assert "only a trusted file may have" in done.stderr
            assert "--trust" in done.stderr
            assert len(done.stderr.splitlines()) == 1
            assert not mark.exists()
        trusted = gemx("rescore", "--trust")
        assert mark.exists() if printed is None else printed in trusted.stdout + trusted.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"entry_point": "planted:Door"},
        {"id": "game:Sokoban-v0-easy"},
        {"id": "rg:composite"},
        {"id": "unknown:Env-v0", "pack": GONE, "entry_point": "planted:Door"},
    ],
)
def test_what_is_registered_today_needs_no_trust(changes: dict[str, Any], mark: Path) -> None:
    """The class that the file names for a registered id is not even imported."""
    forget()
    rescore(from_json(recording(changes), "a line"))

    assert not mark.exists()
    assert "planted" not in sys.modules


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"id": "game:Sudoku-v0-easy", "kwargs": {"clues": 8}}, "the setting 'clues', 8, with which"),
        ({"id": "game:Sudoku-v0-easy", "max_turns": 3}, "a limit of 3 turns, where the registered one is"),
        ({"id": "math:Arithmetic-v0", "kwargs": {"digits": [[1]]}}, "the setting 'digits', [[1]], with which"),
        (wrapped("concat"), "the wrappers ['concat'], where the registered ones are []"),
        (wrapped(*["concat"] * 50), "the wrappers ['concat', "),
        (wrapped({"name": "turn_limit", "max_turns": 3}), "the wrappers [{'max_turns': 3, 'name': 'turn_limit'}]"),
        (tool_env("calculator"), "the wrappers [{'name': 'tool_env', 'tools': 'calculator'}]"),
        ({"id": "tools:Calendar-v0"}, "the wrappers [], where the registered ones are ["),
    ],
)
def test_any_other_setting_or_wrapper_needs_trust_and_is_named(changes: dict[str, Any], named: str) -> None:
    record = from_json(recording(changes), "a line")

    with pytest.raises(RecordError) as raised:
        reproduce(record)
    assert named in str(raised.value)
    assert str(raised.value).endswith("If it is yours, or you trust its author, pass --trust (in Python trust=True)")


def test_a_setting_that_is_missing_needs_trust() -> None:
    line = recording({"id": "math:Arithmetic-v0"})
    del line["kwargs"]["digits"]

    with pytest.raises(RecordError, match="the lack of the setting 'digits'"):
        reproduce(from_json(line, "a line"))


def test_options_of_a_reset_that_are_not_numbers_need_trust() -> None:
    record = from_json(recording({"id": "math:Arithmetic-v0"}), "a line")

    assert rescore(replace(record, options={})).error is None
    # A number gets as far as the env, which does not take it.
    assert "option 'index'" in str(rescore(replace(record, options={"index": 2})).error)
    for value in ("/etc/passwd", [1], {"a": 1}):
        with pytest.raises(RecordError, match="the option 'index' of its reset, which is not a number"):
            rescore(replace(record, options={"index": value}))


def test_settings_that_nest_as_deep_as_json_can_be_read_are_refused() -> None:
    for depth in range(900, 1100):
        line = json.dumps(recording({"id": "math:Arithmetic-v0"})).replace(
            '"digits": 2', f'"digits": {"[" * depth}{"]" * depth}'
        )
        with pytest.raises(RecordError):
            reproduce(decode(line.encode(), "a line"))
