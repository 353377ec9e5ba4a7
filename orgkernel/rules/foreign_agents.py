"""What rules about agents in the formats of others ask: the words of an agent's file, as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.words import words_in
from orgkernel.loading.sources import SourceDocument

CLAUDE_CODE = "claude-code"
CREWAI = "crewai"
COPILOT = "copilot"


def agents_of(view: OrgView, *formats: str) -> Iterator[RolePost]:
    """The roles of an organization that was read from a format of others, perhaps one of some; none of any other."""
    format = view.records.document.format
    if format and (not formats or format in formats):
        yield from view.records.posts.values()


def documents_of(view: OrgView, kind: str) -> Iterator[tuple[SourceDocument, Mapping[str, Sequence[str]]]]:
    """The catalogs of one kind that files of others became, each with the words that its file writes."""
    for document in view.records.catalogs:
        if document.kind == kind and document.format and not document.context:
            yield document, words_in(document)


def words_of(post: RolePost) -> Mapping[str, Sequence[str]]:
    """Field to the words of its list, for the lists that the file of an agent writes."""
    return words_in(post.document)
