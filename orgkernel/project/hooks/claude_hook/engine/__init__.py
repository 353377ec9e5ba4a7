"""Engines of the hook (`orgkernel.engines`). The standard library and `orgkernel.runtime` say the same, and are imported later."""
