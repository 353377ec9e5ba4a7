"""Findings about contracts: the row of the rule, and the place in the contract."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.wording import quote

Route = tuple[str | int, ...]
_UUID4: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """A finding of a rule about a contract."""

    row: Row
    route: Route
    """The place in the contract, as keys and numbers."""
    message: str
    help: str = ""
    related: Route | None = None
    """The place in the other contract, if the two disagree."""
    related_text: str = ""

    @property
    def reason(self) -> str:
        """The code in the form that decisions use.

        >>> from orgkernel.diagnostics.contract_rows import VERIFY_TRIVIAL
        >>> ContractFinding(VERIFY_TRIVIAL, (), "").reason
        'VERIFY_TRIVIAL'
        """
        return self.row.name.upper().replace("-", "_")


def is_uuid4(text: str) -> bool:
    """Whether a text is a UUID of version 4."""
    return _UUID4.match(text) is not None


def is_same_id(one: str | None, other: str | None) -> bool:
    """Whether two ids are present and equal."""
    return one is not None and other is not None and one.lower() == other.lower()


def find_mismatch(what: str, named_brief: str | None, brief_id: str | None) -> Iterator[ContractFinding]:
    """RESULT_BRIEF_MISMATCH: the contract belongs to another brief than the given one. `what` names the contract."""
    if named_brief is not None and brief_id is not None and not is_same_id(named_brief, brief_id):
        message = f"the {what} belongs to the brief {quote(named_brief)}, not to {quote(brief_id)}"
        yield ContractFinding(row.RESULT_BRIEF_MISMATCH, ("brief",), message, "", ("id",), "the brief")


def say_uncatalogued(operation: str) -> str:
    """The message about an operation that the catalog does not have."""
    return f"{quote(operation)} is not in the catalog of destructive operations"


def is_blank(text: str | None) -> bool:
    """Whether a text is missing or contains only spaces."""
    return text is None or not text.strip()


def is_same_name(one: str, other: str) -> bool:
    """Whether two names refer to the same agent.

    >>> is_same_name("agent:seraph", "Seraph ")
    True
    """
    return normalize_agent_name(one) == normalize_agent_name(other)


def normalize_agent_name(name: str) -> str:
    """The form in which names of agents are compared."""
    return name.strip().casefold().removeprefix("agent:")
