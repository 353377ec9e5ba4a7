"""Find equal tools and models of different hosts. `ontology/hosts/equivalents.yaml` contains the facts and their
sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.copilot.words import get_tool_name
from orgkernel.loading.shipped_tables import read_ontology_table

_TABLE = ("hosts", "equivalents.yaml")
_KNOWN = "known"


def _read_table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = read_ontology_table(*_TABLE)
    return table


@cache
def _list_groups() -> Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]:
    """The tools that do the same as a tool of a host, by host."""
    groups = _read_table()["equal_tools"].values()
    return {(host, name): group for group in groups for host, names in group.items() for name in names}


def find_equivalent(names: Mapping[str, str], host: str) -> str | None:
    """The name in a host of a tool with some names in other hosts. None if the host has no counterpart.

    >>> find_equivalent({"claude_code": "Grep"}, "copilot"), find_equivalent({"claude_code": "WebSearch"}, "copilot")
    ('search/textSearch', None)
    """
    if host in names:
        return names[host]
    groups = _list_groups()
    counterparts = (
        groups[each][host][0] for each in names.items() if each in groups and host in groups[each]
    )
    return next(counterparts, None)


@PerView
def list_host_names(view: OrgView) -> Mapping[str, Mapping[str, str]]:
    """The names of each tool in hosts: the declared ones, and those of its counterparts."""
    hosts = {host for host, _ in _list_groups()}
    named: dict[str, Mapping[str, str]] = {}
    for tool_id, declared in view.records.tools.items():
        names = dict(declared.record.names)
        own = declared.document.format.replace("-", "_") or "claude_code"
        name = get_tool_name(tool_id) if own == "copilot" else tool_id
        if (own, name) in _list_groups() and (declared.document.format or not names):
            names.setdefault(own, name)
        more = ((host, find_equivalent(names, host)) for host in hosts)
        named[tool_id] = {**declared.record.names, **{host: name for host, name in more if name}}
    return named


def find_size(model: str) -> str | None:
    """The size of a model by its name. None if it is not known.

    >>> find_size("claude-haiku-4-5"), find_size("gemini-3-pro"), find_size("mine")
    ('small', 'large', None)
    """
    word = model.casefold()
    sizes = _read_table()["sizes"].items()
    return next((size for size, each in sizes if any(fnmatchcase(word, glob) for glob in each[_KNOWN])), None)


def find_model(model: str, host: str) -> str | None:
    """The name of a model in a host: its own one if the host understands it, else that of the same size. None if there
    is no counterpart.

    >>> find_model("sonnet", "copilot"), find_model("sonnet", "claude_code"), find_model("mine", "copilot")
    ('Claude Sonnet 4.5', 'sonnet', None)
    """
    accepted = _read_table()["models_of"].get(host)
    if accepted is None or any(fnmatchcase(model.casefold(), glob) for glob in accepted):
        return model
    size = find_size(model)
    counterpart: str | None = _read_table()["sizes"][size].get(host) if size else None
    return counterpart
