"""MCP servers that misbehave: each is one clear fault in time, or does no harm."""

import asyncio
import gzip
import json
import sys
from pathlib import Path

import mcp.client.stdio
import pytest
from scripted_server import answering

from gem_tools.mcp import mcp_tools
from gem_tools.mcp.errors import McpServerError

HOSTILE = str(Path(__file__).with_name("mcp_hostile.py"))


@pytest.fixture(autouse=True)
def _no_grace(monkeypatch):
    """A program that hangs is ended at once; the SDK gives it two seconds."""
    monkeypatch.setattr(mcp.client.stdio, "PROCESS_TERMINATION_TIMEOUT", 0.1)


def call(config, answer=30):
    (tool,) = mcp_tools(config, ready=20, answer=answer)
    state = tool.resource.open()
    try:
        return asyncio.run(tool.function(state))
    finally:
        tool.resource.close(state)


@pytest.mark.parametrize(
    ("mode", "answer", "reason"),
    [
        ("endless", 30, "failed to list its tools: the list does not end within 1000 tools and 100 pages"),
        ("circling", 30, "failed to list its tools: "),
        ("many", 30, "failed to list its tools: the list does not end within 1000 tools"),
        ("odd listing", 30, "failed to list its tools: "),
        ("silent listing", 1, "did not list its tools within 1 s"),
        ("half", 30, "failed to answer 'go': "),
        ("notifying", 1, "did not answer 'go' within 1 s"),
        ("odd result", 30, "failed to answer 'go': "),
        ("no result", 1, "did not answer 'go' within 1 s"),
    ],
)
def test_a_server_that_misbehaves_is_one_clear_fault(mode, answer, reason):
    with pytest.raises(McpServerError, match=f"'server' .*{reason}"):
        call({"command": sys.executable, "args": [HOSTILE, mode]}, answer)


@pytest.mark.parametrize("mode", ["garbage", "bytes"])
def test_output_of_a_server_that_is_not_an_answer_is_ignored(mode):
    assert call({"command": sys.executable, "args": [HOSTILE, mode]}) == "done"


def hello(asked):
    return {
        "protocolVersion": asked["params"]["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hostile", "version": "1"},
    }


@pytest.mark.parametrize(
    ("answer", "headers"),
    [
        (lambda body: gzip.compress(body + b" " * 2**25), {"Content-Encoding": "gzip"}),
        (lambda body: body + b" " * 2**25, {}),
        (lambda body: b"{" * 2**20, {}),
        (lambda body: b"", {}),
        (lambda body: b"<html>", {"Content-Type": "text/html"}),
        (lambda body: b"data: {\n\n", {"Content-Type": "text/event-stream"}),
        (lambda body: b"data: " + b"x" * 2**25 + b"\n\n", {"Content-Type": "text/event-stream"}),
    ],
    ids=["gzip bomb", "large", "deep", "empty", "html", "half an event", "large event"],
)
def test_an_invalid_or_too_large_answer_by_http_is_one_clear_fault(answer, headers):
    def serve(asked):
        request = json.loads(asked.body) if asked.method == "POST" else {}
        if "id" not in request:
            return 202 if request else 405, b""
        result = hello(request) if request["method"] == "initialize" else {"tools": []}
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        if request["method"] == "initialize":
            return 200, body, {"Content-Type": "application/json"}
        return 200, answer(body), {"Content-Type": "application/json", **headers}

    with answering(serve) as url, pytest.raises(McpServerError, match=f"{url}/mcp.*failed to list its tools: "):
        mcp_tools(f"{url}/mcp", answer=20)
