"""Programs that run agents: bring theirs in, give ours out, serve them."""
