"""Environments over the network, by the protocol of OpenEnv: what `gemx serve` runs. See docs/frameworks/openenv.md."""
