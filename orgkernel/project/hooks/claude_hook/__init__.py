"""What Claude Code runs before each tool call: it looks the answer up that was compiled. Standard library only."""
