"""Commands for programs that run agents: import their files, export to them, and serve them."""
