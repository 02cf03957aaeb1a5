"""Environments of other libraries and servers as ids: `gymnasium:`, `textarena:`, `openenv:`, `skyrl:`, `nemo:`."""
