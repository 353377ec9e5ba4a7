"""Decisions: pure functions from a view of an organization and a request to a value that carries its reasons."""
