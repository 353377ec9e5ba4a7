"""Reading the YAML of test cases, with the parser that is written in C: every worker reads all corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def read_yaml(text: str) -> Any:
    """What a YAML text says, without places."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def read_yaml_file(path: Path) -> Any:
    """What a YAML file says."""
    return read_yaml(path.read_text(encoding="utf-8"))
