"""The settings of engines: the table `[engine]` of a run. Imports nothing heavy."""

from pydantic import BaseModel, ConfigDict


class EngineSettings(BaseModel):
    """What every engine's settings are derived from."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HFSettings(EngineSettings):
    """Settings of the engine `hf`."""
