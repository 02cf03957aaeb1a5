"""Work beside the caller's: event loops, threads and processes with an owner, limits, and what a fork or exit does."""
