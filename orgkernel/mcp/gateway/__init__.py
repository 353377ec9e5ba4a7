"""The gateway: tools of other MCP servers, each agent with those of its role, and every call decided (ADR 0062).

`orgkernel gateway` serves one role on standard input and output, or every agent that has a key over HTTP.
"""
