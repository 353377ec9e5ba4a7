"""Contracts that are named on the command line."""

from __future__ import annotations

import os
import sys

from orgkernel.decisions.work.contracts.reading import ReadContract, expect_sound, read_contract
from orgkernel.documents.records import Brief
from orgkernel.loading.files import MAX_BYTES, SourceText, decode, read_text

_STDIN = "<stdin>"


def read_source(file: str) -> SourceText:
    """The content of a file; `-` is standard input."""
    if file == "-":
        return decode(_STDIN, _STDIN, sys.stdin.buffer.read(MAX_BYTES + 1))
    return read_text(file, os.path.normpath(file))


def read_contract_file(file: str) -> ReadContract:
    """The contract in a file; `-` is standard input."""
    return read_contract(read_source(file))


def read_brief(file: str) -> Brief:
    """The brief in a file; `-` is standard input. Raises `UsageError` if it is not a sound one."""
    return expect_sound(read_contract_file(file), Brief)
