"""Cards as a pack keeps them: the file `audit.json` beside its plugin module, which the documentation site shows."""

import json
from collections.abc import Sequence
from typing import Any

from gem.audit.card import Card


def kept(cards: Sequence[Card]) -> str:
    """The text of the file, with a line for each environment, so that a change of it can be read.

    `probes` names the probes, and `cards` has what each environment has besides sound ones: the names of those that are
    `skipped`, and of those that are `known` and `found` the reason and what they found.
    """
    names = [outcome.probe for outcome in cards[0].outcomes]
    lines = [f"  {json.dumps(card.id)}: {json.dumps(_kept(card))}" for card in cards]
    return f'{{"probes": {json.dumps(names)}, "cards": {{\n' + ",\n".join(lines) + "\n}}\n"


def _kept(card: Card) -> dict[str, Any]:
    skipped = [outcome.probe for outcome in card.outcomes if outcome.state == "skipped"]
    found = {
        state: {
            outcome.probe: {"reason": outcome.reason, "what": [finding.what for finding in outcome.findings]}
            for outcome in card.outcomes
            if outcome.state == state
        }
        for state in ("known", "found")
    }
    return {name: value for name, value in {"skipped": skipped, **found}.items() if value}
