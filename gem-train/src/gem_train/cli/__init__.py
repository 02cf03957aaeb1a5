"""The commands `gemx train`, `gemx sft`, `gemx plot` and `gemx export-model`."""
