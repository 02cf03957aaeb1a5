"""Programs that cheat at their tests, for the audit and for `benchmarks/cheating.py`."""
