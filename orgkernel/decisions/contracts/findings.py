"""A finding about a contract: its row, and where in the contract it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from orgkernel.diagnostics.catalog import Row

Route = tuple[str | int, ...]
_UUID4: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """What a rule says about a contract."""

    row: Row
    route: Route
    """Where in the contract, as keys and numbers."""
    message: str
    help: str = ""
    related: Route | None = None
    """Where in the other contract, if the two disagree."""
    related_text: str = ""

    @property
    def reason(self) -> str:
        """The code as decisions write it.

        >>> from orgkernel.diagnostics.contract_rows import VERIFY_TRIVIAL
        >>> ContractFinding(VERIFY_TRIVIAL, (), "").reason
        'VERIFY_TRIVIAL'
        """
        return self.row.name.upper().replace("-", "_")


def is_uuid4(text: str) -> bool:
    """Whether a text is a UUID of version 4."""
    return _UUID4.match(text) is not None


def is_blank(text: str | None) -> bool:
    """Whether a text says nothing."""
    return text is None or not text.strip()


def is_same_name(one: str, other: str) -> bool:
    """Whether two names are of the same agent.

    >>> is_same_name("agent:seraph", "Seraph ")
    True
    """
    return _bare(one) == _bare(other)


def _bare(name: str) -> str:
    return name.strip().casefold().removeprefix("agent:")
