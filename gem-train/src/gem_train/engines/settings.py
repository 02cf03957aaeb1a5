"""The settings of engines: the table `[engine]` of a run. Imports nothing heavy."""

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


class VLLMSettings(EngineSettings):
    """Settings of the engine `vllm`."""

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
    sleep: bool = Field(default=False, description="whether vLLM frees the GPU's memory while the learner learns")
    enforce_eager: bool = Field(
        default=False, description="whether vLLM runs without CUDA graphs; on CPU it always does"
    )
