"""The backends of a vector: one file each, with the protocol `gem.vector.backend.Backend`."""
