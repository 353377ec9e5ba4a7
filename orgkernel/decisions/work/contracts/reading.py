"""Read a contract from a text, and check it: every finding with its line and column.

Error policy: fails closed. An unknown field is an error here, because otherwise a misspelled `regressions` would look
like "no regressions". A contract cannot suppress findings about itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

import msgspec

from orgkernel.decisions.work.contracts.check import check_contract, explain_strange_companion
from orgkernel.decisions.work.contracts.findings import ContractFinding, Route
from orgkernel.decisions.work.contracts.terms import ContractTerms
from orgkernel.diagnostics import Diagnostic, Place, Severity
from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.diagnostic import Related, sort_diagnostics
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import RECORDS, Contract
from orgkernel.errors import UsageError
from orgkernel.loading.documents import check_version, parse_source, read_kind
from orgkernel.loading.files import SourceText
from orgkernel.loading.marks import Marks, find_mark, has_value, pack_mark, unpack_mark
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.shape import validate_shape
from orgkernel.prepared_types import prepared

AnyContract = TypeVar("AnyContract", bound=Contract)
CONTRACT_KINDS: Final = tuple(kind for kind, record in RECORDS.items() if issubclass(record, Contract))


@dataclass(frozen=True, slots=True)
class ReadContract:
    """A text that was parsed as a contract."""

    name: str
    kind: str | None
    """The kind; None if the text does not state the kind of contract, so no rule applies."""
    contract: Contract | None
    """The contract; None if it does not match the schema of its kind."""
    marks: Marks
    diagnostics: tuple[Diagnostic, ...]

    def place(self, route: Route) -> Place:
        """The place of a value, or of the nearest value around it."""
        at_key = bool(route) and not has_value(self.marks, route)
        return Place(self.name, *unpack_mark(find_mark(self.marks, route, key=at_key)))


@dataclass(frozen=True, slots=True)
class CheckedContract:
    """A contract with all findings about it."""

    kind: str | None
    contract: Contract | None
    diagnostics: tuple[Diagnostic, ...]
    read: ReadContract
    """The text of the contract, for places of later findings."""

    @property
    def outcome(self) -> Literal["sound", "unsound", "cannot_tell"]:
        """`sound`, `unsound`, or `cannot_tell` if the kind of contract is unknown."""
        if self.kind is None:
            return "cannot_tell"
        return "unsound" if any(each.severity is Severity.ERROR for each in self.diagnostics) else "sound"


_FIRST: Final = pack_mark(1, 1)
MAX_CONTRACT_BYTES: Final = 48 * 1024
"""Maximum length of a contract in UTF-8. It also fits into the body of a request, as a string with YAML."""


def read_contract(source: SourceText, max_bytes: int | None = MAX_CONTRACT_BYTES) -> ReadContract:
    """The contract in a text of at most `max_bytes`; None for one that was stored, whose text is formatted again."""

    def unread(
        problems: list[DocumentProblem], kind: str | None = None, marks: Marks = _FIRST
    ) -> ReadContract:
        diagnostics = tuple(_build_diagnostic(source.name, each) for each in problems)
        return ReadContract(source.name, kind, None, marks, diagnostics)

    if source.problem is not None:
        return unread([source.problem])
    if (size := len(source.text.encode("utf-8", "surrogatepass"))) > (max_bytes or size):
        message = f"the contract has {size:,} bytes, more than {max_bytes:,}"
        help = "keep long output in a file, and name it under `evidence.artefacts`"
        return unread([DocumentProblem(row.TOO_LARGE, _FIRST, message, help)])
    parsed = parse_source(source)
    if parsed.problems:
        return unread(list(parsed.problems))
    written = [each for each in parsed.documents if each.value is not None]
    if len(written) != 1:
        what = (
            f"the file contains {len(written)} documents, but"
            if written
            else "the file contains no document;"
        )
        return unread(
            [DocumentProblem(row.EMPTY, _FIRST, f"{what} a contract is one document in a file of its own")]
        )
    value, marks = written[0].value, written[0].marks
    if not isinstance(value, dict):
        return unread(
            [DocumentProblem(row.NOT_A_MAPPING, find_mark(marks, ()), "the document is not a mapping")]
        )
    kind, problem = read_kind(value, marks)
    if kind is None or kind not in CONTRACT_KINDS:
        message = f"a document of kind {quote(kind)} is not a contract"
        kinds = f"contracts are {listing(CONTRACT_KINDS, len(CONTRACT_KINDS))}"
        mark = find_mark(marks, ("_schema",))
        return unread(
            [problem if kind is None and problem else DocumentProblem(row.UNKNOWN_KIND, mark, message, kinds)]
        )
    version, problems = check_version(value, marks)
    if version is None:
        return unread(problems, None, marks)
    if "suppressions" in value:
        message = "a contract has `suppressions`, which have no effect: nothing found in a contract can be suppressed"
        problems.append(
            DocumentProblem(row.UNKNOWN_FIELD, find_mark(marks, ("suppressions",), key=True), message)
        )
        value = {name: each for name, each in value.items() if name != "suppressions"}
    shape, more, _ = validate_shape(kind, {**value, "_version": version}, marks)
    diagnostics = tuple(_make_strict(_build_diagnostic(source.name, each)) for each in [*problems, *more])
    contract = None if shape is None else msgspec.convert(msgspec.to_builtins(shape), prepared(RECORDS[kind]))
    assert contract is None or isinstance(contract, Contract)
    return ReadContract(source.name, kind, contract, marks, diagnostics)


def check_read_contract(
    read: ReadContract,
    against: ReadContract | None = None,
    terms: ContractTerms | None = None,
    now: float | None = None,
) -> CheckedContract:
    """All findings about a contract: alone, with the contract it belongs to, and by the terms of an organization. `now`,
    in seconds since 1970, is compared with its times.

    Findings about the other contract are left out, unless it cannot be read.
    """
    diagnostics = list(read.diagnostics)
    kind = read.kind
    if against is not None:
        strange = (
            ""
            if read.kind is None or against.kind is None
            else explain_strange_companion(read.kind, against.kind)
        )
        if against.contract is None or strange:
            kind = None
            errors = [each for each in against.diagnostics if each.severity is Severity.ERROR]
            diagnostics += errors
        if strange:
            problem = DocumentProblem(row.UNKNOWN_KIND, find_mark(against.marks, ("_schema",)), strange)
            diagnostics.append(_build_diagnostic(against.name, problem))
            against = None
    if read.contract is not None:
        other = None if against is None else against.contract
        for each in check_contract(read.contract, other, terms, now):
            diagnostics.append(_build_rule_diagnostic(each, read, against))
    return CheckedContract(kind, read.contract, sort_diagnostics(diagnostics), read)


def expect_readable(read: ReadContract, record: type[AnyContract]) -> AnyContract:
    """The contract, which must be of the expected kind. Raises `UsageError` if it is not."""
    wrong = [each for each in read.diagnostics if each.severity is Severity.ERROR]
    if wrong or not isinstance(read.contract, record):
        kind = record.__name__.lower()
        message = wrong[0].message if wrong else f"it is of kind {quote(read.kind or 'none')}"
        raise UsageError(
            f"{quote(read.name)} cannot be read as a {kind}: {message}",
            _say_check(read),
        )
    return read.contract


def _say_check(read: ReadContract) -> str:
    return f"`orgkernel task check {read.name}` lists all problems"


def expect_sound(read: ReadContract, record: type[AnyContract]) -> AnyContract:
    """The contract, which must be of the expected kind and valid. Raises `UsageError` if it is not."""
    contract = expect_readable(read, record)
    if findings := check_contract(contract):
        raise UsageError(
            f"{quote(read.name)} is not valid: {findings[0].message}",
            _say_check(read),
        )
    return contract


def _make_strict(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic as an error, if it is about a field without effect."""
    return (
        replace(diagnostic, severity=Severity.ERROR)
        if diagnostic.code == row.UNKNOWN_FIELD.code
        else diagnostic
    )


def _build_diagnostic(name: str, problem: DocumentProblem) -> Diagnostic:
    return problem.row.at(Place(name, *unpack_mark(problem.mark)), problem.message, problem.help)


def _build_rule_diagnostic(
    finding: ContractFinding, read: ReadContract, against: ReadContract | None
) -> Diagnostic:
    related: tuple[Related, ...] = ()
    if finding.related is not None and against is not None:
        related = (Related(against.place(finding.related), finding.related_text),)
    return replace(finding.row.at(read.place(finding.route), finding.message, finding.help), related=related)
