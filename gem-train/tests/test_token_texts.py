"""The tokens of recorded replies as texts, and which of them were learned from."""

import pytest
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from gem.episode import Completion, Episode, Trace, Turn
from gem_train.algorithms.actions import regroup
from gem_train.batch import collate
from gem_train.models.tiny import tiny_tokenizer
from gem_train.runs.token_texts import token_texts, trained_ids, with_token_texts

TINY = tiny_tokenizer([])


def spaced() -> PreTrainedTokenizerFast:
    """A tokenizer that drops a space at the beginning of a text, as Llama 2's does."""
    words = {word: id for id, word in enumerate(["<unk>", "\u2581so", "\u2581be", "\u2581it", "s", "\u2581"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def test_the_texts_of_tokens_joined_are_the_text_of_all():
    for text in ("so be it", "\U0001f9d1\u200d\U0001f680 e\u0301, \u4f60\u597d!", " \n two  spaces ", "\ufffd cut"):
        ids = TINY.encode(text, add_special_tokens=False)
        assert len(ids) > 1
        assert "".join(token_texts(TINY, ids)) == text
    # The first three of the four bytes of a character.
    assert "".join(token_texts(TINY, TINY.encode("\U0001f680", add_special_tokens=False)[:-1])) == "\ufffd"
    assert token_texts(spaced(), [1, 2, 4, 3]) == ["so", " be", "s", " it"]


@pytest.mark.parametrize(
    ("cut_replies", "masks"),
    [("act", ((), (), ())), ("mask", ((), (0, 0), ())), ("truncate", ((), (0, 0), (0,)))],
)
@pytest.mark.parametrize("actions", ["turn", "token", "episode"])
def test_the_mask_says_what_the_batch_left_out(cut_replies, masks, actions):
    def said(ids, reason="stop"):
        return Completion("x", prompt_ids=(7, 8), ids=ids, logprobs=(-0.5,) * len(ids), finish_reason=reason)

    def played(seed, *replies):
        turns = tuple(Turn("?", reply, 1.0, {}) for reply in replies)
        return Episode(
            id="lab:A",
            seed=seed,
            traces=(Trace(turns),),
            observation="",
            terminated=True,
            truncated=False,
            success=True,
        )

    episodes = [
        played(0, said((5, 6), "length")),
        played(1, said((1, 2, 3)), said((4, 5), "length"), said((6,))),
    ]
    batch = regroup(collate(episodes), actions, cut_replies, gamma=1.0)
    shown = with_token_texts(episodes[1], TINY, {"agent": trained_ids(batch, 1)})

    tokens = [turn.completion.tokens for turn in shown.turns]
    assert tuple(each.mask for each in tokens) == masks
    assert [each.logprobs for each in tokens] == [turn.completion.logprobs for turn in episodes[1].turns]
    assert all(each.prompt == TINY.decode([7, 8]) for each in tokens)
    assert with_token_texts(episodes[1], TINY).turns[1].completion.tokens.mask == ()
