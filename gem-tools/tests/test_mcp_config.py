"""The configuration of MCP servers, and how an agent sees their results."""

import json
import pickle
import sys

import pytest
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
)

import gem
import gem.tool
from gem.errors import Fault, MissingExtra
from gem_tools.mcp import mcp_tools
from gem_tools.mcp.arguments import usable_schema, validator_of
from gem_tools.mcp.config import HttpServer, StdioServer, digest, read_servers
from gem_tools.mcp.content import to_blocks, to_observation
from gem_tools.mcp.errors import McpServerError
from gem_tools.mcp.names import named

TWO = {
    "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "files", "/data"], "env": {"LEVEL": "1"}, "autoApprove": ["read"]},
        "web": {"type": "streamable-http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer x"}},
    }
}
FILES = StdioServer(command="npx", args=("-y", "files", "/data"), env={"LEVEL": "1"})
WEB = HttpServer(url="https://example.org/mcp", headers={"Authorization": "Bearer x"})


def test_the_configuration_of_other_clients_is_read_from_an_object_and_from_a_file(tmp_path):
    (tmp_path / "mcp.json").write_text(json.dumps(TWO), "utf-8")
    assert read_servers(TWO) == {"files": FILES, "web": WEB}
    assert read_servers(tmp_path / "mcp.json") == {"files": FILES, "web": WEB}
    assert read_servers(TWO["mcpServers"]) == {"files": FILES, "web": WEB}


def test_the_configuration_of_vs_code_is_read_as_well():
    assert read_servers({"inputs": [], "servers": TWO["mcpServers"]}) == {"files": FILES, "web": WEB}


def test_one_server_needs_no_name():
    assert read_servers(TWO["mcpServers"]["files"]) == {"server": FILES}
    assert read_servers("http://localhost:8000/mcp") == {"server": HttpServer(url="http://localhost:8000/mcp")}


def test_digests_are_equal_for_equal_configurations_alone():
    assert digest(FILES) == digest(read_servers(TWO)["files"])
    others = [StdioServer(command="npx"), FILES.model_copy(update={"args": ("/data", "-y", "files")}), WEB]
    assert len({digest(server) for server in (FILES, *others)}) == 4


POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}
ADD = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "at": {"$ref": "#/$defs/Point"}},
    "required": ["a"],
    "additionalProperties": False,
    "$defs": {"Point": POINT},
}


def test_arguments_that_fit_are_accepted_and_an_invalid_schema_accepts_all():
    assert validator_of(ADD)({"a": 1, "at": {"x": 2}}) == {"a": 1, "at": {"x": 2}}
    assert validator_of({"type": "object", "required": "a"})({"b": 2}) == {"b": 2}


DOUBLING = {f"x{n}": {"allOf": [{"$ref": f"#/$defs/x{n + 1}"}] * 2} for n in range(60)} | {"x60": True}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"properties": {"a": {"pattern": "((a{1000}){1000}){1000}"}}},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
        {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
        {"propertyNames": {"pattern": "^(a|a)*$"}},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#/$defs/nowhere"}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"properties": {"a": {"$ref": "http://[1"}}},
        {"$id": "http://[1", "properties": {"a": {"$ref": "b"}}},
        {"properties": {"a": {"$ref": "#/$defs/x0"}}, "$defs": DOUBLING},
        {"properties": {"a": {"enum": ["x" * 60_000]}}},
        {"properties": {"a": {"items": {"uniqueItems": True}}}},
        {"$schema": ["http://json-schema.org/draft-07/schema#"]},
        {"$schema": "http://json-schema.org/draft-03/schema#", "properties": {"a": {"extends": {"$ref": "#"}}}},
        {"properties": ["a"], "required": 1},
        {"properties": {"a": True}, "required": [[]]},
        {"properties": {"a": {"required": True, "type": ["string", {}]}}},
        {"properties": {"a": {"anyOf": ["x"], "type": [1]}, "b": "c", "d": [{}]}},
    ],
    ids=lambda schema: json.dumps(schema)[:50],
)
def test_no_schema_of_a_server_hangs_or_crashes_and_what_cannot_be_checked_is_accepted(schema):
    given = {"a": "a" * 40 + "!", "a" * 40 + "!": 1}
    assert validator_of(schema)(given) == given
    made = gem.tool.Tool(name="t", description="", parameters=usable_schema(schema), function=str)
    for format in gem.tool.FORMATS.values():
        shown = format.describe({"t": made})
        assert len(shown) < 60_000
        assert format.read(f"<t>{shown}</t>", {"t": made}) is not None or format.name in (
            "openai",
            "hermes",
            "fenced",
        )


