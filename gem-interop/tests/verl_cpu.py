"""What verl needs to train without a GPU: a platform, an engine for it, and a server that samples with transformers.

Of verl's plugins (`VERL_USE_EXTERNAL_MODULES`), for its tests here. In its place a user has CUDA, and vLLM or SGLang.
"""

import contextlib
import functools
import os
import types

import ray
import torch
from transformers import AutoModelForCausalLM

os.environ["VERL_PLATFORM"] = "cpu"  # and of the processes that this one starts
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry

NAME = "tiny"
"""Of the server: `actor_rollout_ref.rollout.name`."""


ANSWERS = {
    **dict.fromkeys(["max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved"], 0),
    **dict.fromkeys(["empty_cache", "manual_seed", "manual_seed_all", "reset_peak_memory_stats"]),
    "get_device_name": "CPU",
    "mem_get_info": (1, 1),
}


class Cpu(types.ModuleType):
    """torch.cpu, with what verl asks of torch.cuda besides."""

    def __getattr__(self, name):
        return (lambda *_: ANSWERS[name]) if name in ANSWERS else getattr(torch.cpu, name)


@PlatformRegistry.register(platform="cpu")
class PlatformCpu(PlatformBase):
    device_name = "cpu"
    vendor_name = "cpu"
    device_module = Cpu("cpu")

    def is_available(self):
        return True

    is_platform_available = is_ipc_supported = lambda self, **_: True

    def current_device(self):
        return "cpu"

    def device_count(self):
        return 1

    def get_device_capability(self, device_index=0):
        return None, None

    def communication_backend_name(self):
        return "gloo"

    def visible_devices_envvar(self):
        return "NO_VISIBLE_DEVICES"

    def ray_resource_name(self):
        return "GPU"

    def ray_resource_options(self, num_gpus):
        return {"num_gpus": num_gpus}

    def ray_noset_envvars(self):
        return []

    def nvtx_range(self, msg):
        return contextlib.nullcontext()

    def _nothing(self, *_):
        return None

    set_device = synchronize = manual_seed = manual_seed_all = set_allocator_settings = empty_cache = _nothing
    profiler_start = profiler_stop = cudart = _nothing


from verl.workers import engine_workers  # noqa: E402
from verl.workers.engine import EngineRegistry  # noqa: E402
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead  # noqa: E402
from verl.workers.rollout import base  # noqa: E402
from verl.workers.rollout.replica import RolloutReplica, RolloutReplicaRegistry, TokenOutput  # noqa: E402

# verl's own engine; and one back end of torch.distributed for the device, where verl names it and one for the CPU.
EngineRegistry.register(model_type="language_model", backend=["fsdp", "fsdp2"], device="cpu")(FSDPEngineWithLMHead)
engine_workers.initialize_global_process_group_ray = functools.partial(
    engine_workers.initialize_global_process_group_ray, backend="cpu:gloo"
)


class Model:
    """Samples with the model of transformers, one id after the other."""

    def __init__(self, path):
        self.model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
        self.step = None

    def load(self, weights, step):
        self.model.load_state_dict(weights)
        self.step = step

    async def generate(self, request_id, prompt_ids, sampling_params, **_):
        with torch.no_grad():
            return self._generate(prompt_ids, sampling_params)

    def _generate(self, prompt_ids, sampling_params):
        said, logprobs = [], []
        ends = sampling_params["stop_token_ids"]
        temperature = max(sampling_params["temperature"], 1e-4)  # 0 in validation
        while len(said) < sampling_params["max_tokens"] and not (said and said[-1] in ends):
            scores = self.model(torch.tensor([prompt_ids + said])).logits[0, -1] / temperature
            scores = scores.log_softmax(-1)
            said.append(int(torch.multinomial(scores.exp(), 1)))
            logprobs.append(float(scores[said[-1]]))
        steps = {"global_steps": self.step}
        return TokenOutput(token_ids=said, log_probs=logprobs, stop_reason="completed", extra_fields=steps)

    async def wake_up(self):
        pass

    async def sleep(self):
        pass


Server = ray.remote(num_cpus=0)(Model)


class Replica(RolloutReplica):
    async def launch_servers(self):
        name = self._server_address = f"{NAME}-{self.replica_rank}"
        self._server_handle = Server.options(name=name).remote(self.model_config.path)
        self.servers = [self._server_handle]


class Weights(base.BaseRollout):
    """Sends the weights of the engine to the server, after each step."""

    async def update_weights(self, weights, global_steps=None, **_):
        state = {
            name: (tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor).clone()
            for name, tensor in weights
        }
        await ray.get_actor(f"{NAME}-0").load.remote(state, global_steps)

    async def resume(self, tags):
        pass

    async def release(self):
        pass


RolloutReplicaRegistry.register(NAME, lambda: Replica)
base._ROLLOUT_REGISTRY[NAME, "async"] = f"{__name__}.Weights"
