"""An organization in a project of Claude Code: the answers for its hook, and the files that switch it on."""
