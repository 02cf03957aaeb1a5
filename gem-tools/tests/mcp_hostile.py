"""An MCP server by stdio that misbehaves as its argument says, once it has shaken hands."""

import json
import os
import sys
import time

MODE = sys.argv[1]
TOOL = {"name": "go", "inputSchema": {"type": "object"}}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def hello(asked):
    return {
        "protocolVersion": asked["params"]["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hostile", "version": "1"},
    }


def list_tools(asked):
    match MODE:
        case "endless":
            page = int((asked.get("params") or {}).get("cursor", 0))
            return {"tools": [{**TOOL, "name": f"go{page}"}], "nextCursor": str(page + 1)}
        case "circling":
            return {"tools": [], "nextCursor": "again"}
        case "many":
            return {"tools": [{**TOOL, "name": f"go{n}"} for n in range(2000)]}
        case "odd listing":
            return {"tools": [{"name": 3}]}
        case "silent listing":
            time.sleep(60)
        case "bytes":
            sys.stdout.buffer.write(b"\xff\xfe\n")
            sys.stdout.flush()
    return {"tools": [TOOL]}


def call_tool(asked):
    match MODE:
        case "half":
            print('{"jsonrpc": "2.0", "id": ', end="", flush=True)
            os._exit(0)
        case "notifying":
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                say(method="notifications/message", params={"level": "info", "data": "x" * 1000})
        case "garbage":
            print("Traceback (most recent call last):\n{]\n\n[]\n3\nnull", flush=True)
            say(id=999, result={})
            say(id=[], result={})
            say(method="sampling/createMessage", id=7, params={})
        case "odd result":
            return {"content": "done"}
        case "no result":
            return []
    return {"content": [{"type": "text", "text": "done"}]}


ANSWERS = {"initialize": hello, "tools/list": list_tools, "tools/call": call_tool}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") in ANSWERS:
        say(id=asked["id"], result=ANSWERS[asked["method"]](asked))
