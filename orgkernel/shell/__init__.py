"""Shell commands: which destructive operations they would do. A command is parsed, never run."""
