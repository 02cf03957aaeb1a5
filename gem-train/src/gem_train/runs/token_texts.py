"""The tokens of recorded replies as texts, for people to look at."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from gem.episode import Completion, Episode, TokenTexts, Trace, Turn
from gem_train.batch import Batch

_INCOMPLETE = "\ufffd"
"""Text that a part of a character is decoded to."""


def with_token_texts(episode: Episode, tokenizer: Any, trained: Mapping[str, Sequence[int]] | None = None) -> Episode:
    """The episode, with `Completion.tokens` of the replies that have ids.

    Args:
        episode: as the sampler played it.
        tokenizer: of transformers, which made the ids.
        trained: by player, see `trained_ids`; None if nothing learned from the episode.
    """

    def with_texts(trace: Trace) -> Trace:
        masks = None if trained is None else itertools.chain(trained.get(trace.player, ()), itertools.repeat(0))
        turns: list[Turn] = []
        for turn in trace.turns:
            said = turn.completion
            mask = () if masks is None else tuple(itertools.islice(masks, len(said.ids)))
            told = replace(said, tokens=tokens_of(said, tokenizer, mask)) if said.ids else said
            turns.append(replace(turn, completion=told))
        return replace(trace, turns=tuple(turns))

    return episode.each_trace(with_texts)


def trained_ids(batch: Batch, row: int) -> list[int]:
    """1 for each id sampled in an episode that is trained on, else 0; zeros at the end may be missing.

    Args:
        batch: as `Algorithm.prepare` leaves it.
        row: of its table of episodes, which has one for each trace.
    """
    found: list[int] = []
    for sequence in batch.sequences:
        own = sequence.turn >= 0
        if own.any() and batch.episode[sequence.turn[own][0]] == row:
            found.extend(sequence.sampled[own].astype(int).tolist())
    return found


def tokens_of(said: Completion, tokenizer: Any, mask: Sequence[int] = ()) -> TokenTexts:
    """The tokens of a reply with ids; a `mask` of ones says nothing, and is left out."""
    return TokenTexts(
        tuple(token_texts(tokenizer, said.ids)),
        said.logprobs,
        mask=() if all(mask) else tuple(mask),
        prompt=_decoded(tokenizer, said.prompt_ids),
    )


def token_texts(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The text of each id. Of those that share a character, the last one has it, and the others are empty."""
    texts: list[str] = []
    start = read = 0
    for end in range(1, len(ids) + 1):
        # Beside the ids before it, because some tokenizers drop a space at the beginning of a text.
        whole = _decoded(tokenizer, ids[start:end])
        if whole.endswith(_INCOMPLETE) and end < len(ids):
            texts.append("")
            continue
        texts.append(whole[len(_decoded(tokenizer, ids[start:read])) :])
        start, read = read, end
    return texts


def _decoded(tokenizer: Any, ids: Sequence[int]) -> str:
    return tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)
