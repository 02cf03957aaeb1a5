"""`hf`: a transformers model as a sampler, on CPU or GPU.

It keeps the keys and values of every conversation from turn to turn, so a turn costs its own tokens, not the whole
history. Between two tokens it admits new requests and returns finished replies; long prompts are read in parts.
"""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem.chat.encoder import ChatEncoder
from gem.chat.stops import StopTexts
from gem.rollout.transcript import Transcript
from gem_train.engines.conversations import Conversation, Request, Rows
from gem_train.engines.noise import Noise, draw
from gem_train.engines.row_attention import Chunk
from gem_train.engines.row_model import RowModel
from gem_train.engines.sampler import Sampler
from gem_train.engines.settings import HFSettings
from gem_train.models.checks import context_limit


class HFSampler(Sampler):
    """Samples from a transformers causal language model.

    A reply ends with the template's end-of-turn token, or after a text in the observation's `info["stop"]`, such as the
    end of a tool call. Where the learner trains the same module, new weights cost nothing, and `sleep` frees the cache.

    Args:
        model: with the same attention in every layer.
        chat, max_new_tokens, temperature, seed: as of `Sampler`.
        settings: of the engine.

    Raises:
        ConfigError: the model's attention is of another kind, or the temperature is negative.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        chat: ChatEncoder,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        settings: HFSettings | None = None,
        seed: int = 0,
    ) -> None:
        positions = context_limit(model.config)
        super().__init__(
            Conversation, chat, max_new_tokens=max_new_tokens, temperature=temperature, positions=positions, seed=seed
        )
        self.model = model
        self.settings = settings or HFSettings()
        self._stops = StopTexts(chat)
        self._model = RowModel(model)
        self._rows = Rows(self.settings.rows)
        self._waiting: dict[int, Conversation] = {}
        self._running: dict[int, Conversation] = {}

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Take new weights. What is cached was computed with the old ones and is computed again when it is needed.

        A tensor that is this model's own already (the learner trains the same module) costs nothing.
        """
        own = dict(self.model.named_parameters())
        with self._turns, torch.no_grad():
            for name, tensor in weights:
                if own[name].data_ptr() != tensor.data_ptr():
                    own[name].copy_(tensor)
            self._forget_cached()
            self.version = version

    def sleep(self) -> None:
        """Free the cache. What is needed of it is computed again; `wake` does nothing."""
        with self._turns:
            self._model.cache.clear()
            self._forget_cached()

    def _forget_cached(self) -> None:
        for conversation in self._conversations.values():
            conversation.cached = 0

    def _begin(self, slot: int, conversation: Conversation, transcript: Transcript, limit: int) -> None:
        conversation.request = Request(
            tuple(filter(None, transcript.info.get("stop", ()))),
            Noise(conversation.seed, conversation.start, len(transcript.turns)),
            limit=limit,
            finish_reason=conversation.if_cut,
        )
        self._waiting[slot] = conversation

    def forget(self, slot: int) -> None:
        with self._turns:
            self._ready.pop(slot, None)
            self._waiting.pop(slot, None)
            self._running.pop(slot, None)
            conversation = self._conversations.pop(slot, None)
            if conversation is not None:
                self._rows.release(conversation)

    @property
    def _busy(self) -> bool:
        return bool(self._waiting or self._running)

    @torch.inference_mode()
    def _step(self, timeout: float | None) -> None:
        """Admit what can be admitted, and sample the next token of every reply whose prompt has been read."""
        self._admit()
        moves = self._rows.moves()
        if moves:
            longest = max(conversation.cached for conversation in self._conversations.values())
            self._model.cache.copy(moves, longest)
        slots = {conversation.row: slot for slot, conversation in self._running.items()}
        rows, logits = self._model.logits(list(self._chunks()))
        self._sample([slots[row] for row in rows], logits)

    def _admit(self) -> None:
        """Begin with the requests that wait, as far as there are rows for them."""
        copies: dict[int, int] = {}
        longest = 0
        for slot, conversation in list(self._waiting.items()):
            if not self._rows.take(conversation):
                continue
            if conversation.cached == 0:
                source, shared = self._rows.find_shared(conversation)
                if shared < 0:
                    continue
                if source is not None:
                    # All are copied at once: not from a row that is itself a copy still to be made.
                    copies[conversation.row] = copies.get(source.row, source.row)
                    conversation.cached = shared
                    longest = max(longest, shared)
            conversation.running = True
            self._running[slot] = self._waiting.pop(slot)
        self._model.cache.reserve(len(self._rows), longest)  # at once, though they may read one after the other
        if copies:
            self._model.cache.copy([(source, target) for target, source in copies.items()], longest)

    def _chunks(self) -> Iterator[Chunk]:
        """Ids that each running conversation reads in this step: its last token, or a part of its prompt."""
        left = self.settings.prefill_tokens
        for conversation in self._running.values():
            start = conversation.cached
            length = len(conversation.context) - start
            if length > 1:
                length = min(length, left)
                left -= length
            if length:
                conversation.cached += length
                ids = conversation.context[start : conversation.cached]
                yield Chunk(conversation.row, start, ids, conversation.is_read)

    def _sample(self, slots: list[int], logits: Tensor) -> None:
        """Sample a token for each of these conversations, and finish the replies that end with it."""
        requests = [request for slot in slots if (request := self._running[slot].request) is not None]
        numbers = [request.noise[len(request.ids)] for request in requests]
        noise = torch.tensor(numbers, dtype=torch.float64, device=logits.device)
        chosen, logprobs = draw(logits, self.temperature, noise)
        for slot, request, token, logprob in zip(slots, requests, chosen.tolist(), logprobs.tolist(), strict=True):
            request.ids.append(token)
            request.logprobs.append(logprob)
            if not request.versions or request.versions[-1] != self.version:
                request.versions.append(self.version)
            self._running[slot].context.append(token)
            if token in self.chat.stop_ids or self._stops.reached(request.stops, request.ids):
                request.finish_reason = "stop"
            elif len(request.ids) < request.limit:
                continue
            self._finish(slot, request)

    def _finish(self, slot: int, request: Request) -> None:
        conversation = self._running.pop(slot)
        conversation.request, conversation.running = None, False
        self._ready[slot] = conversation.completion(
            request.ids, request.logprobs, request.finish_reason, request.versions
        )
