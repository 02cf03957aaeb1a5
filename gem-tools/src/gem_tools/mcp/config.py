"""The configuration of MCP servers: the `mcpServers` JSON that other MCP clients read, checked."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError

from gem.errors import ConfigError, did_you_mean

Config = str | Path | Mapping[str, Any]
"""The URL of one server, the path of a JSON file, `{"mcpServers": {name: server}}`, or one server's own entry."""

FORM = '{"mcpServers": {"files": {"command": …, "args": […]}}}'
"""A configuration, for messages."""

ONLY = "server"
"""The name of a server that was given without one."""


class StdioServer(BaseModel):
    """A program that is started, and spoken to through its standard input and output."""

    model_config = ConfigDict(frozen=True)

    type: Literal["stdio"] = "stdio"
    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = Field(default_factory=dict[str, str])
    """Added to the few variables that every server gets, such as PATH and HOME."""
    cwd: str | None = None
    begun: ClassVar[str] = "started"
    """Verb for opening a connection to it, for messages."""

    @property
    def where(self) -> str:
        """The command line, for messages."""
        return " ".join((self.command, *self.args))


class HttpServer(BaseModel):
    """A running server, spoken to by streamable HTTP."""

    model_config = ConfigDict(frozen=True)

    type: Literal["http"] = "http"
    url: str = Field(pattern=r"^https?://")
    headers: Mapping[str, str] = Field(default_factory=dict[str, str])
    begun: ClassVar[str] = "reached"

    @property
    def where(self) -> str:
        """The address, for messages."""
        return self.url


def _kind(entry: Mapping[str, Any]) -> str:
    return "stdio" if "command" in entry else "http"


ServerConfig = StdioServer | HttpServer
_SERVER_CONFIG: TypeAdapter[ServerConfig] = TypeAdapter(
    Annotated[Annotated[StdioServer, Tag("stdio")] | Annotated[HttpServer, Tag("http")], Discriminator(_kind)]
)
_INPUT = "${input:"
"""Placeholder of VS Code for a value that it asks the user for."""
_HTTP = frozenset({"http", "streamable-http", "streamable_http", "streamableHttp"})
"""Spellings of this transport in client configurations."""


def read_servers(config: Config) -> dict[str, ServerConfig]:
    """Name → server.

    An entry has `command`, `args`, `env` and `cwd`, or `url` and `headers`; the transport (`type` or `transport`) may
    be given or left out. The servers may also be under `servers`, as in VS Code. Other keys of the file are ignored.

    Raises:
        ConfigError: it has another form, or a transport other than stdio and streamable HTTP.
    """
    found = _load(config)
    alone = "command" in found or "url" in found
    entries: object = {ONLY: found} if alone else found.get("mcpServers", found.get("servers", found))
    if not isinstance(entries, Mapping):
        raise ConfigError(f"MCP servers are given by their names, as in {FORM}, not {entries!r}")
    if not entries:
        raise ConfigError(f"name at least one MCP server: {FORM}")
    return {name: _server(name, entry) for name, entry in cast("Mapping[str, Any]", entries).items()}


def digest(server: ServerConfig) -> str:
    """A hash that is equal for equal configurations."""
    return hashlib.sha256(server.model_dump_json().encode()).hexdigest()


def _load(config: Config) -> Mapping[str, Any]:
    if isinstance(config, Mapping):
        return config
    if isinstance(config, str) and config.startswith(("http://", "https://")):
        return {"url": config}
    if not isinstance(config, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from a file
        raise ConfigError(f"config is an MCP server's URL, the path of a JSON file, or {FORM}, not {config!r}")
    try:
        loaded: Any = json.loads(Path(config).read_text("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{str(config)!r} is neither an MCP server's URL nor a file to read: {error.strerror}"
        ) from error
    except ValueError as error:
        raise ConfigError(f"{config} is not JSON: {error}") from error
    if not isinstance(loaded, dict):
        raise ConfigError(f"{config} does not hold a JSON object such as {FORM}")
    return cast("Mapping[str, Any]", loaded)


def _server(name: str, entry: Mapping[str, Any]) -> ServerConfig:
    if not isinstance(entry, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from a file
        raise ConfigError(f"the MCP server {name!r} is an object with a command or a url, not {entry!r}")
    if "command" not in entry and "url" not in entry:
        near = "".join(did_you_mean(key, ("command", "url")) for key in entry)
        has = ", ".join(map(repr, entry)) or "nothing"
        raise ConfigError(f"the MCP server {name!r} needs a 'command' or a 'url', and has {has}.{near}")
    if _INPUT in str(entry):
        raise ConfigError(f"the MCP server {name!r}: '{_INPUT}…}}' works only in VS Code; write the value in its place")
    given = entry.get("type", entry.get("transport"))
    kind = "http" if isinstance(given, str) and given in _HTTP else given
    if kind not in (None, "stdio", "http"):
        raise ConfigError(f"the MCP server {name!r} is reached by stdio or streamable HTTP ('http'), not by {given!r}")
    try:
        return _SERVER_CONFIG.validate_python({**entry, "type": kind or _kind(entry)})
    except ValidationError as error:
        what = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
        raise ConfigError(f"the MCP server {name!r} has wrong settings: {what}") from error
