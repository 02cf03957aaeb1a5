"""OpenRLHF's rollout actor with a tiny model of transformers where it has vLLM."""

import warnings
from types import SimpleNamespace

from samples import tiny_model
from sampling import sample

with warnings.catch_warnings(action="ignore"):  # what it imports warns, at import
    from openrlhf.trainer.ray.vllm_engine import RolloutRayActor, _load_agent_executor


class ModelInPlaceOfVLLM:
    """What OpenRLHF's actor asks of vLLM's engine, by a tiny model of transformers."""

    def __init__(self, model):
        self._model = model

    async def generate(self, prompt, parameters, request_id):
        ids, most = prompt["prompt_token_ids"], parameters.max_tokens
        said, logprobs = sample(
            self._model, ids, most=most, ends=parameters.stop_token_ids, temperature=parameters.temperature
        )
        stopped = said[-1] in parameters.stop_token_ids
        yield SimpleNamespace(
            outputs=[
                SimpleNamespace(
                    token_ids=said,
                    logprobs=[{id: SimpleNamespace(logprob=value)} for id, value in zip(said, logprobs, strict=True)],
                    finish_reason="stop" if stopped else "length",
                )
            ]
        )


class LocalActor(RolloutRayActor.__ray_metadata__.modified_class):
    """OpenRLHF's rollout actor, with all of it that is not vLLM."""

    async def __init__(self, agent_func_path):
        self.executor = _load_agent_executor(agent_func_path)
        self.llm = ModelInPlaceOfVLLM(tiny_model())
        self._mm_pad_token_ids = None

    def get_num_unfinished_requests(self):
        return 0
