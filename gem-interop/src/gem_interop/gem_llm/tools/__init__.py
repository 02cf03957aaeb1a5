"""gem-llm's base class of tools, and the wrapper that calls them. GEM's own tools: docs/tools.md."""
