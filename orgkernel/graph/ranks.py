"""Which tool levels ranks have: the matrix that decides about a tool, and each rank's level in it (design §6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from orgkernel.diagnostics import Place
from orgkernel.graph.definition import Definition
from orgkernel.loading.sources import SourceDocument
from orgkernel.records.levels import ToolLevel
from orgkernel.records.organization import Organization
from orgkernel.records.rank_ladder import MatrixRow, Rank
from orgkernel.records.tool_catalog import Tool

Matrices = Mapping[str, Definition[tuple[MatrixRow, ...]]]


@dataclass(frozen=True, slots=True)
class RankRow:
    """The most each rank may do with a tool."""

    levels: Mapping[str, ToolLevel]
    """Every rank of the ladder, lowest first, to its level."""
    place: Place
    """Where it is written."""
    statement: str
    """What decides: `tool:ID`, or `matrix:ID/ROW`."""
    declared: Mapping[str, ToolLevel]
    """The entries as they are written."""


def fill_upwards(declared: Mapping[str, ToolLevel], ranks: Iterable[Rank]) -> dict[str, ToolLevel]:
    """Every rank's level: an entry holds upwards until the next, and ranks below the first have none.

    >>> ranks = (Rank(id="ensign"), Rank(id="lieutenant"), Rank(id="commander"))
    >>> fill_upwards({"lieutenant": "read"}, ranks)
    {'ensign': 'none', 'lieutenant': 'read', 'commander': 'read'}
    """
    levels: dict[str, ToolLevel] = {}
    level: ToolLevel = "none"
    for rank in ranks:
        level = declared.get(rank.id, level)
        levels[rank.id] = level
    return levels


def find_row(
    tool: Definition[Tool],
    organization: Organization,
    document: SourceDocument,
    ranks: tuple[Rank, ...],
    matrices: Matrices,
) -> RankRow | None:
    """The row that decides about a tool; None where no rank is capped.

    A matrix that is named and that nothing declares leaves every rank without access: access fails closed.
    """
    if not ranks:
        return None
    named = tool.record.rank_matrix
    if named is not None and not isinstance(named, str):
        return _row(named, tool.place("rank_matrix"), f"tool:{tool.id}", ranks)
    for row, place, statement in _candidates(tool, named, organization, matrices):
        return _row(row.levels, place, statement, ranks)
    if named is not None and not is_matrix(named, matrices):
        return _row({}, tool.place("rank_matrix"), f"tool:{tool.id}", ranks)
    wanted = organization.rank_matrix
    if named is None and wanted is not None and wanted not in matrices:
        return _row({}, document.place("rank_matrix"), f"organization:{organization.org_id}", ranks)
    return None


def is_matrix(name: str, matrices: Matrices) -> bool:
    """Whether a tool can refer to this name: that of a matrix, or of a row of one."""
    return name in matrices or any(row.name == name for each in matrices.values() for row in each.record)


def _row(declared: Mapping[str, ToolLevel], place: Place, statement: str, ranks: tuple[Rank, ...]) -> RankRow:
    return RankRow(fill_upwards(declared, ranks), place, statement, declared)


def _candidates(
    tool: Definition[Tool], named: str | None, organization: Organization, matrices: Matrices
) -> Iterator[tuple[MatrixRow, Place, str]]:
    """Rows that could decide, the one that does first: a row of that name, else the first that fits in a matrix."""
    preferred = organization.rank_matrix
    if named is not None:
        # The organization's matrix first: two matrices may have rows of one name.
        order = sorted(matrices.values(), key=lambda matrix: matrix.id != preferred)
        for matrix in order:
            for number, row in enumerate(matrix.record):
                if row.name == named:
                    yield row, matrix.place(number), f"matrix:{matrix.id}/{row.name}"
    matrix_id = preferred if named is None else named
    if matrix_id is not None and matrix_id in matrices:
        matrix = matrices[matrix_id]
        for number, row in enumerate(matrix.record):
            if fits(row, tool.record):
                yield row, matrix.place(number), f"matrix:{matrix.id}/{row.name}"


def fits(row: MatrixRow, tool: Tool) -> bool:
    """Whether a row is for tools of this type and these side effects."""
    return (not row.types or tool.type in row.types) and (
        not row.side_effects or tool.side_effects in row.side_effects
    )
