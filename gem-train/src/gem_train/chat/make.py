"""The chat encoder of a model."""

from typing import cast

from gem.chat.encoder import ChatEncoder
from gem.chat.tokenizer import ChatTokenizer
from gem_train.config.sections import PlayConfig
from gem_train.models.loading import LoadedModel


def make_chat(loaded: LoadedModel, settings: PlayConfig) -> ChatEncoder:
    """The encoder for a model: replies also end with any of the `eos_token_id` of its generation config."""
    return ChatEncoder(
        cast("ChatTokenizer", loaded.tokenizer),
        history=settings.history,
        template_kwargs=settings.template_kwargs,
        stop_ids=loaded.stop_ids,
    )
