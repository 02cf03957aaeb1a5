"""`vllm`: an engine for large models, in this process; on GPU, and on CPU for tests.

Replies begin and end between any two tokens: `send` adds requests to those in progress, and each step of vLLM samples
the next token of all of them. vLLM keeps the keys and values of a conversation from turn to turn, by its ids.
"""

import itertools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem import seeding
from gem.chat.encoder import ChatEncoder, Prompt
from gem.failure import Failure
from gem.rollout.transcript import Completion, FinishReason, Start, Transcript
from gem_train.chat.make import make_chat
from gem_train.config.sections import RolloutConfig
from gem_train.engines.sampler import Sampler
from gem_train.engines.settings import VLLMSettings
from gem_train.engines.vllm_adapter import VLLMAdapter
from gem_train.engines.vllm_engine import start_engine, stop_engine
from gem_train.models.loading import LoadedModel
from gem_train.models.lora import has_adapter


@dataclass(slots=True)
class _Conversation:
    """The state of one transcript."""

    seed: int
    """Of the sampler when it began."""
    start: Start
    context: list[int] = field(default_factory=list[int])
    """Every id read or sampled."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A reply in progress."""

    slot: int
    prompt: Prompt
    if_cut: FinishReason
    """Why it ends where it may have no more tokens."""


