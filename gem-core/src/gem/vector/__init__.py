"""Many environments as one: `make_vec` builds a `VectorEnv`."""

from gem.vector.engine import VectorEnv, VectorStep
from gem.vector.make import BackendName, make_vec
from gem.vector.messages import Arrival, Autoreset, Reset

__all__ = ["Arrival", "Autoreset", "BackendName", "Reset", "VectorEnv", "VectorStep", "make_vec"]
