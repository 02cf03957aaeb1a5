"""Many environments as one: `make_vec` builds a `VectorEnv`."""

from gem.vector.engine import VectorEnv, VectorStep
from gem.vector.make import BackendName, Share, make_vec
from gem.vector.messages import Autoreset, Reset, SlotResult

__all__ = ["Autoreset", "BackendName", "Reset", "Share", "SlotResult", "VectorEnv", "VectorStep", "make_vec"]
