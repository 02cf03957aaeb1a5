"""vLLM as an engine: in this process, or as a server."""