class VLLMSampler(Sampler):
    """Samples with vLLM from a copy of a model's weights.

    A reply ends with one of the ids that end a reply, or after a text in the observation's `info["stop"]`. Each
    request has a seed of its own, so what is sampled does not depend on the requests beside it, except for rounding.

    Args:
        model: a transformers causal language model that vLLM can run too; the first weights are its.
        chat: renders transcripts; its tokenizer is the model's.
        max_new_tokens: the longest reply, in tokens.
        temperature: of sampling; at 0 each token is the most likely one.
        settings: of vLLM.
        dtype: of vLLM's weights and arithmetic.
        seed: of the sampling.

    Raises:
        ConfigError: vLLM cannot run the model, or not with these settings.
        MissingExtra: vLLM is not installed.
    """

    coldest = 0.01  # vLLM samples at this one where a lower one is asked for

    def __init__(
        self,
        model: PreTrainedModel,
        chat: ChatEncoder,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        settings: VLLMSettings | None = None,
        dtype: Literal["float32", "bfloat16"] = "float32",
        seed: int = 0,
    ) -> None:
        settings = settings or VLLMSettings()
        self.chat = chat
        self.max_new_tokens = max_new_tokens
        self.temperature = temperature
        self._positions = settings.max_model_len or int(model.config.max_position_embeddings)
        self._conversations: dict[int, _Conversation] = {}
        self._requests: dict[str, _Request] = {}
        self._names: dict[int, str] = {}
        """The request of each slot that has one in progress."""
        self._ready: dict[int, Completion | Failure] = {}
        self._numbers = itertools.count()
        self.reseed(seed)
        self._may_sleep, self._asleep = settings.sleep, False
        self._adapter = VLLMAdapter(model) if has_adapter(model) else None
        self._engine: Any = start_engine(
            model, cast("Any", chat.tokenizer), settings, adapter=self._adapter, positions=self._positions, dtype=dtype
        )
        parameters = model.named_parameters()
        self.load((pair for pair in parameters if self._adapter is None or "lora_" in pair[0]), 0)

    def reseed(self, seed: int) -> None:
        """Set the seed of the sampling, for the conversations that begin from now on."""
        self._seed = seeding.check_seed(seed)
        # Conversations outside a rollout have no start; they are told apart by their order.
        self._unnamed = itertools.count()

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Take new weights; replies in progress are computed again with them, and resume."""
        engine = self._engine
        if self._adapter is not None:
            self._adapter.load(engine, weights)
        else:
            with torch.no_grad():
                engine.collective_rpc("start_weight_update")
                engine.collective_rpc("update_weights", args=({"weights": list(weights)},))
                engine.collective_rpc("finish_weight_update")
        # Its keys and values are of the old weights.
        engine.reset_prefix_cache(reset_running_requests=True)
        engine.set_weight_version(str(version))
        self.version = version

    def sleep(self) -> None:
        """Free the GPU's memory, if the settings say so: weights go to the CPU's, keys and values are dropped."""
        if self._may_sleep and not self._asleep:
            self._engine.reset_prefix_cache(reset_running_requests=True)
            self._engine.sleep(level=1, mode="keep")
            self._asleep = True

    def wake(self) -> None:
        if self._asleep:
            self._engine.wake_up()
            self._asleep = False

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        for slot, transcript in transcripts.items():
            if slot not in self._conversations:
                start = transcript.start or Start(next(self._unnamed))
                self._conversations[slot] = _Conversation(self._seed, start)
            conversation = self._conversations[slot]
            prompt = self.chat.prompt(transcript, conversation.context)
            if prompt.new_segment:
                conversation.context.clear()
            conversation.context.extend(prompt.ids)
            room = self._positions - len(conversation.context)
            if room <= 0:
                self._ready[slot] = Completion("", finish_reason="context")
                continue
            name = str(next(self._numbers))
            self._names[slot] = name
            self._requests[name] = _Request(slot, prompt, "context" if room < self.max_new_tokens else "length")
            params = self._params(conversation, transcript, min(room, self.max_new_tokens))
            adapter = self._adapter and self._adapter.request()
            self._engine.add_request(name, _tokens(conversation.context), params, lora_request=adapter)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion | Failure]:
        # A step samples one token of each reply in progress, and nobody else takes steps: so one is taken, even when
        # nothing is to be waited for.
        end = None if timeout is None else time.monotonic() + timeout
        while self._requests and len(self._ready) < min_results:
            self._step()
            if end is not None and time.monotonic() >= end:
                break
        ready, self._ready = self._ready, {}
        return ready

    def forget(self, slot: int) -> None:
        self._conversations.pop(slot, None)
        self._ready.pop(slot, None)
        name = self._names.pop(slot, None)
        if name is not None:
            del self._requests[name]
            self._engine.abort_request([name])

    def close(self) -> None:
        """Stop vLLM and free its memory."""
        if self._engine is not None:
            stop_engine(self._engine)
            self._engine = None
        if self._adapter is not None:
            self._adapter.close()

    def _step(self) -> None:
        """Sample the next token of all replies in progress."""
        if self._asleep or not self._engine.has_unfinished_requests():  # they would be waited for without end
            why = "it sleeps: wake it first" if self._asleep else "it has none of them"
            raise RuntimeError(f"vLLM does not sample the {len(self._requests)} replies that were sent to it: {why}")
        for output in self._engine.step():
            request = self._requests.pop(output.request_id, None)
            if request is not None:  # otherwise forgotten
                del self._names[request.slot]
                self._ready[request.slot] = self._completion(request, output.outputs[0])

    def _params(self, conversation: _Conversation, transcript: Transcript, limit: int) -> Any:
        from vllm.sampling_params import RequestOutputKind, SamplingParams  # pyright: ignore[reportMissingImports]

        stops = list(transcript.info.get("stop", ()))
        start = conversation.start
        return SamplingParams(
            temperature=self.temperature,
            max_tokens=limit,
            seed=seeding.derive(conversation.seed, start.id or "", start.seed, start.group, len(transcript.turns)),
            stop=stops,
            stop_token_ids=list(self.chat.stop_ids),
            ignore_eos=True,  # the ids that end a reply are ours to choose
            logprobs=0,  # of the sampled token only
            flat_logprobs=True,
            detokenize=bool(stops),
            skip_special_tokens=False,  # a stop text may be one
            output_kind=RequestOutputKind.FINAL_ONLY,
        )

    def _completion(self, request: _Request, output: Any) -> Completion | Failure:
        if output.finish_reason not in ("stop", "length"):
            what = f"vLLM ended a reply with {output.finish_reason!r}"
            return Failure(f"RuntimeError: {what}", what)
        ids = tuple(output.token_ids)
        self._conversations[request.slot].context.extend(ids)
        return Completion(
            text=self.chat.text(ids),
            prompt_ids=request.prompt.ids,
            ids=ids,
            logprobs=tuple(output.logprobs.logprobs),
            finish_reason="stop" if output.finish_reason == "stop" else request.if_cut,
            new_segment=request.prompt.new_segment,
            weight_versions=tuple(dict.fromkeys(int(span.version) for span in output.weight_versions)),
        )


def make_sampler(loaded: LoadedModel, play: RolloutConfig, settings: VLLMSettings, seed: int = 0) -> VLLMSampler:
    """A sampler from a copy of the learner's weights, as the settings of a run say."""
    return VLLMSampler(
        loaded.model,
        make_chat(loaded, play),
        max_new_tokens=play.max_new_tokens,
        temperature=play.temperature,
        settings=settings,
        dtype=loaded.dtype,
        seed=seed,
    )


def _tokens(ids: list[int]) -> Any:
    from vllm.inputs import tokens_input  # pyright: ignore[reportMissingImports]

    return tokens_input(list(ids))
