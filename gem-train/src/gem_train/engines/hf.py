"""`hf`: a transformers model as a sampler, on CPU or GPU.

It caches the keys and values of every conversation from turn to turn, so a turn costs its own tokens, not the whole
history. It suits small models, and shows how sampling works.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem import seeding
from gem.errors import ConfigError
from gem.rollout.transcript import Completion, FinishReason, Start, Transcript
from gem_train.chat import ChatEncoder, Prompt, make_chat
from gem_train.config import RolloutConfig
from gem_train.engines.kv_cache import SlotCache
from gem_train.engines.noise import Noise, draw
from gem_train.engines.sampler import Sampler
from gem_train.engines.settings import HFSettings
from gem_train.model_checks import context_limit
from gem_train.models import LoadedModel


@dataclass(slots=True)
class _Conversation:
    """The state of one transcript."""

    seed: int
    """Of the sampler when the conversation began."""
    start: Start
    context: list[int] = field(default_factory=list[int])
    """Every id read or sampled."""
    cached: int = 0
    """How many of them have keys and values in the cache."""


@dataclass(slots=True)
class _Request:
    slot: int
    prompt: Prompt
    stops: tuple[str, ...]
    stop_ids: int
    """An upper bound on the ids of the longest of them: one per byte."""
    noise: Noise
    limit: int
    """The most ids that the reply can have."""
    ids: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    versions: list[int] = field(default_factory=list[int])
    finish_reason: FinishReason = "length"


class HFSampler(Sampler):
    """Samples from a transformers causal language model.

    A reply ends with the template's end-of-turn token, or after a text in the observation's `info["stop"]`, such as the
    end of a tool call.

    Args:
        model: with full attention in every layer, or with the same window in all; then conversations end at the window.
        chat: renders transcripts; its tokenizer is the model's.
        max_new_tokens: the longest reply, in tokens.
        temperature: of sampling, above 0. Log-probabilities are those of the distribution that was drawn from.
        seed: of the sampling.

    Raises:
        ConfigError: the model's layers are not all alike, or have no attention.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        chat: ChatEncoder,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> None:
        if temperature <= 0:
            raise ConfigError(f"temperature must be above 0, not {temperature}")
        self.model = model
        self.chat = chat
        self.max_new_tokens = max_new_tokens
        self.temperature = temperature
        self._max_positions = context_limit(model.config)
        self._stop_ids = torch.tensor(chat.stop_ids, device=model.device)
        self._cache = SlotCache(model.config.num_hidden_layers)
        self._conversations: dict[int, _Conversation] = {}
        self._waiting: dict[int, Transcript] = {}
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Set the seed of the sampling, for the conversations that begin from now on."""
        self._seed = seeding.check_seed(seed)
        # Conversations outside a rollout have no start; they are told apart by their order.
        self._unnamed = count()

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Take new weights. What is cached was computed with the old ones and is computed again when it is needed.

        A tensor that is this model's own already (the learner trains the same module) costs nothing.
        """
        own = dict(self.model.named_parameters())
        with torch.no_grad():
            for name, tensor in weights:
                if own[name].data_ptr() != tensor.data_ptr():
                    own[name].copy_(tensor)
        for conversation in self._conversations.values():
            conversation.cached = 0
        self.version = version

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        self._waiting.update(transcripts)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
        # All waiting transcripts are one batch: a forward pass costs little more for many rows than for one.
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return {}
        requests = [self._read(slot, transcript) for slot, transcript in waiting.items()]
        self._generate([request for request in requests if request.limit])
        return {request.slot: self._completion(request) for request in requests}

    def forget(self, slot: int) -> None:
        self._waiting.pop(slot, None)
        self._conversations.pop(slot, None)

    def _read(self, slot: int, transcript: Transcript) -> _Request:
        conversation = self._conversations.get(slot)
        if conversation is None:
            start = transcript.start or Start(next(self._unnamed))
            conversation = self._conversations[slot] = _Conversation(self._seed, start)
        prompt = self.chat.prompt(transcript, conversation.context)
        if prompt.new_segment:
            conversation.context, conversation.cached = [], 0
        conversation.context.extend(prompt.ids)
        room = max(0, self._max_positions - len(conversation.context))
        stops = tuple(transcript.info.get("stop", ()))
        return _Request(
            slot,
            prompt,
            stops,
            max((len(stop.encode()) for stop in stops), default=0),
            Noise(conversation.seed, conversation.start, len(transcript.turns)),
            limit=min(room, self.max_new_tokens),
            finish_reason="context" if room < self.max_new_tokens else "length",
        )

    def _completion(self, request: _Request) -> Completion:
        ids = tuple(request.ids)
        if not ids:
            return Completion("", finish_reason="context")
        return Completion(
            text=self.chat.text(ids),
            prompt_ids=request.prompt.ids,
            ids=ids,
            logprobs=tuple(request.logprobs),
            finish_reason=request.finish_reason,
            new_segment=request.prompt.new_segment,
            weight_versions=tuple(request.versions),
        )

    @torch.inference_mode()
    def _generate(self, requests: list[_Request]) -> None:
        """Sample the replies of all requests in one batch; a row that has ended drops out of it."""
        active = requests
        while active:
            chosen, logprobs = self._sample(active, self._forward(active))
            stopped = torch.isin(chosen, self._stop_ids)
            still: list[_Request] = []
            for request, token, logprob, stop in zip(
                active, chosen.tolist(), logprobs.tolist(), stopped.tolist(), strict=True
            ):
                request.ids.append(token)
                request.logprobs.append(logprob)
                if request.versions[-1:] != [self.version]:
                    request.versions.append(self.version)
                self._conversations[request.slot].context.append(token)
                if stop or self._at_a_stop(request):
                    request.finish_reason = "stop"
                elif len(request.ids) < request.limit:
                    still.append(request)
            active = still

    def _at_a_stop(self, request: _Request) -> bool:
        """Whether the reply has just reached one of its stop texts."""
        if not request.stops:
            return False
        # An earlier one would have ended the reply.
        tail = self.chat.text(tuple(request.ids[-request.stop_ids :]))
        return any(stop in tail for stop in request.stops)

    def _forward(self, requests: list[_Request]) -> Tensor:
        """Run the ids of each context that are not cached; the logits after the last, ``[batch, vocabulary]``."""
        conversations = [self._conversations[request.slot] for request in requests]
        fresh = [conversation.context[conversation.cached :] for conversation in conversations]
        longest = max(len(ids) for ids in fresh)
        device = self.model.device
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in fresh], device=device)
        starts = torch.tensor([conversation.cached for conversation in conversations], device=device)
        positions = starts[:, None] + torch.arange(longest, device=device)
        rows = torch.tensor([request.slot for request in requests], device=device)
        last = torch.tensor([len(row) - 1 for row in fresh], device=device)
        # Only the columns where some row ends need logits: for a vocabulary of 150,000 that is most of the work saved.
        columns, inverse = last.unique(return_inverse=True)
        output = self.model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=self._cache.use(rows, positions),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=columns,
        )
        for conversation in conversations:
            conversation.cached = len(conversation.context)
        return output.logits[torch.arange(len(requests), device=device), inverse]

    def _sample(self, requests: list[_Request], logits: Tensor) -> tuple[Tensor, Tensor]:
        """One token per row and its log-probability, both ``[batch]``."""
        noise = [request.noise[len(request.ids)] for request in requests]
        return draw(logits, self.temperature, torch.tensor(noise, dtype=torch.float64, device=logits.device))


def make_sampler(loaded: LoadedModel, play: RolloutConfig, settings: HFSettings, seed: int = 0) -> HFSampler:
    """A sampler from the learner's own module, as the settings of a run say."""
    chat = make_chat(loaded, play)
    return HFSampler(loaded.model, chat, max_new_tokens=play.max_new_tokens, temperature=play.temperature, seed=seed)
