"""Many environments as one: `make_vec` builds a `VectorEnv`."""

from gem.vector.engine import Arrival, Reset, VectorEnv
from gem.vector.make import make_vec

__all__ = ["Arrival", "Reset", "VectorEnv", "make_vec"]
