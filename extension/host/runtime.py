"""The runtime this adapter runs on. An installation has a copy of `orgkernel/runtime` as a package in this file's place."""

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
