"""The routes: each translates a question, asks the kernel and names the answer."""
