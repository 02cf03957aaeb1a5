"""What a run leaves behind and shows: its folder, checkpoints, metrics, advice and pictures."""
