"""What Claude Code knows: the keys of its permissions, its modes, models, agents and files. `ontology/hosts/claude_code.yaml` has the facts,
and their date.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from orgkernel.loading.shipped_tables import read_ontology_table

_TABLE = ("hosts", "claude_code.yaml")


@cache
def read_host_table() -> Mapping[str, Any]:
    """The facts by name, as the file explains them."""
    table: Mapping[str, Any] = read_ontology_table(*_TABLE)
    return table


def list_older_names() -> Mapping[str, str]:
    """The names of tools today, by the older names that files still write."""
    names: Mapping[str, str] = read_host_table()["older_names"]
    return names
