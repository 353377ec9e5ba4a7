"""Faster implementations of access decisions (`orgkernel.engines`). They return the same results as the layers, and no
other module depends on how they work.
"""
