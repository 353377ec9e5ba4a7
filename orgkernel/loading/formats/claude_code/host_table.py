"""What Claude Code knows: the keys of its permissions, its modes, its models and its files. `host.yaml` has the facts and their date."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from orgkernel.loading.files import read_text
from orgkernel.loading.yaml_reader import parse_yaml

_TABLE = os.path.join(os.path.dirname(__file__), "host.yaml")


@cache
def read_host_table() -> Mapping[str, Any]:
    """The facts by name: `permission_keys`, `modes`, `path_rules`, `model_families`, `protected_files`, `effectless_fields`, `stand_ins` and
    `package_names`.
    """
    (document,) = parse_yaml(read_text(_TABLE, _TABLE).text).documents
    table: Mapping[str, Any] = document.value
    return table
