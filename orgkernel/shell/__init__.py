"""Shell commands: detects the destructive operations in a command. A command is parsed, never run."""
