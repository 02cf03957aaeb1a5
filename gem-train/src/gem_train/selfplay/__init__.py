"""Self-play: which player of a game the learner is, and whom it meets."""
