"""Decisions: pure functions from a view of an organisation and a request to a value that carries its reasons."""
