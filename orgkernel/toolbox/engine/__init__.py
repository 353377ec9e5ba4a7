"""Engines of the toolbox (`orgkernel.engines`): what they call, the MCP SDK calls as well."""
