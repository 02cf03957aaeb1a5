"""The ids of one conversation that an engine has read and sampled, and the room for its next reply."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gem.chat.encoder import ChatEncoder, Prompt
from gem.episode import Completion, FinishReason
from gem.rollout.transcript import Transcript

_NOTHING = Prompt((), False)


@dataclass(slots=True, eq=False)
class Conversation:
    """The ids of one transcript, as an engine reads and samples them.

    A reply may have as many ids as fit into the context, and at most `max_new_tokens`. If not even one fits, nothing
    can be said.
    """

    chat: ChatEncoder
    """Renders the transcript."""
    positions: int
    """Most ids of a context, read and sampled."""
    max_new_tokens: int
    """Most ids of a reply."""
    context: list[int] = field(default_factory=list[int])
    """Every id read or sampled, since the last new segment."""
    prompt: Prompt = _NOTHING
    """The prompt that was read last."""

    def ask(self, transcript: Transcript) -> int:
        """Read up to the next reply; returns the most ids that it may have, 0 if nothing can be said."""
        self.prompt = self.chat.prompt(transcript, self.context)
        self.read(self.prompt)
        return max(0, min(self.room, self.max_new_tokens))

    def read(self, prompt: Prompt) -> None:
        """Extend the context by a prompt."""
        if prompt.new_segment:
            self.context.clear()
        self.context += prompt.ids

    @property
    def room(self) -> int:
        """Number of ids that still fit into the context."""
        return self.positions - len(self.context)

    @property
    def if_cut(self) -> FinishReason:
        """Why a reply ends that has as many ids as it may, as long as it has none."""
        return "context" if self.room < self.max_new_tokens else "length"

    def completion(
        self, ids: Sequence[int], logprobs: Sequence[float], finish_reason: FinishReason, versions: Sequence[int] = ()
    ) -> Completion:
        """The reply to what was read last; the caller adds its ids to the context."""
        return Completion(
            text=self.chat.text(tuple(ids)),
            prompt_ids=self.prompt.ids,
            ids=tuple(ids),
            logprobs=tuple(logprobs),
            finish_reason=finish_reason,
            new_segment=self.prompt.new_segment,
            weight_versions=tuple(versions),
        )
