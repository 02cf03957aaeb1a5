"""The whole extension surface of GEM.

A pack is an installed distribution with an entry point in the group `gem.packs`. The entry point's name is the
namespace of the pack's ids, and its module holds implementations of the hooks below:

```toml
[project.entry-points."gem.packs"]
maze = "gem_envs_maze.plugin"
```

```python
import gem

GEM_API = 1

@gem.hookimpl
def gem_envs():
    return [gem.EnvSpec(id="maze:Small-v0", entry_point="gem_envs_maze.small:Small", max_turns=20)]
```

Hooks return data and change nothing. The module is a table: it imports no environment, because listing loads it.
"""

from collections.abc import Mapping, Sequence

from pluggy import HookimplMarker, HookspecMarker
from pydantic import BaseModel, ConfigDict

from gem.packs.spec import EnvSpec

API_VERSION = 1
"""The version of this page. A plugin module says which one it was written for: `GEM_API = 1`."""

hookspec = HookspecMarker("gem")
"""Marks the hooks below."""
hookimpl = HookimplMarker("gem")
"""Marks a function of a plugin module that implements one of them."""


class CommandSpec(BaseModel):
    """A subcommand of `gemx`, described without importing it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """What is typed after `gemx`."""
    entry_point: str
    """'module:function', a click command, imported when it is called or asked for help."""
    help: str
    """One line, for the list of commands."""


@hookspec
def gem_envs() -> Sequence[EnvSpec]:  # pyright: ignore[reportReturnType]
    """The environments of this pack. Each id lies in a namespace that the pack declares as an entry point."""


@hookspec
def gem_tools() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The tools of this pack: name → 'module:object', a `gem.Tool`, or what takes settings and returns tools."""


@hookspec
def gem_wrappers() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The wrappers of this pack: name → 'module:callable', which takes an env, and settings, and returns an env."""


@hookspec
def gem_safe_settings() -> Mapping[str, Sequence[str]]:  # pyright: ignore[reportReturnType]
    """What a file that somebody else wrote, such as a recording, may ask of this pack without being trusted.

    `'module:object'`, as it stands in the tables of environments, tools and wrappers → the settings that may stand in
    such a file, with plain values (a string, a number, true, false, null, or a list of these). A tool or a wrapper that
    is not here is never built from such a file; an environment that is not here is built as its spec says, and with no
    other settings than the spec's.

    List what does no harm whatever its value is. Leave out what names code, a module, a program, a file or an address,
    what weakens a sandbox, and what could use up the memory or the time of the machine.
    """


@hookspec
def gem_policies() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The policies of this pack: name → 'module:callable', which takes keyword arguments and returns a policy."""


class Diagnostic(BaseModel):
    """What `gemx doctor` shows of something that a pack depends on beside Python packages."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: str
    """One line, such as "level bubblewrap" or "CUDA, 1 GPU"."""
    ok: bool = True
    """False for what its user should look at. It does not change the exit status of `gemx doctor`."""
    details: tuple[str, ...] = ()
    """Why it is not better, and what to do about it; one line each."""


@hookspec
def gem_diagnostics() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """What `gemx doctor` should look at for this pack: name → 'module:function'.

    The function takes nothing and returns a `Diagnostic`, or a mapping with its fields. It is imported and called only
    by `gemx doctor`. Packs that share a dependency may name the same function, which is then called once.
    """


@hookspec
def gem_commands() -> Sequence[CommandSpec]:  # pyright: ignore[reportReturnType]
    """The subcommands that this pack adds to `gemx`."""
