"""What rules about agents in the formats of others ask: the words of an agent's file, as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.words import words_in

COPILOT = "copilot"


def agents_of(view: OrgView) -> Iterator[RolePost]:
    """The roles of an organization that was read from a format of others; none of any other organization."""
    if view.records.document.format:
        yield from view.records.posts.values()


def words_of(post: RolePost) -> Mapping[str, Sequence[str]]:
    """Field to the words of its list, for the lists that the file of an agent writes."""
    return words_in(post.document)
