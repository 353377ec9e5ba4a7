"""Engines of the hooks (`orgkernel.engines`). The standard library, `orgkernel.runtime` and the full program say the same, and are
imported later.
"""
