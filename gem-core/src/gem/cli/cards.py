"""The page of `gemx list --html`: a card per environment."""

from collections.abc import Mapping, Sequence

from gem.cli.floors import Floors, packaged_floors
from gem.cli.output import echo
from gem.errors import ConfigError
from gem.packs.discovery import Pack
from gem.packs.hookspecs import EnvSource
from gem.packs.registry import RegistryEntry
from gem.view.cards import Card, SourceCard, cards_page


def page_of_cards(
    entries: Sequence[RegistryEntry], measured: Floors | None, sources: Sequence[tuple[EnvSource, Pack]] = ()
) -> str:
    """The page of `entries`, with the floors that were `measured`, or with those that their packs bring along, and of
    `sources`, whose environments are those of another library."""
    known: dict[str, Mapping[str, float | None]] = {}
    episodes: set[int] = set()
    packs = {entry.pack.distribution: entry.pack for entry in entries if entry.pack}
    for floors in [measured] if measured else map(_packaged, packs.values()):
        if floors is not None:
            known.update(floors.floors)
            episodes.add(floors.episodes)
    counts = " or ".join(map(str, sorted(episodes)))
    note = f"Floors: success over {counts} episodes, " if counts else "Floors are not known: --floors N measures them, "
    note += "of random well-formed actions, and of the environment's own expert."
    cards = [_card(entry, known.get(entry.spec.id, {})) for entry in entries]
    return cards_page([*cards, *(_source_card(source, pack) for source, pack in sources)], note)


def _packaged(pack: Pack) -> Floors | None:
    try:
        return packaged_floors(pack)
    except ConfigError as error:
        echo(str(error), err=True)
        return None


def _card(entry: RegistryEntry, floors: Mapping[str, float | None]) -> Card:
    spec, pack = entry.spec, entry.pack
    limit = spec.kwargs.get("max_turns", spec.max_turns) or (1 if "single-turn" in spec.tags else None)
    return Card(
        id=spec.id,
        description=spec.description,
        pack=_versioned(pack) if pack else "registered here",
        tags=spec.tags,
        turns="a turn limit of its own" if limit is None else "one turn" if limit == 1 else f"at most {limit} turns",
        extra=spec.extra,
        random=floors.get("random"),
        expert=floors.get("expert"),
    )


def _source_card(source: EnvSource, pack: Pack) -> SourceCard:
    command = f"gemx list {source.namespace}" if source.names else f"gemx info {source.form}"
    return SourceCard(source.form, source.description, _versioned(pack), command)


def _versioned(pack: Pack) -> str:
    return f"{pack.distribution} {pack.version}"
