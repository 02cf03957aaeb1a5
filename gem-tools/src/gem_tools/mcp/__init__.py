"""The Model Context Protocol, both ways: any MCP server's tools for agents, and our tools as an MCP server."""
