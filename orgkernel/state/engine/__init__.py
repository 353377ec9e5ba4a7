"""Engines of the store (`orgkernel.engines`). They write the same rows as the plain transactions."""
