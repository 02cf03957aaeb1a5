"""A calendar and a to-do list behind tools: an environment, and the same tools as an MCP server."""
