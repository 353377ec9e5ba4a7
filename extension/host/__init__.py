"""The adapter to Agent-Zero: reads the agent, writes what neighbor layers read, trims the prompt, refuses calls.

It uses only the standard library and the runtime. A shim of the host calls one function of `hooks`. If anything below it
fails, the host's turn continues. The adapter adds nothing to the host's objects except the attributes and data keys
that the specification names, and one record per agent (`memory`).
"""
