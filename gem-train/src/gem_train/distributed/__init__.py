"""A run in several processes: who does what, and FSDP2."""
