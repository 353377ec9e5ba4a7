"""The current claims, for changes: one index per organization, patched with the changed rows.

Only the writer's thread uses it. INVARIANT: the index contains committed rows only. Rows of the running change have
the version of its transaction and could still be rolled back, so they are added on top and then dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from orgkernel.decisions.ownership.claims import NO_CLAIMS, ClaimIndex, FileClaim
from orgkernel.prepared_types import prepared
from orgkernel.state.tables import file_claims

Indexes = Mapping[str, ClaimIndex]


class KnownClaims:
    """The claims that were read last."""

    def __init__(self) -> None:
        self._version = -1
        self._indexes: Indexes = {}

    def read(self, connection: Connection, version: int, org_id: str) -> ClaimIndex:
        """The claims of an organization that were not ended, within a change of a version."""
        if self._version >= version:  # the store was restored from a backup
            self._version, self._indexes = -1, {}
        rows = read_changed_claims(connection, self._version)
        self._indexes = patch_claims(self._indexes, [row for row in rows if row.version < version])
        self._version = version - 1
        return patch_claims(self._indexes, [row for row in rows if row.version >= version]).get(
            org_id, NO_CLAIMS
        )


def read_changed_claims(connection: Connection, since: int) -> list[Any]:
    """Rows that changed after a version; on the first read, only those that were not ended."""
    query = select(file_claims).where(file_claims.c.version > since).order_by(file_claims.c.org_id)
    if since < 0:
        query = query.where(file_claims.c.ended_at.is_(None))
    return [*connection.execute(query)]


def patch_claims(old: Indexes, rows: Iterable[Any]) -> Indexes:
    """The indexes with what changed; organizations in which nothing did stay as they are."""
    changed: dict[str, tuple[list[FileClaim], list[tuple[str, int]]]] = {}
    for row in rows:
        held, ended = changed.setdefault(row.org_id, ([], []))
        if row.ended_at is None:
            held.append(build_claim(row))
        else:
            ended.append((row.org_id, row.token))
    return {
        **old,
        **{org_id: old.get(org_id, NO_CLAIMS).copy_with(*each) for org_id, each in changed.items()},
    }


def build_claim(row: Any) -> FileClaim:
    """A row as the claim it is."""
    mapping = row._mapping
    values = {name: mapping[name] for name in FileClaim.__struct_fields__}
    return msgspec.convert({**values, "paths": msgspec.json.decode(values["paths"])}, prepared(FileClaim))
