"""Episodes of GEM by SkyRL's own generator, with a model of transformers as its engine: python skyrl_rollouts.py MODEL

SkyRL's trainer needs GPUs and vLLM; this shows what it would train on, on any machine. MODEL is a folder with a model.
What this was run with: skyrl-constraints.txt.
"""

import asyncio
import typing
from dataclasses import asdict

from gem_interop.launching import arguments, check_model, named_if_missing

if __name__ == "__main__":
    limits = ("group", "max_turns", "max_new_tokens", "max_context")
    parser = arguments(__doc__, "starts", "score", *limits)
    parser.add_argument("model")
    options = parser.parse_args()
with named_if_missing():
    from gem_interop.skyrl import WithoutFailed, register, rows
import torch
import typing_extensions
from transformers import AutoModelForCausalLM, AutoTokenizer

typing.TypedDict = typing_extensions.TypedDict  # SkyRL 0.3.0 needs it before Python 3.12
from skyrl.backends.skyrl_train.inference_servers.base import InferenceEngineInterface
from skyrl.train.config import GeneratorConfig, SamplingParams, SkyRLGymConfig
from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator
from skyrl.train.generators.utils import prepare_generator_input


class GemGenerator(WithoutFailed, SkyRLGymGenerator):
    """SkyRL's, which leaves failed episodes out."""


class Engine(InferenceEngineInterface):
    """Stand-in for SkyRL's client of vLLM: the model in this process. Only what a generator calls."""

    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model, tokenizer

    async def generate(self, input_batch, model=None):
        [ids], settings = input_batch["prompt_token_ids"], input_batch["sampling_params"]
        said, logprobs = [], []
        while len(said) < settings["max_generate_length"] and self.tokenizer.eos_token_id not in said[-1:]:
            with torch.no_grad():
                scores = self.model(torch.tensor([ids + said])).logits[0, -1].log_softmax(-1)
            said.append(int(torch.multinomial(scores.exp(), 1)))
            logprobs.append(float(scores[said[-1]]))
            await asyncio.sleep(0)
        text = self.tokenizer.decode(said, skip_special_tokens=True)
        stop = "stop" if said[-1] == self.tokenizer.eos_token_id else "length"
        return {"responses": [text], "response_ids": [said], "stop_reasons": [stop], "response_logprobs": [logprobs]}

    async def finish_session(self, session_id):
        pass


Engine.__abstractmethods__ = frozenset()


def play(model, tokenizer, data, *, group, max_turns, max_new_tokens, max_context, engine=Engine):
    """GeneratorOutput that SkyRL's trainer gets for these rows."""
    sampling = SamplingParams(max_generate_length=max_new_tokens, logprobs=1)
    config = GeneratorConfig(max_turns=max_turns, max_input_length=max_context, sampling_params=sampling)
    generator = GemGenerator(config, SkyRLGymConfig(), engine(model, tokenizer), tokenizer)
    prompts = []
    for number, row in enumerate(data):
        named = {name: row.pop(name) for name in ("prompt", "env_class")}
        prompts.append({**named, "env_extras": row, "uid": str(number)})
    given, _ = prepare_generator_input(prompts, group, asdict(sampling), "gem", "train", 0)
    return asyncio.run(generator.generate(given, disable_tqdm=True))


if __name__ == "__main__":
    check_model(options.model)
    register(score=options.score)
    loaded = AutoModelForCausalLM.from_pretrained(options.model), AutoTokenizer.from_pretrained(options.model)
    data = rows(options.env, options.starts, options.seed)
    output = play(*loaded, data, **{name: getattr(options, name) for name in limits})
    print(*(f"{name}: {value:.3f}" for name, value in sorted(output["rollout_metrics"].items())), sep="\n")
