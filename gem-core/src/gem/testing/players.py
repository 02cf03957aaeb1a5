"""The check of games for several players."""

import math
from collections.abc import Mapping
from typing import Any, cast

from gem.episode.episode import AGENT
from gem.errors import ContractViolation
from gem.testing.subject import Subject


def check_players(subject: Subject) -> None:
    """The players, rewards and winners that infos name are `env.players`, and the rewards sum to those of the steps."""
    with subject.make() as env:
        players = env.players
    for play in subject.reference:
        for turn, taken in enumerate(play.transitions):
            info = taken.raw[1 if taken.action is None else 4]
            where = f"turn {turn} of the episode from seed {play.seed}" if turn else f"the reset with seed {play.seed}"
            if not isinstance(info, Mapping):
                continue  # the check `types` reports it
            known = cast("Mapping[str, Any]", info)
            if not taken.over:
                _check_next(known, players, where)
            if taken.action is not None:
                _check_rewards(known, players or (AGENT,), taken.raw[1], where)
            if taken.over and players:
                _check_won(known, players, where)


def _check_next(info: Mapping[str, Any], players: tuple[str, ...], where: str) -> None:
    given = info.get("player")
    if (given is None and not players) or given in players:
        return
    raise ContractViolation(
        f"At {where}, info['player'] is {given!r}, and env.players are {players!r}.",
        "Name all players in the attribute `players` of the class, and who acts next in the info of the reset and of "
        "every step that goes on.",
    )


def _check_rewards(info: Mapping[str, Any], players: tuple[str, ...], reward: Any, where: str) -> None:
    given = info.get("rewards")
    if given is None:
        return
    fix = (
        "info['rewards'] has what each player earned with the step, as a number or in parts by name, whose sum is the "
        "reward of the step."
    )
    if not isinstance(given, Mapping):
        raise ContractViolation(f"At {where}, info['rewards'] is {given!r}.", fix)
    rewards = cast("Mapping[str, Any]", given)
    if strangers := [name for name in rewards if name not in players]:
        raise ContractViolation(f"At {where}, {strangers[0]!r} earns a reward, and the players are {players!r}.", fix)
    values: list[Any] = []
    for each in rewards.values():
        values += cast("Mapping[str, Any]", each).values() if isinstance(each, Mapping) else [each]
    try:
        total = math.fsum(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise ContractViolation(f"At {where}, info['rewards'] is {given!r}: {error}.", fix) from None
    if not math.isclose(total, reward, rel_tol=1e-9, abs_tol=1e-9):
        raise ContractViolation(f"At {where}, the rewards of the players sum to {total}, not {reward!r}.", fix)


def _check_won(info: Mapping[str, Any], players: tuple[str, ...], where: str) -> None:
    won: object = info.get("won")
    named = isinstance(won, list) and all(name in players for name in cast("list[object]", won))
    if named and info.get("success") == bool(cast("object", won)):
        return
    given = f"won={won!r} and success={info.get('success')!r}" if "won" in info else "no `won`"
    raise ContractViolation(
        f"The last step, at {where}, has {given}; the players are {players!r}.",
        "Put the list of the players who did what the game asks for into info['won'] of every last step, and whether "
        "there are any into info['success'].",
    )
