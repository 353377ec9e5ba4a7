"""Locates specifications: in the requested folder only. They are recognized only by their content."""

from __future__ import annotations

import os

from orgkernel.loading.files import SUFFIXES, Area, find_in_head, is_folder, list_files_in
from orgkernel.loading.formats.format import Layout
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FILES = r"[^/]+\.(?:ya?ml|json)"
_NAMES = lazy_pattern(r"[^.].*\.(?:ya?ml|json)")
_COMPONENT = lazy_pattern(
    rb"""["']?component_type["']?[ \t\r\n]*:|["']?\$referenced_components["']?[ \t\r\n]*:"""
)
_VERSION = lazy_pattern(rb"""(?:^|[{,\s])["']?agentspec_version["']?[ \t\r\n]*:""")
_MAX_OPENED, _HEAD, _WHOLE = 50, 4096, 4 * 1024 * 1024


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the specifications for a path: a folder that directly contains some, or a file."""
    if is_folder(path):
        has_specifications = is_certain or any(
            map(_is_specification, list_files_in(path, _NAMES)[:_MAX_OPENED])
        )
        return Layout(path, (Area(".", _FILES, depth=0),)) if has_specifications else None
    if path.endswith(SUFFIXES) and (is_certain or _is_specification(path)):
        return Layout(os.path.dirname(path), (Area(os.path.basename(path)),))
    return None


def _is_specification(path: str) -> bool:
    """Whether a file begins with a component and names the version of the specification."""
    return bool(find_in_head(path, _COMPONENT, _HEAD)) and bool(find_in_head(path, _VERSION, _WHOLE))
