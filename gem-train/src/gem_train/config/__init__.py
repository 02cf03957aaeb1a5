"""Settings: one table per part of a run, where they come from, and checks of them."""
