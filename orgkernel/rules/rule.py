"""What a rule is: a code, a severity, what it looks at, and a generator of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from orgkernel.diagnostics import Diagnostic, Place, Related, Severity
from orgkernel.graph.records import RolePost
from orgkernel.rules.posts import Posts


class Scope(Enum):
    """What a rule receives, and so which changes make it run again."""

    DOCUMENT = "document"
    """`check(document: SourceDocument)`: one document of any kind."""
    PROFILE = "profile"
    """`check(post: RolePost)`: a role's profile with the overrides of its organization; also a profile in no organization."""
    POST = "post"
    """`check(view: OrgView, post: RolePost)`: a role and its neighbors."""
    CATALOG = "catalog"
    """`check(view: OrgView)`: the catalog entries an organization sees; also catalogs no organization sees."""
    ORGANIZATION = "organization"
    """`check(view: OrgView)`: an organization as a whole."""
    TREE = "tree"
    """`check(assembly: Assembly)`: everything that was read."""
    STATE = "state"
    """`check(views: Sequence[OrgView], state: StateView)`: all organizations and the stored state, if there is a store."""
    SUPPRESSION = "suppression"
    """`check(document: SourceDocument, used: Collection[int])`: after all others, a document's suppressions by number."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule reports; code and severity come from the rule."""

    place: Place
    message: str
    help: str = ""
    subject: str = ""
    """`role:ID`, `domain:ID`, …"""
    related: tuple[Related, ...] = ()


Check = Callable[..., Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as its module declares it."""

    code: str
    name: str
    severity: Severity
    scope: Scope
    check: Check
    suspects: Callable[[Posts], Iterable[RolePost]] | None = None
    """For rules about profiles and posts: those of an organization that `check` has to look at."""

    def run(self, *arguments: Any) -> Iterator[Diagnostic]:
        """The rule's findings as diagnostics."""
        for found in self.check(*arguments):
            yield Diagnostic(
                found.place, self.code, self.name, self.severity, found.message, found.help, found.subject, found.related
            )  # fmt: skip
