"""Resolves plain YAML scalars of hosts in Python as PyYAML does, by YAML 1.1, where `no` is false.

Importing this needs PyYAML, which a command that reads no document does without.
"""

from __future__ import annotations

import math
from typing import Any

import yaml

from orgkernel.loading.scalars import NumberOutOfRange


def resolve_python_scalar(text: str) -> Any:
    """The value of a plain scalar as `yaml.safe_load` of PyYAML reads it, also a date; raises `NumberOutOfRange`."""
    for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ()):
        if not pattern.match(text):
            continue
        construct = _CONSTRUCTORS.get(tag)
        if construct is None:
            return text
        try:
            value = construct(_PYTHON, yaml.ScalarNode(tag, text))
        except ValueError as error:  # a number of too many digits, or a date that no calendar has
            raise NumberOutOfRange(text) from error
        if isinstance(value, float) and not math.isfinite(value):
            raise NumberOutOfRange(text)
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise NumberOutOfRange(text)
        return value
    return text


_PYTHON = yaml.constructor.SafeConstructor()
_CONSTRUCTORS = {
    f"tag:yaml.org,2002:{name}": yaml.SafeLoader.yaml_constructors[f"tag:yaml.org,2002:{name}"]
    for name in ("bool", "float", "int", "null", "timestamp")
}
