"""Locates the ontology of ProbOS: `config/ontology/`, with `standing_orders/` and `skills/` next to it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from orgkernel.loading.files import Area, find_in_head, is_folder
from orgkernel.loading.formats.format import Layout
from orgkernel.runtime.lazy_patterns import lazy_pattern

ORGANIZATION = "organization.yaml"
ORDERS, PROFILES = "standing_orders", "crew_profiles"
_ONTOLOGY, _CONFIG, _SKILLS = "ontology", "config", "skills"
_DOMAINS = r"(?:communication|crew|operations|organization|records|resources|skills|vessel)\.yaml"
# Files of this name are common. The two lists together are not.
_LISTS = lazy_pattern(rb"(?m)^[\"']?(departments|posts)[\"']?[ \t]*:")
_HEAD = 64 * 1024


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The layout for the folder of an ontology, `organization.yaml` in it, or one of the two folders around it."""
    if not is_folder(path):
        folder, name = os.path.split(path)
        return find_layout(folder, is_certain=is_certain) if name == ORGANIZATION else None
    for config, ontology in ((_CONFIG, _ONTOLOGY), (os.curdir, _ONTOLOGY), (os.curdir, os.curdir)):
        file = os.path.join(path, config, ontology, ORGANIZATION)
        if len({*find_in_head(file, _LISTS, _HEAD)}) == 2:
            return Layout(path, tuple(_list_areas(config, ontology)))
    return Layout(path, tuple(_list_areas(os.curdir, os.curdir))) if is_certain else None


def _list_areas(config: str, ontology: str) -> Iterator[Area]:
    yield Area(os.path.normpath(os.path.join(config, ontology)), _DOMAINS, depth=0)
    if ontology != os.curdir:
        orders = os.path.normpath(os.path.join(config, ORDERS))
        yield Area(orders, r"[^/]+\.md", depth=0)
        yield Area(os.path.join(orders, PROFILES), r"[^_/][^/]*\.yaml", depth=0)
        yield Area(os.path.normpath(os.path.join(config, _SKILLS)), r"[^/]+/SKILL\.md", depth=1)