def tool(name):
    return Tool(name=name, input_schema={"type": "object"})


def test_only_a_name_that_two_servers_have_begins_with_the_servers():
    offers = named({"a": [tool("read"), tool("write")], "b": [tool("read")]})
    assert {name: (offer.server, offer.tool.name) for name, offer in offers.items()} == {
        "a_read": ("a", "read"),
        "write": ("a", "write"),
        "b_read": ("b", "read"),
    }


@pytest.mark.parametrize(
    ("listings", "expected"),
    [
        (
            {"a": ["b_read", "read"], "b": ["read"]},
            {"b_read": "b_read", "a_read": "read", "b_read_2": "read"},
        ),
        (
            {"a": ["read.text", "read_text", "read/text"]},
            {"read_text": "read_text", "read_text_2": "read.text", "read_text_3": "read/text"},
        ),
        (
            {"a": ["x" * 70, "x" * 71, "x" * 64]},
            {"x" * 64: "x" * 64, "x" * 62 + "_2": "x" * 70, "x" * 62 + "_3": "x" * 71},
        ),
        ({"a": ["", "é", "read", "read"]}, {"read": "read", "_": "", "__": "é"}),
        ({"a": ["answer", "think", "result"]}, {"a_answer": "answer", "a_think": "think", "a_result": "result"}),
    ],
)  # fmt: skip
def test_names_that_are_still_the_same_get_numbers_and_an_unchanged_one_stays(listings, expected):
    offers = named({server: [tool(name) for name in names] for server, names in listings.items()})
    assert {name: offer.tool.name for name, offer in offers.items()} == expected


def test_results_are_text_or_parts_if_there_is_an_image():
    text, image = TextContent(text="a pixel"), ImageContent(data="iVBORw==", mime_type="image/png")
    assert to_observation(CallToolResult(content=[text, TextContent(text="more")])) == "a pixel\nmore"
    assert to_observation(CallToolResult(content=[])) == ""
    assert to_observation(CallToolResult(content=[], structured_content={"ß": 1})) == '{"ß": 1}'
    assert to_observation(CallToolResult(content=[text], structured_content={"x": 1})) == "a pixel"
    assert to_observation(CallToolResult(content=[text, image])) == [
        {"type": "text", "text": "a pixel"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]


@pytest.mark.parametrize("image", [("text/html;base64,x", "AAAA"), ("image/png", "A" * (10 * 2**20 + 1))])
def test_an_invalid_or_too_large_image_is_named(image):
    mime_type, data = image
    shown = to_observation(CallToolResult(content=[ImageContent(data=data, mime_type=mime_type)]))
    assert shown == f"[image, {mime_type}, {len(data)} characters]"


def test_what_no_chat_api_takes_is_named():
    file = TextResourceContents(uri="file:///a.txt", text="its text")
    blob = BlobResourceContents(uri="file:///a.bin", blob="AAAA")
    blocks = [
        AudioContent(data="AAAA", mime_type="audio/wav"),
        ResourceLink(name="report", uri="https://example.org/r"),
        EmbeddedResource(resource=file),
        EmbeddedResource(resource=blob),
    ]
    assert to_observation(CallToolResult(content=blocks)).split("\n") == [
        "[sound, audio/wav]",
        "[report: https://example.org/r]",
        "its text",
        "[file:///a.bin, binary]",
    ]


def test_results_of_our_tools_survive_mcp_unchanged():
    parts = [
        {"type": "text", "text": "a pixel"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]
    assert to_observation(CallToolResult(content=to_blocks(parts))) == parts
    assert to_observation(CallToolResult(content=to_blocks("a\nb"))) == "a\nb"
    link = [{"type": "image_url", "image_url": {"url": "https://example.org/i.png"}}]
    assert to_observation(CallToolResult(content=to_blocks(link))) == "[image: https://example.org/i.png]"


def test_a_fault_survives_the_way_from_a_worker_process():
    fault = McpServerError("died", server="files", where="npx files", stderr="out of memory")
    again = pickle.loads(pickle.dumps(fault))
    assert str(again) == str(fault)
    assert "'files' (npx files) died" in str(fault)
    assert isinstance(again, Fault)
    assert isinstance(again, RuntimeError)
    assert (again.server, again.where, again.stderr) == ("files", "npx files", "out of memory")


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "gem_tools.mcp.tools", raising=False)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(MissingExtra, match=r"mcp_types: pip install 'gem-tools\[mcp\]'"):
        mcp_tools("http://localhost:8000/mcp")
