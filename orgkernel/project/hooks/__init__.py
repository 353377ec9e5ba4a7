"""The hooks of git and of coding agents: what they run, and how they are installed."""
