"""What Claude Code knows: the keys of its permissions, its modes, its models and its files. `host.yaml` has the facts and their date."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from orgkernel.loading.shipped_tables import read_shipped_table

_TABLE = os.path.join(os.path.dirname(__file__), "host.yaml")


def read_host_table() -> Mapping[str, Any]:
    """The facts by name: `permission_keys`, `modes`, `path_rules`, `model_families`, `protected_files`, `effectless_fields`, `stand_ins` and
    `package_names`.
    """
    table: Mapping[str, Any] = read_shipped_table(_TABLE)
    return table
