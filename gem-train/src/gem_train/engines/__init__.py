"""Engines: what samples the replies. One file per engine, in a table by name."""

from typing import Literal, NamedTuple


class Engine(NamedTuple):
    """The place of an engine, as `'module:name'`, so that its name and settings are checked without importing torch."""

    settings: str
    """A subclass of `gem_train.engines.settings.EngineSettings`, in a module that imports nothing heavy."""
    sampler: str
    """A subclass of `gem_train.engines.sampler.Sampler`; `gem_train.engines.make.make_sampler` says what it takes."""
    tiny_head_dim: int = 16
    """Dimensions of the heads of `--model tiny`."""
    package: str | None = None
    """Package to be installed beside gem-train, by the name that is imported."""
    processes: Literal["each", "one", "shared"] = "each"
    """In a run of several processes each has one of its own, or they share servers, or there is only one process."""


ENGINES: dict[str, Engine] = {
    "hf": Engine("gem_train.engines.settings:HFSettings", "gem_train.engines.hf:HFSampler"),
    "vllm": Engine(
        "gem_train.engines.settings:VLLMSettings",
        "gem_train.engines.vllm.in_process:VLLMSampler",
        tiny_head_dim=32,  # the smallest that its attention on CPU takes
        package="vllm",
        processes="one",
    ),
    "vllm_server": Engine(
        "gem_train.engines.settings:ServerSettings",
        "gem_train.engines.vllm.server:VLLMServerSampler",
        tiny_head_dim=32,
        package="aiohttp",
        processes="shared",
    ),
}
"""The engines by name: the values of the setting `rollout.engine`."""
