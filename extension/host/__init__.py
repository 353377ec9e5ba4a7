"""The adapter to Agent-Zero: reads the agent, writes what its neighbors read, trims its prompt, refuses calls.

Standard library and the runtime only. A shim of the host calls one function of `hooks`; whatever breaks below it, the
host's turn goes on. Nothing is kept on the host's own objects but the attributes and data keys that the
specification names, and one record per agent (`memory`).
"""
