"""The hook that Claude Code runs before each tool call. It looks up the compiled answer and uses the standard library only."""
