"""Mistakes of callers and of files: a call, its error, and a fragment of the message."""

import json

import pytest

from gem.errors import BadArguments, ConfigError, Fault, ToolError
from gem.packs.lookup import find_tools
from gem_sandbox.results import lost
from gem_tools.calendar.env import Calendar
from gem_tools.code.bash import bash_tool
from gem_tools.code.sandboxes import format_result
from gem_tools.mcp import mcp_tools
from gem_tools.mcp.arguments import validator_of
from gem_tools.mcp.config import read_servers
from gem_tools.multi_hop.env import MultiHop
from gem_tools.search.corpus import Corpus, Document
from gem_tools.search.dense import Dense
from gem_tools.search.remote import Remote
from gem_tools.search.server import app
from gem_tools.search.shared import shared_index
from gem_tools.search.tool import fetch_tool, search_tool
from gem_tools.search.web import SerpApi

TWO = [Document("a", "", ""), Document("b", "", "")]
ADD = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "at": {"$ref": "#/$defs/Point"}},
    "required": ["a"],
    "additionalProperties": False,
    "$defs": {"Point": {"type": "object", "properties": {"y": {"type": "integer"}}}},
}
ODD = {"properties": {"a": {"type": "string", "pattern": "("}, "b": {"type": "integer"}}, "required": ["b"]}


def server(**entry):
    return lambda: read_servers({"mcpServers": {"a": entry}})


