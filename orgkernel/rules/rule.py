"""Rules: a code, a severity, a target, and a generator of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import msgspec

from orgkernel.diagnostics import Diagnostic, Place, Related, Severity


class RuleTarget(Enum):
    """The target of a rule: the argument of its generator."""

    DOCUMENT = "document"
    """`check(document: SourceDocument)`: one document of any kind."""
    PROFILE = "profile"
    """`check(posts: Iterable[RolePost])`: profiles with the overrides of their organization, including profiles in no
    organization.
    """
    CATALOG = "catalog"
    """`check(view: OrgView)`: the catalog entries that an organization sees, including catalogs that none sees."""
    ORGANIZATION = "organization"
    """`check(view: OrgView)`: an organization with all its roles."""
    TREE = "tree"
    """`check(assembly: Assembly)`: all documents."""
    STATE = "state"
    """`check(views: Sequence[OrgView], states: Mapping[str, StateView])`: all organizations, and the stored state of
    each.
    """
    SUPPRESSION = "suppression"
    """`check(document: SourceDocument, used: Collection[int])`: a document's suppressions by number, after all other
    rules.
    """


class Finding(msgspec.Struct, frozen=True):
    """A finding of a rule. Its code comes from the rule, and its severity unless the finding states one."""

    place: Place
    message: str
    help: str = ""
    subject: str = ""
    """The subject, such as `role:ID` or `domain:ID`."""
    related: tuple[Related, ...] = ()
    severity: Severity | None = None
    """The severity, if it is milder than that of the rule."""


Check = Callable[..., Iterator[Finding]]


class Rule(msgspec.Struct, frozen=True):
    """A rule as declared by its module."""

    code: str
    name: str
    severity: Severity
    target: RuleTarget
    check: Check

    def run(self, *arguments: Any) -> Iterator[Diagnostic]:
        """The rule's findings as diagnostics."""
        for finding in self.check(*arguments):
            yield self.build_diagnostic(finding)

    def build_diagnostic(self, finding: Finding) -> Diagnostic:
        """A finding with the rule's code and severity."""
        return Diagnostic(
            finding.place, self.code, self.name, finding.severity or self.severity, finding.message, finding.help, finding.subject, finding.related
        )  # fmt: skip
