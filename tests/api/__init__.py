"""The HTTP surface, in process and as a running server."""
