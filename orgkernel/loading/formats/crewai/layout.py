"""Locates the crews of CrewAI.

A crew in YAML is a folder with `config/agents.yaml`: the project itself, its package (`src/PACKAGE`), or one of the
crews of a flow (`src/PACKAGE/crews/CREW`). A crew in JSONC is the folder of `crew.jsonc`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from orgkernel.loading.files import (
    Area,
    find_in_head,
    is_file,
    is_folder,
    list_files_in,
    list_folders_in,
    list_names_in,
)
from orgkernel.loading.formats.format import Layout
from orgkernel.runtime.lazy_patterns import lazy_pattern

CONFIG, AGENTS, TOOLS, CREWS = "config", "agents", "tools", "crews"
CREW_FILES = ("crew.jsonc", "crew.json")
YAML_FILES = ("agents.yaml", "agents.yml", "tasks.yaml", "tasks.yml")
_JSON_AGENTS, _TOOL_FILES = r"[^/]+\.jsonc?", r"[A-Za-z_][A-Za-z0-9_]*\.py"
_PYTHON = lazy_pattern(r".*crew.*\.py")
_CREW_PYTHON = "crew.py"
# A CrewAI agent has all three fields. Other files with this name have other fields for each agent, or have these
# fields elsewhere.
_AGENT_FIELD = lazy_pattern(
    rb"""(?:^[ \t]+|[{,][ \t]*)["']?(role|goal|backstory)["']?[ \t]*:""", re.MULTILINE
)
_HEAD = 256 * 1024
_CREW_FIELD = lazy_pattern(rb'"(agents|tasks)"[ \t\r\n]*:')


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the files for a path: a project, a crew in it, its `config`, or one of its files."""
    if not is_folder(path):
        return _find_layout_around(path)
    if os.path.basename(path) == CONFIG and _does_hold_agents(path):
        path = os.path.dirname(path)
    crews = list(_find_crew_folders(path))
    if not is_certain and not any(True for crew in crews for _ in _list_areas(path, crew, by_name=False)):
        return None
    # Next to a crew, an unreadable file with this name is another crew, and reading it reports the problem.
    areas = [area for crew in crews for area in _list_areas(path, crew, by_name=True)]
    if areas:
        return Layout(path, tuple(areas))
    folders = (os.path.join(path, CONFIG), path)
    yaml_areas = dict.fromkeys(area for folder in folders for area in _list_yaml_areas(path, folder, path))
    return Layout(path, (*_list_json_areas(path, path), *yaml_areas))


def may_hold(path: str) -> bool:
    """Whether a file can be part of a crew and cannot be an orgkernel document."""
    folder, name = os.path.split(path)
    if name.endswith(".jsonc"):
        return name in CREW_FILES or os.path.basename(folder) == AGENTS
    return name.endswith(".py") and ("crew" in name or os.path.basename(folder) == TOOLS)


def _find_layout_around(path: str) -> Layout | None:
    folder, name = os.path.split(path)
    if name in YAML_FILES and _does_hold_agents(folder):
        top = os.path.dirname(folder) if os.path.basename(folder) == CONFIG else folder
        return find_layout(top, is_certain=False)
    if name in CREW_FILES and _is_crew(path):
        return find_layout(folder, is_certain=False)
    above = os.path.dirname(folder)
    if os.path.basename(folder) == AGENTS and name.endswith((".json", ".jsonc")) and _find_crew_file(above):
        return find_layout(above, is_certain=False)
    return None


def _find_crew_folders(top: str) -> Iterator[str]:
    """The folders in which a project can have crews."""
    yield top
    packages = list_folders_in(os.path.join(top, "src"))
    for package in packages:
        yield package
    for package in (top, *packages):
        yield from list_folders_in(os.path.join(package, CREWS))


def _list_areas(top: str, crew: str, *, by_name: bool) -> Iterator[Area]:
    """The files of the crew in a folder. A crew is recognized by its content, or `by_name`."""
    if _find_crew_file(crew) or (by_name and CREW_FILES[0] in list_names_in(crew)):
        yield from _list_json_areas(top, crew)
    elif _does_hold_agents(os.path.join(crew, CONFIG), by_name=by_name):
        yield from _list_yaml_areas(top, os.path.join(crew, CONFIG), crew)
    elif _does_hold_agents(crew, by_name=by_name):
        yield from _list_yaml_areas(top, crew, crew)


def _list_json_areas(top: str, crew: str) -> Iterator[Area]:
    here = os.path.relpath(crew, top)
    file = _find_crew_file(crew) or os.path.join(crew, CREW_FILES[0])
    yield Area(os.path.relpath(file, top))
    yield Area(os.path.normpath(os.path.join(here, AGENTS)), _JSON_AGENTS, depth=0)
    yield Area(os.path.normpath(os.path.join(here, TOOLS)), _TOOL_FILES, depth=0)


def _list_yaml_areas(top: str, folder: str, crew: str) -> Iterator[Area]:
    """The files of a crew in YAML, including the Python code that assembles it."""
    paths = [os.path.join(folder, name) for name in YAML_FILES]
    paths += dict.fromkeys((os.path.join(crew, _CREW_PYTHON), *list_files_in(crew, _PYTHON)))
    return (Area(os.path.relpath(path, top)) for path in paths)


def _does_hold_agents(folder: str, *, by_name: bool = False) -> bool:
    if by_name:
        return not {*YAML_FILES[:2]}.isdisjoint(list_names_in(folder))
    for name in YAML_FILES[:2]:
        path = os.path.join(folder, name)
        if is_file(path):
            fields = {*find_in_head(path, _AGENT_FIELD, _HEAD)}
            if b"goal" in fields and len(fields) > 1:
                return True
    return False


def _find_crew_file(folder: str) -> str | None:
    """The file of a crew in JSONC, if there is one. `crew.jsonc` takes precedence over `crew.json`."""
    paths = (os.path.join(folder, name) for name in CREW_FILES)
    return next((path for path in paths if is_file(path) and _is_crew(path)), None)


def _is_crew(path: str) -> bool:
    """Whether a file is a crew: named like one, or under any name with both agents and tasks."""
    fields = {*find_in_head(path, _CREW_FIELD, _HEAD)}
    return len(fields) == 2 or (bool(fields) and path.endswith(CREW_FILES[0]))
