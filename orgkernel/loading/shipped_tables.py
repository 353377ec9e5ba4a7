"""Reads the YAML tables that come with the package: what is known about hosts, their tools and programs."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from orgkernel.loading.files import read_text
from orgkernel.loading.shipped import get_shipped_folder


@cache
def read_shipped_table(path: str) -> Any:
    """The value of the only document of a file. Callers must not change it."""
    from orgkernel.loading.yaml_reader import parse_yaml  # most commands read no table

    (document,) = parse_yaml(read_text(path, path).text).documents
    return document.value


def read_ontology_table(*path: str) -> Any:
    """The value of a table in `ontology`, such as `hosts`, `claude_code.yaml`. Callers must not change it."""
    return read_shipped_table(os.path.join(get_shipped_folder("ontology"), *path))
