"""An MCP server by stdio that needs no SDK, so that it starts at once: its tools end, hang, or keep notes."""

import json
import os
import sys
import time

NOTES = []


def note(text):
    NOTES.append(text)
    return " ".join(NOTES)


def process():
    return str(os.getpid())


def sleep(seconds):
    time.sleep(seconds)
    return "awake"


def die():
    print("no memory\n" * 100_000, file=sys.stderr)
    print("out of memory, goodbye", file=sys.stderr, flush=True)
    os._exit(3)


TOOLS = {tool.__name__: tool for tool in (note, process, sleep, die)}


def result_of(method, params):
    match method:
        case "initialize":
            versions = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
            return {**versions, "serverInfo": {"name": "plain", "version": "1"}}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
        case "tools/call":
            text = TOOLS[params["name"]](**params.get("arguments", {}))
            return {"content": [{"type": "text", "text": text}]}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = result_of(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
