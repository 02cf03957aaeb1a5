"""Questions over the corpus that ships, to be answered by searching it: `tools:MultiHop-v0`."""
