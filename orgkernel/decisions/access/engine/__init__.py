"""Engines of access decisions (`orgkernel.engines`): the layers decide the same, and nothing else knows how an engine works."""
