"""The cost of following a chat template that changes earlier messages, measured with the template itself."""

from gem.chat.encoder import ChatEncoder

_TURNS = 16
_WORDS = " ".join(["some words"] * 16)
_THINKING = f"<think>\n{_WORDS}\n</think>\n\n{_WORDS}"
_DEAR = 1.1
"""Factor of ids from which on there is a warning."""


def cost_of_rewriting(chat: ChatEncoder, reply: str = _WORDS) -> float:
    """The ids of an episode of 16 turns as a multiple of those with `history="keep"`.

    Args:
        chat: with the template.
        reply: what is replied at every turn.
    """
    if chat.appends or chat.history == "keep":
        return 1.0
    turns = [(_WORDS, reply)] * _TURNS
    followed, kept = (
        sum(len(said.prompt_ids) + len(said.ids) for said in chat.as_sampled(turns, history=history))
        for history in ("template", "keep")
    )
    return followed / kept


def rewriting_warning(chat: ChatEncoder) -> str | None:
    """The cost in words, if it is high; None otherwise."""
    for reply, which in ((_WORDS, ""), (_THINKING, " with reasoning in its replies")):
        cost = cost_of_rewriting(chat, reply)
        if cost > _DEAR:
            return (
                "the chat template changes earlier messages, so that the context begins anew at every turn: an episode "
                f"of {_TURNS} turns{which} has {cost:.1f} times as many ids to read and to train on as with "
                'rollout.history = "keep", which appends to what the model has read'
            )
    return None
