"""Where ids are looked up: each function checks that the library is there before it imports what uses it."""

from gem.packs.spec import EnvSpec
from gem_interop.versions import check

GYMNASIUM = ("gymnasium", "1.0.0", "1.4.0")
SKYRL = ("skyrl-gym", "0.4.0", "0.4.0")
TEXTARENA = ("textarena", "0.7.4", "0.7.4")


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


def textarena(name: str) -> EnvSpec | None:
    """`textarena:name`."""
    check(*TEXTARENA)
    from gem_interop.envs.textarena import resolve

    return resolve(name)


def textarena_names() -> list[str]:
    """The games of TextArena for one player."""
    check(*TEXTARENA)
    from gem_interop.envs.textarena import names

    return names()


def skyrl(name: str) -> EnvSpec | None:
    """`skyrl:name`."""
    check(*SKYRL)
    from gem_interop.envs.skyrl import resolve

    return resolve(name)


def skyrl_names() -> list[str]:
    """The environments of SkyRL."""
    check(*SKYRL)
    from gem_interop.envs.skyrl import names

    return names()


def nemo(name: str) -> EnvSpec | None:
    """`nemo:URL`, by the protocol of NeMo Gym 0.7; its package is not needed."""
    from gem_interop.envs.nemo import resolve

    return resolve(name)
