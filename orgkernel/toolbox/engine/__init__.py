"""Engines of the toolbox (`orgkernel.engines`). They make the same calls as the MCP SDK."""
