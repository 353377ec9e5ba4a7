"""The runtime of this adapter. In an installation, a copy of the package `orgkernel/runtime` replaces this file."""

from orgkernel.runtime import (
    bundle,
    classification,
    neighbors,
    observation,
    pace,
    report_files,
    salute,
    secret_shapes,
    signals,
    steering_words,
    supervisor,
)

__all__ = [
    "bundle",
    "classification",
    "neighbors",
    "observation",
    "pace",
    "report_files",
    "salute",
    "secret_shapes",
    "signals",
    "steering_words",
    "supervisor",
]
