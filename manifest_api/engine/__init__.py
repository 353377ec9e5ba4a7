"""Speed behind a fence: each part can be switched off, and the answers are the same without it."""
