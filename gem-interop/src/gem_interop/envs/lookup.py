"""Where ids are looked up: each function checks that the library is there before it imports what uses it."""

from gem.packs.spec import EnvSpec
from gem_interop.versions import check

GYMNASIUM = ("gymnasium", "1.0.0", "1.4.0")


def gymnasium(name: str) -> EnvSpec | None:
    """`gymnasium:name`."""
    check(*GYMNASIUM)
    from gem_interop.envs.gymnasium import resolve

    return resolve(name)


def gymnasium_names() -> list[str]:
    """The environments of Gymnasium that can be played here."""
    check(*GYMNASIUM)
    from gem_interop.envs.gymnasium import names

    return names()


def openenv(name: str) -> EnvSpec | None:
    """`openenv:URL`, by the WebSocket of OpenEnv 0.10; its package is not needed."""
    check("websockets", "14.0", "17.4")
    from gem_interop.envs.openenv import resolve

    return resolve(name)
