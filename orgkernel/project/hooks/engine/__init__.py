"""The engine of the hook that a coding agent runs before each write (`orgkernel.engines`)."""
