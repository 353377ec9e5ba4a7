"""The routes. Each parses a question, asks the kernel and renders the answer."""
