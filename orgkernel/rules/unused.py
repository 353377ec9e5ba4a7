"""Find definitions that no organization uses (ORG606, ORG629, ORG701)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import Definition, OrgRecords

T = TypeVar("T")


def find_unused(
    assembly: Assembly,
    get_section: Callable[[OrgRecords], Mapping[str, Definition[T]]],
    is_reported: Callable[[Definition[T]], bool],
    list_used: Callable[[OrgRecords], Iterable[str]],
) -> Collection[Definition[T]]:
    """The definitions of a section, such as the tools, that no organization uses which sees them.

    `list_used` returns the ids that an organization uses; all of them if it is not sure.
    """
    # Organizations that share a catalog see the same entry, which the place of its declaration identifies.
    unused = {
        definition.place(): definition
        for records in assembly.organizations
        for definition in get_section(records).values()
        if is_reported(definition)
    }
    for records in assembly.organizations if unused else ():
        section = get_section(records)
        for used_id in list_used(records):
            if used_id in section:
                unused.pop(section[used_id].place(), None)
    return unused.values()
