"""The gateway: each agent gets the tools of MCP servers that its role has, and every call is decided (ADR 0062).

`orgkernel gateway` serves one role on standard input and output, or every agent that has a key over HTTP.
"""
