"""The hooks of a pack: the whole extension surface of GEM.

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

Hooks return data and have no side effects. The module must not import environments, because listing imports it.
"""

from collections.abc import Mapping, Sequence

from pluggy import HookimplMarker, HookspecMarker

from gem.checks import CheckedStruct
from gem.packs.spec import EnvSpec

API_VERSION = 1
"""The version of the hooks. A plugin module names the one it was written for: `GEM_API = 1`."""

hookspec = HookspecMarker("gem")
"""The decorator of the hooks below."""
hookimpl = HookimplMarker("gem")
"""The decorator of a function that implements one of them in a plugin module."""


class CommandSpec(CheckedStruct, frozen=True):
    """A subcommand of `gemx`."""

    name: str
    """The word after `gemx`."""
    entry_point: str
    """'module:function', a click command, imported when it is called."""
    help: str
    """One line, for the list of commands."""


@hookspec
def gem_envs() -> Sequence[EnvSpec]:  # pyright: ignore[reportReturnType]
    """The environments of this pack. The namespace of each id must be an entry point of the pack."""


class EnvSource(CheckedStruct, frozen=True):
    """Environments of another library or server as ids of one namespace, looked up when they are asked for."""

    namespace: str
    """The namespace of the ids, an entry point of the pack. Its ids in `gem_envs` come first."""
    form: str
    """What an id is, such as "openenv:URL", for `gemx list`."""
    description: str
    """One line, for `gemx list`."""
    resolve: str
    """'module:function', which takes what an id has after the colon, and returns its `EnvSpec`, or None if there is no
    such environment. It must not use the network: to make the env is early enough."""
    names: str | None = None
    """'module:function' without arguments: the names that `resolve` knows now, if they can be listed. It is called for
    `gemx list NAMESPACE`, for patterns, and to suggest a name for a wrong one."""
    safe: bool = False
    """Whether an untrusted file, such as a recording from outside, may name any environment of this source. False if a
    name is an address, a path or code."""


@hookspec
def gem_sources() -> Sequence[EnvSource]:  # pyright: ignore[reportReturnType]
    """The namespaces of this pack whose ids are looked up: environments of another library, or on a server."""


@hookspec
def gem_tools() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The tools of this pack: name → 'module:object', a `gem.Tool`, or a callable that returns tools."""


@hookspec
def gem_wrappers() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The wrappers of this pack: name → 'module:callable', which takes an env and settings and returns an env."""


@hookspec
def gem_policies() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The policies of this pack: name → 'module:callable', which takes keyword arguments and returns a policy.

    One with an argument `model` can be named with it: `gemx eval ID --model NAME:MODEL`.
    """


@hookspec
def gem_rewards() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The rewards of this pack: name → 'module:object', a reward, a pipeline, or a callable that makes one of settings.

    They are for `--reward` of `gemx eval` and `gemx train`; see `gem.rewards.make_pipeline`.
    """


@hookspec
def gem_algorithms() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The training algorithms of this pack: name → 'module:Class', derived from gem-train's `Algorithm`."""


@hookspec
def gem_probes() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """The probes of this pack for `gemx audit`: name → 'module:function'.

    The function takes a `gem.audit.Task`, and yields a `gem.audit.Finding` for each thing that is wrong with it; it
    raises `gem.testing.subject.Inapplicable` for tasks that it says nothing about, such as those of other packs.
    """


class Diagnostic(CheckedStruct, frozen=True):
    """The state of something that a pack depends on besides Python packages, for `gemx doctor`."""

    status: str
    """One line, such as "level bubblewrap" or "CUDA, 1 GPU"."""
    ok: bool = True
    """False if the user should look at it; the exit status of `gemx doctor` does not depend on it."""
    details: tuple[str, ...] = ()
    """Reasons, and what to do; one line each."""


@hookspec
def gem_diagnostics() -> Mapping[str, str]:  # pyright: ignore[reportReturnType]
    """Diagnostics of this pack for `gemx doctor`: name → 'module:function'.

    The function takes no arguments and returns a `Diagnostic` or a mapping with its fields. Only `gemx doctor` imports
    and calls it, once even if several packs name it.
    """


@hookspec
def gem_commands() -> Sequence[CommandSpec]:  # pyright: ignore[reportReturnType]
    """The subcommands that this pack adds to `gemx`."""
