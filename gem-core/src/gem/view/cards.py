"""One HTML file with a card per environment, which can be searched. It needs no network."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from gem.view.page import asset, filled


@dataclass(frozen=True, slots=True)
class Card:
    """What a card says of an environment."""

    id: str
    description: str
    pack: str
    """The distribution with its version."""
    tags: Sequence[str]
    turns: str
    """The limit on the turns of an episode, in words."""
    extra: str | None
    """What must be installed besides."""
    random: float | None
    """Success of random play; None if it is not known."""
    expert: float | None
    """Success of its expert; None if it is not known, or if there is none."""


@dataclass(frozen=True, slots=True)
class SourceCard:
    """What a card says of the environments of another library, which are not known before they are asked for."""

    id: str
    """The form of their ids, such as "openenv:URL"."""
    description: str
    pack: str
    """The distribution with its version."""
    command: str
    """What shows more of them."""
    tags: Sequence[str] = ()


def cards_page(cards: Sequence[Card | SourceCard], note: str) -> str:
    """The page of `cards`, by pack; `note` says where the floors come from."""
    by_pack = sorted(cards, key=lambda card: card.pack)
    sections = "\n".join(
        f"<section><h2>{escape(pack)}</h2><div class='cards'>{''.join(map(_card, of_pack))}</div></section>"
        for pack, of_pack in itertools.groupby(by_pack, key=lambda card: card.pack)
    )
    parts = {
        "packs": _options(dict.fromkeys(card.pack for card in by_pack)),
        "tags": _options(sorted({tag for card in cards for tag in card.tags})),
        "note": escape(note),
        "cards": sections,
    }
    return filled("cards.html", asset("program/cards.js"), parts)


def _options(values: Sequence[str] | dict[str, None]) -> str:
    return "".join(f"<option>{escape(value)}</option>" for value in values)


def _card(card: Card | SourceCard) -> str:
    head = f"<h3>{escape(card.id)}</h3><p>{escape(card.description)}</p>"
    if isinstance(card, SourceCard):
        return f"<article>{head}<pre>{escape(card.command)}</pre></article>\n"
    tags = "".join(f"<button class='pill' type='button'>{escape(tag)}</button>" for tag in card.tags)
    floors = _floor("random", card.random) + _floor("expert", card.expert) or "<p class='dim'>floors not known</p>"
    needs = f"<p class='dim'>needs <code>pip install '{escape(card.extra)}'</code></p>" if card.extra else ""
    return (
        f"<article>{head}<p class='tags'>{tags}</p>{floors}"
        f"<p class='dim'>{escape(card.turns)}</p>{needs}<pre>gemx play {escape(card.id)}</pre></article>\n"
    )


def _floor(name: str, success: float | None) -> str:
    if success is None:
        return ""
    share = f"{100 * success:.0f}%"
    return f"<div class='floor'><span>{name}</span><i><b style='width:{share}'></b></i><span>{share}</span></div>"
