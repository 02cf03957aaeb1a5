"""The settings of engines: the table `[engine]` of a run. Imports nothing heavy."""

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from gem_train.config.sections import Section


class EngineSettings(Section):
    """Base of every engine's settings."""


class HFSettings(EngineSettings):
    """Settings of the engine `hf`."""

    rows: int | None = Field(default=None, ge=1, description="conversations with keys and values; by default all")
    prefill_tokens: int = Field(default=2048, ge=1, description="ids of prompts read between two tokens of the replies")


class AnyVLLMSettings(EngineSettings):
    """Settings of vLLM wherever it runs."""

    max_model_len: int | None = Field(default=None, ge=2, description="ids of a conversation; by default the model's")
    max_num_seqs: int = Field(default=256, ge=1, description="replies that are sampled at once")
    kv_cache_gib: float | None = Field(default=None, gt=0, description="GiB for keys and values; by default 1 on CPU")
    gpu_memory_utilization: float = Field(default=0.5, gt=0, le=1, description="share of GPU memory that vLLM may use")
    enforce_eager: bool = Field(default=False, description="whether vLLM runs without CUDA graphs, as always on CPU")


class VLLMSettings(AnyVLLMSettings):
    """Settings of the engine `vllm`."""

    sleep: bool = Field(default=False, description="whether vLLM frees the GPU's memory while the learner learns")


class ServerSettings(AnyVLLMSettings):
    """Settings of the engine `vllm_server`."""

    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1, description="share of GPU memory that vLLM may use")
    urls: tuple[str, ...] = Field(default=(), description="of running vLLM servers; by default the run starts some")
    replicas: int = Field(default=1, ge=1, description="servers that the run starts")
    transfer: Literal["auto", "nccl", "files"] = Field(default="auto", description="of weights; auto: by the devices")
    folder: str | None = Field(default=None, description="where weights are written as files; by default in memory")
    devices: str | None = Field(default=None, description="GPUs of servers that the run starts, such as 1,2")
    tensor_parallel_size: int = Field(default=1, ge=1, description="GPUs that such a server divides the model over")
    start_timeout: float = Field(default=900.0, gt=0, description="seconds that its start may do nothing")
    timeout: float = Field(default=3600.0, gt=0, description="seconds that the server may take for a reply")

    @field_validator("urls", mode="before")
    @classmethod
    def _list(cls, urls: Any) -> Any:
        return urls.split(",") if isinstance(urls, str) else urls

    @model_validator(mode="after")
    def _started_or_not(self) -> Self:
        if self.urls and self.replicas > 1:
            raise ValueError(
                "engine.replicas is the number of servers that the run starts: leave it out with engine.urls"
            )
        return self
