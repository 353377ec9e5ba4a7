"""The runtime this adapter runs on. An installation has a copy of `orgkernel/runtime` as a package in this file's place."""

from orgkernel.runtime import bundle, classification, pace, report_files, salute, signals
from orgkernel.runtime import observation as observation

__all__ = [
    "bundle",
    "classification",
    "observation",
    "pace",
    "report_files",
    "salute",
    "signals",
]
