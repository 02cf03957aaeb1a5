"""`gem_interop.verifiers` under the name of a top-level module, which verifiers imports for the id `gem-verifiers`."""

from gem_interop.verifiers import GemEnv, GemHarness, GemTaskset

__all__ = ["GemEnv", "GemHarness", "GemTaskset"]
