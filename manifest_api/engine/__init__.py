"""Engines of the HTTP server (`orgkernel.engines`): the framework and the MCP SDK answer the same."""
