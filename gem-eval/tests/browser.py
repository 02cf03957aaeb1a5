"""A headless Chromium, spoken to by its DevTools protocol, for the tests of pages; `CHROMIUM` is None without one."""

import asyncio
import itertools
import json
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One tab. Every command has a limit of 60 seconds."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        command = [CHROMIUM, *flags, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._loop = asyncio.new_event_loop()
        self._numbers = itertools.count(1)
        self.faults: list[str] = []
        """Exceptions of the pages' programs, what they wrote to the console, and dialogs."""
        self.requests: list[str] = []
        """Addresses that pages asked for."""
        address = profile / "DevToolsActivePort"
        until = time.monotonic() + 60
        while not (address.exists() and address.read_text().count("\n")):
            assert time.monotonic() < until, "the browser does not start"
            time.sleep(0.05)
        self._do(self._connect(int(address.read_text().splitlines()[0])))
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _do(self, task: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(task, 60))

    async def _connect(self, port: int) -> None:
        self._session = aiohttp.ClientSession()
        async with self._session.get(f"http://127.0.0.1:{port}/json") as response:
            [tab] = [each for each in await response.json() if each["type"] == "page"]
        self._socket = await self._session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0)

    def call(self, method: str, until: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The result of a command; `until` waits for an event besides."""
        return self._do(self._call(method, until, parameters))

    async def _call(self, method: str, until: str | None, parameters: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        result: dict[str, Any] | None = None
        while result is None or until is not None:
            message = json.loads((await self._socket.receive()).data)
            if message.get("id") == number:
                assert "error" not in message, message
                result = message["result"]
            elif (event := message.get("method")) == until:
                until = None
            elif event in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.faults.append(json.dumps(message["params"]))
            elif event == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            elif event == "Page.javascriptDialogOpening":
                self.faults.append("a dialog")
        return result

    def open(self, address: str) -> None:
        """Load a page from the beginning, also if only what follows the # differs."""
        self.call("Page.navigate", "Page.loadEventFired", url="about:blank")
        self.call("Page.navigate", "Page.loadEventFired", url=address)

    def evaluate(self, program: str) -> Any:
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=program, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._do(self._socket.close())
        self._do(self._session.close())
        self._loop.close()
        self._process.terminate()
        self._process.wait(60)
