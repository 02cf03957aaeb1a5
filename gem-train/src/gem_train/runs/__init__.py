"""Files and display of a run: its folder, checkpoints, metrics, advice and pictures."""
