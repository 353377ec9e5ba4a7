"""Locates agent cards: at the well-known path of the protocol, or in a folder of cards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from orgkernel.loading.files import Area, find_in_head, is_file, is_folder, list_files_in, list_folders_in
from orgkernel.loading.formats.format import Layout
from orgkernel.runtime.lazy_patterns import lazy_pattern

WELL_KNOWN = ".well-known"
CARD, OLD_CARD = "agent-card.json", "agent.json"
_JSON = lazy_pattern(r"[^.].*\.json")
_MAX_OPENED, _HEAD = 20, 256 * 1024
_CARDS = r"[^/]+\.json"
_KEY = lazy_pattern(
    rb'"(supportedInterfaces|protocolVersion|url|skills|capabilities|defaultInputModes|defaultOutputModes|orgkernel:[a-z_]+)"'
)
_OF_ANY = {b"skills", b"capabilities", b"defaultInputModes", b"defaultOutputModes"}


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the cards for a path: a site, its `.well-known`, a folder of cards, a folder of such folders,
    or a card.
    """
    if not is_folder(path):
        if path.endswith(".json") and (is_certain or _is_card(path)):
            return _find_around(path)
        return None
    if os.path.basename(path) == WELL_KNOWN:
        path = os.path.dirname(path)
    areas = list(_list_areas(path))
    if not areas and is_certain:
        areas = [Area(os.path.join(WELL_KNOWN, CARD)), Area(".", _CARDS, depth=0)]
    return Layout(path, tuple(areas)) if areas else None


def _list_areas(top: str) -> Iterator[Area]:
    """The well-known places of cards, and the folders that contain cards under other names."""
    folders = (top, *list_folders_in(top))
    named = [path for folder in folders for path in _list_card_paths(folder) if _is_card(path)]
    loose = [folder for folder in folders[:_MAX_OPENED] if _has_loose_card(folder, named)]
    for folder in loose:
        yield Area(os.path.relpath(folder, top), _CARDS, depth=0)
    for path in named:
        if os.path.dirname(path) not in loose:
            yield Area(os.path.relpath(path, top))


def _has_loose_card(folder: str, named: Sequence[str]) -> bool:
    paths = list_files_in(folder, _JSON)[:_MAX_OPENED]
    return any(_is_card(path) for path in paths if path not in named)


def _list_card_paths(folder: str) -> Iterator[str]:
    """The paths of the cards that a folder can contain. If a folder has two versions of a card, the newer one."""
    for place in (os.path.join(folder, WELL_KNOWN), folder):
        paths = [path for name in (CARD, OLD_CARD) if is_file(path := os.path.join(place, name))]
        yield from paths[:1]


def _find_around(path: str) -> Layout | None:
    """The folder or the site that contains a card."""
    folder = os.path.dirname(path)
    if os.path.basename(folder) == WELL_KNOWN:
        folder = os.path.dirname(folder)
    layout = find_layout(folder, is_certain=False)
    if layout is not None and any(_does_hold(layout, area, path) for area in layout.areas):
        return layout
    return Layout(folder, (Area(os.path.relpath(path, folder)),))


def _does_hold(layout: Layout, area: Area, path: str) -> bool:
    inside = os.path.relpath(path, os.path.join(layout.top, area.path))
    return area.holds(inside) if area.files else inside == os.curdir


def _is_card(path: str) -> bool:
    """Whether a JSON file has the fields of a card. At the well-known path, any one of them is enough."""
    keys = {*find_in_head(path, _KEY, _HEAD)}
    if any(key.startswith(b"orgkernel:") for key in keys):
        return False
    if os.path.basename(path) == CARD and (
        b"skills" in keys or b"supportedInterfaces" in keys or b"url" in keys
    ):
        return True
    has_address = bool(keys & {b"supportedInterfaces", b"url", b"protocolVersion"})
    if os.path.basename(os.path.dirname(path)) == WELL_KNOWN:
        return has_address
    is_new = b"supportedInterfaces" in keys and b"skills" in keys
    return is_new or (has_address and len(keys & _OF_ANY) >= 3 and b"skills" in keys)