CASES = [
    # The configuration of MCP servers.
    (lambda: read_servers({}), ConfigError, "at least one MCP server"),
    (lambda: read_servers({"mcpServers": {}}), ConfigError, "at least one MCP server"),
    (lambda: read_servers({"mcpServers": {"a": "npx"}}), ConfigError, "'a' is an object with a command"),
    (server(), ConfigError, "has nothing"),
    (server(cmd="x", env={}), ConfigError, "Did you mean 'command'?"),
    (server(type="http", uri="http://x"), ConfigError, "Did you mean 'url'?"),
    (lambda: read_servers({"mcpServers": 3}), ConfigError, "not 3"),
    (lambda: read_servers({"mcpServers": [{"command": "npx"}]}), ConfigError, "by their names"),
    (lambda: read_servers(3), ConfigError, "not 3"),
    (lambda: read_servers(None), ConfigError, "not None"),
    (server(command=""), ConfigError, "command: "),
    (server(command="npx", args="-y"), ConfigError, "args: "),
    (server(command="npx", env={"N": 1}), ConfigError, "env.N: "),
    (server(command="npx", env={"KEY": "${input:key}"}), ConfigError, "only in VS Code"),
    (server(url="ftp://x"), ConfigError, "url: "),
    (server(type="sse", url="http://x"), ConfigError, "not by 'sse'"),
    (server(type=["http"], url="http://x"), ConfigError, "not by ['http']"),
    (server(type="http", command="npx"), ConfigError, "type: "),
    (lambda: read_servers("nowhere.json"), ConfigError, "No such file"),
    (lambda: mcp_tools({"command": "x"}, sessions=["mine"]), ConfigError, "'episode' or 'shared'"),
    (lambda: find_tools("mcp", config=3), ConfigError, "not 3"),
    # Arguments that do not fit the schema of a server.
    (lambda: validator_of(ADD)({}), BadArguments, "'a' is a required property"),
    (lambda: validator_of(ADD)({"a": "two"}), BadArguments, "'two' is not of type 'integer'"),
    (lambda: validator_of(ADD)({"a": 1, "b": 2}), BadArguments, "'b' was unexpected"),
    (lambda: validator_of(ADD)({"a": 1, "at": {"y": "up"}}), BadArguments, "the argument 'at.y': 'up'"),
    (lambda: validator_of(ADD)({"a": "9" * 1000, "at": []}), BadArguments, f"{'9' * 199}…; the argument 'at'"),
    (lambda: validator_of(ODD)({"a": "1", "b": "x"}), BadArguments, "'b': 'x' is not of type"),
    # Corpora and indices.
    (lambda: Corpus.from_jsonl("none.jsonl"), ConfigError, "no file"),
    (lambda: Corpus.from_jsonl("gem_tools:none.jsonl"), ConfigError, "no file"),
    (lambda: Corpus.from_jsonl("gem_nowhere:corpus.jsonl"), ConfigError, "no package 'gem_nowhere'"),
    (lambda: Corpus.from_jsonl("."), ConfigError, "Is a directory"),
    (lambda: Corpus([]), ConfigError, "no document"),
    (lambda: Corpus([*TWO, TWO[0]]), ConfigError, "'a'"),
    (lambda: Dense(Corpus(TWO), lambda texts: [1.0] * len(texts)), ConfigError, "shape (2,)"),
    (lambda: app(shared_index(), topk=0), ConfigError, "topk"),
    (lambda: Remote("localhost:8000"), ConfigError, "http://"),
    (SerpApi, ConfigError, "variable SERPAPI_API_KEY"),
    # Tools.
    (lambda: search_tool("http://127.0.0.1:1/retrieve", protocol="gem"), ConfigError, "not 'gem'"),
    (lambda: search_tool(topk=0), ConfigError, "topk"),
    (lambda: search_tool()(query=""), ToolError, "no words"),
    (lambda: search_tool()(query="  "), ToolError, "no words"),
    (lambda: search_tool()(query="?!"), ToolError, "no words"),
    (lambda: fetch_tool()(title="Dunhollt"), ToolError, "'Dunhollt'. The nearest are: Dunholt"),
    (lambda: fetch_tool()(title="the Dunholt town"), ToolError, "Dunholt"),
    (lambda: fetch_tool()(title="Restless Hourglass"), ToolError, "The Restless Hourglass"),
    (lambda: fetch_tool()(title="qqqqq"), ToolError, "'qqqqq'."),
    (lambda: fetch_tool()(title="\ud800" * 100_000), ToolError, "no document"),
    (lambda: bash_tool(processes=0), ConfigError, "processes must be an integer >= 1"),
    (lambda: format_result(lost("it died", "bubblewrap")), Fault, "it died"),
    # Environments.
    *((lambda sizes=sizes: Calendar(**sizes), ConfigError, next(iter(sizes))) for sizes in (
        {"events": 17}, {"events": -1}, {"todos": 11}, {"tasks": 0}, {"tasks": 9}, {"max_turns": 0},
    )),
    *((lambda hops=hops: MultiHop(hops), ConfigError, "hops") for hops in (0, 4, "2", 1.5)),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fragment"), CASES)
def test_a_mistake_is_named(call, error, fragment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("SERPAPI_API_KEY", "SEARCH_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(error) as raised:
        call()
    assert fragment in str(raised.value)


LINE = json.dumps({"text": "x"}).encode()


@pytest.mark.parametrize(
    ("read", "content", "fragment"),
    [
        (read_servers, b"{", "is not JSON"),
        (read_servers, b"[]", "not hold a JSON object"),
        (Corpus.from_jsonl, LINE + b"\n\n{", "line 3: Expecting property name"),
        (Corpus.from_jsonl, LINE + b'\n{"title": "x"}', "line 2: a document needs a 'text' or 'contents'"),
        (Corpus.from_jsonl, b'{"text": 3}', "'text' or 'contents'"),
        (Corpus.from_jsonl, b"[1]", "no attribute"),
        (Corpus.from_jsonl, b"\x7fELF\x85\x00", "is not text in UTF-8"),
        (Corpus.from_jsonl, b"[" * 100_000, "line 1: maximum recursion depth"),
        (Corpus.from_jsonl, b"3\n", "line 1: "),
    ],
)
def test_a_file_that_is_something_else_is_named(read, content, fragment, tmp_path):
    file = tmp_path / "given.json"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        read(file)
    assert "given.json" in str(raised.value)
    assert fragment in str(raised.value)
