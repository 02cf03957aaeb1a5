"""The settings of engines: the table `[engine]` of a run. Imports nothing heavy."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class EngineSettings(BaseModel):
    """What every engine's settings are derived from."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HFSettings(EngineSettings):
    """Settings of the engine `hf`."""

    rows: int | None = Field(
        default=None, ge=1, description="conversations whose keys and values are kept; by default all that are played"
    )
    prefill_tokens: int = Field(
        default=2048, ge=1, description="ids of prompts read between two tokens of the replies in progress"
    )


class AnyVLLMSettings(EngineSettings):
    """What vLLM can be told wherever it runs."""

    max_model_len: int | None = Field(
        default=None, ge=2, description="the longest conversation, in ids; by default the model's limit"
    )
    max_num_seqs: int = Field(default=256, ge=1, description="replies that are sampled at once")
    kv_cache_gib: float | None = Field(
        default=None,
        gt=0,
        description="GiB for keys and values; by default 1 on CPU, and on GPU what gpu_memory_utilization leaves",
    )
    gpu_memory_utilization: float = Field(
        default=0.5, gt=0, le=1, description="share of the GPU's memory that vLLM may use; the learner has the rest"
    )
    enforce_eager: bool = Field(
        default=False, description="whether vLLM runs without CUDA graphs; on CPU it always does"
    )


class VLLMSettings(AnyVLLMSettings):
    """Settings of the engine `vllm`."""

    sleep: bool = Field(default=False, description="whether vLLM frees the GPU's memory while the learner learns")


class ServerSettings(AnyVLLMSettings):
    """Settings of the engine `vllm_server`."""

    gpu_memory_utilization: float = Field(
        default=0.9, gt=0, le=1, description="share of its GPUs' memory that the server may use"
    )
    url: str | None = Field(
        default=None, description="address of a running vLLM server; by default the run starts one on this machine"
    )
    transfer: Literal["auto", "nccl", "files"] = Field(
        default="auto", description="how weights reach the server: auto is nccl between two GPUs, and else files"
    )
    folder: str | None = Field(
        default=None, description="where weights are written as files; by default the memory, where it has room"
    )
    devices: str | None = Field(
        default=None,
        description="the GPUs of a server that the run starts, such as 1,2; by default others than the learner's",
    )
    tensor_parallel_size: int = Field(default=1, ge=1, description="GPUs that such a server divides the model over")
    start_timeout: float = Field(default=900.0, gt=0, description="seconds that such a server may take to start")
    timeout: float = Field(default=3600.0, gt=0, description="seconds that the server may take for a reply")
