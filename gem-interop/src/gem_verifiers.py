"""What verifiers finds by the id `gem-verifiers`, because it imports a module of that name: `gem_interop.verifiers`."""

from gem_interop.verifiers import GemEnv, GemHarness, GemTaskset

__all__ = ["GemEnv", "GemHarness", "GemTaskset"]
