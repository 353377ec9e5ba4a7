"""The Model Context Protocol: the registry's questions as tools for an agent, about itself and its organization.

`orgkernel mcp` serves them on standard input and output, and `/mcp` of `orgkernel serve` over HTTP. Who asks is settled
before the first message: by the options of the command, or by the key. No argument can change it (ADR 0060).
"""
