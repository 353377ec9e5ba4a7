"""The hooks of git and of coding agents: the programs that they run, and their installation."""
