"""A calendar and a to-do list: an environment for agents with tools, and the same tools as an MCP server."""
