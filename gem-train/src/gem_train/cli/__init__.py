"""The commands `gemx train`, `gemx sft` and `gemx plot`."""
