"""Turns text into documents: choose the kind by `_schema`, check the version, validate the shape, keep the source
positions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import did_you_mean, printable, quote
from orgkernel.documents.model.kinds import KINDS, LATER_KINDS, VERSION
from orgkernel.documents.records import PREFIX, Document, ToolCatalog
from orgkernel.loading.files import SourceText, get_markdown_kind
from orgkernel.loading.input_schemas import check_input_schemas
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.markdown import ParsedMarkdown, parse_markdown
from orgkernel.loading.marks import Marks, find_mark, pack_mark, unpack_mark
from orgkernel.loading.parsed import MAX_PROBLEMS, MAX_VALUES, DocumentProblem, Parsed, ParsedText, describe
from orgkernel.loading.shape import validate_shape
from orgkernel.loading.sources import (
    BrokenDocument,
    FileResult,
    PackedParts,
    SourceDocument,
    pack,
    unpack_record,
)
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FIRST = pack_mark(1, 1)
# Position of `$schema` in a JSON Schema.
_HEAD = 200
_THIS_VERSION = "1.0"
# Fields by which an orgkernel document without `_schema` is recognized, with its kind: fields that no other program
# uses, and fields that are used only in a folder with orgkernel documents.
_TELLING = {"role_id": "role_profile", "org_id": "organization"}
_TELLING_AMONG_OURS = {
    **_TELLING,
    "hierarchy": "organization",
    "domains": "domain_catalog",
    "plans": "plan_catalog",
    "tools": "tool_catalog",
    "skills": "skill_catalog",
    "cases": "decision_cases",
    "ranks": "rank_ladder",
    "qualifications": "qualification_catalog",
    "people": "directory",
    "policies": "access_policies",
    "agents": "crew_roster",
    "slug": "bill",
    "dispatch_edges": "governance",
}
# The comments, directives and separator before the first document of a text.
_BEFORE_FIRST = lazy_pattern(r"(?:[ \t]*(?:[#%][^\r\n]*)?\r?\n)*(?:---[ \t]*\r?\n)?")
# A separator of documents, after any character that a YAML reader treats as the end of a line.
_SEPARATOR = lazy_pattern("(?:^|[\r\n\x85\u2028\u2029])(?:---|\\.\\.\\.)(?=\\s|$)")
# An unparsable text is treated as an orgkernel document if `_schema` is at the beginning of a line or an object, and
# not, for example, in a comment or in the name of an image.
_SAYS = lazy_pattern(r"""_schema["']?\s*:\s*["']?""" + re.escape(PREFIX) + "([a-z_]*)")
# Files of the package belong to orgkernel: a schema there is a JSON Schema and can be skipped without reading it.
_IS_JSON_SCHEMA = lazy_pattern(r'\s*\{\s*"\$schema"\s*:')
# An organization can have a hundred thousand documents of this kind, so their marks are not kept unpacked: as objects
# they cost more time than they save.
_MANY = "role_profile"
# How much of a broken text is searched for ids that it declares. The text can be one that was refused for its size.
_MAX_SEARCHED_FOR_IDS = 2 * 1024 * 1024
_CLAIM = lazy_pattern(r"""\b(?:role_id|org_id)["']?\s*:\s*["']?([A-Za-z_][A-Za-z0-9_-]*)""")


def is_orgkernel_document(source: SourceText) -> bool:
    """Whether a text claims to be an orgkernel document, even if it cannot be read."""
    return get_markdown_kind(source.path) is not None or _find_kind(source.text) is not None


def _find_kind(text: str) -> str | None:
    """The kind that a text claims to be. Empty if it does not name one."""
    for match in _SAYS.finditer(text):
        at = match.start()
        if at and text[at - 1] in "'\"":
            at -= 1
        if not at or text[at - 1] in "\r\n":
            return match[1]
        while at and text[at - 1].isspace():
            at -= 1
        if at and text[at - 1] in "{,":
            return match[1]
    return None


def read_documents(
    source: SourceText,
    *,
    named: bool,
    has_orgkernel_siblings: bool,
    shared: bool = False,
    context: bool = False,
) -> FileResult:
    """Read the documents of a text.

    A `named` file must contain documents. A file `has_orgkernel_siblings` must be readable, and may contain something else. Any
    other file is skipped, unless it claims to be a document of orgkernel or has the fields of one of its kinds.
    """
    if get_markdown_kind(source.path) is not None:
        return _read_markdown(source, shared, context)
    if source.problem is not None:
        if not (named or has_orgkernel_siblings or is_orgkernel_document(source)):
            return FileResult(skipped=True)
        return _build_broken(source, shared, [source.problem])
    # Searched as text first, because parsing takes far longer than searching and most YAML files of a repository are foreign.
    if not (named or has_orgkernel_siblings or any(word in source.text for word in ("_schema", *_TELLING))):
        return FileResult(skipped=True)
    if shared and not named and _IS_JSON_SCHEMA.match(source.text) and not is_orgkernel_document(source):
        return FileResult(skipped=True)
    if not named and _is_json_schema(source):
        return FileResult(skipped=True)
    parsed = parse_source(source)
    if not named:
        # Without values, only the place of the file or its text tells whether it was meant to be a document.
        if parsed.problems or not _has_value(parsed):
            ours = has_orgkernel_siblings or is_orgkernel_document(source)
        else:
            ours = any(_is_ours(document, has_orgkernel_siblings) for document in parsed.documents)
        if not ours:
            return FileResult(skipped=True)
    if parsed.problems:
        return _build_broken(source, shared, list(parsed.problems))
    written = [document for document in parsed.documents if document.value is not None]
    if not written:
        return _build_broken(
            source, shared, [DocumentProblem(row.EMPTY, _FIRST, "the file contains no document")]
        )
    documents: list[SourceDocument] = []
    broken: list[BrokenDocument] = []
    diagnostics: list[Diagnostic] = []
    for each in written:
        read = _read_document(each)
        if read.packed is not None and read.kind is not None:
            document = SourceDocument(
                source.name, source.path, read.kind, read.packed, source.digest, shared, context
            )
            if read.record is not None:
                document.keep_unpacked(read.record, None if read.kind == _MANY else each.marks)
            documents.append(document)
        # A broken document keeps the ids that it seems to declare, so references to them are not reported as unknown too.
        elif any(problem.is_error for problem in read.problems):
            declared_ids = _find_declared_ids(source, each.value)
            is_certain = read.kind is not None
            broken.append(
                BrokenDocument(
                    source.name, source.path, read.kind, declared_ids, shared, is_kind_certain=is_certain
                )
            )
        diagnostics += [build_diagnostic(source, problem) for problem in read.problems]
    return FileResult(tuple(documents), tuple(broken), tuple(diagnostics))


def _read_markdown(source: SourceText, shared: bool, context: bool) -> FileResult:
    if source.problem is not None:
        return _build_broken(source, shared, [source.problem])
    return read_parsed_markdown(source, parse_markdown(source), shared, context)


def read_parsed_markdown(
    source: SourceText, parsed: ParsedMarkdown, shared: bool, context: bool, format: str = ""
) -> FileResult:
    """Build the document from the values of a Markdown document."""
    if parsed.value is None:
        return _build_broken(source, shared, parsed.problems)
    shape, more, unknown = validate_shape(parsed.kind, parsed.value, parsed.marks)
    problems = [*parsed.problems, *more]
    if shape is None:
        return _build_broken(source, shared, problems)
    packed = pack(shape, parsed.marks, unknown)
    document = SourceDocument(
        source.name, source.path, parsed.kind, packed, source.digest, shared, context, format
    ).keep_unpacked(unpack_record(parsed.kind, packed.record), parsed.marks)
    return FileResult((document,), (), tuple(build_diagnostic(source, problem) for problem in problems))


def _is_json_schema(source: SourceText) -> bool:
    """Whether a text is a JSON Schema, such as those next to the shared catalogs. This is decided without positions."""
    if not (source.name.endswith(".json") and '"$schema"' in source.text[:_HEAD]):
        return False
    if sum(map(source.text.count, ",[{:")) > MAX_VALUES:  # its values would take too much time and memory
        return False
    try:
        value = json.loads(source.text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "$schema" in value and "_schema" not in value


def _has_value(parsed: ParsedText) -> bool:
    return any(document.value is not None for document in parsed.documents)


def _is_ours(parsed: Parsed, has_orgkernel_siblings: bool) -> bool:
    value = parsed.value
    if not isinstance(value, dict) or ("$schema" in value and "_schema" not in value):
        return False
    schema = value.get("_schema")
    if isinstance(schema, str) and schema.startswith(PREFIX):
        return True
    return any(name in value for name in (_TELLING_AMONG_OURS if has_orgkernel_siblings else _TELLING))


def parse_source(source: SourceText) -> ParsedText:
    """Parse a text as JSON or YAML, without interpreting it. Returns its values and marks."""
    if source.name.endswith(".json"):
        return parse_json(source.text)
    if source.text.lstrip()[:1] == "{":
        # JSON in a file called .yaml: libyaml would refuse some of it.
        as_json = parse_json(source.text)
        if not as_json.problems or as_json.problems[-1].row is row.TOO_LARGE:
            return as_json
    return parse_yaml(source.text)


class _Read(NamedTuple):
    """The result of one document of a text."""

    kind: str | None
    packed: PackedParts | None
    problems: list[DocumentProblem]
    record: Document | None = None


def _read_document(parsed: Parsed) -> _Read:
    value, marks = parsed.value, parsed.marks
    if not isinstance(value, dict):
        return _Read(
            None,
            None,
            [DocumentProblem(row.NOT_A_MAPPING, find_mark(marks, ()), "the document is not a mapping")],
        )
    kind, problem = read_kind(value, marks)
    if kind is None:
        return _Read(None, None, [problem] if problem else [])
    version, problems = check_version(value, marks)
    if version is None:
        return _Read(kind, None, problems)
    if "_version" not in value or value["_version"] is not version:
        value = {**value, "_version": version}
    shape, more, unknown = validate_shape(kind, value, marks)
    if shape is None:
        return _Read(kind, None, problems + more)
    packed = pack(shape, marks, unknown)
    record = unpack_record(kind, packed.record)
    if isinstance(record, ToolCatalog):
        more += check_input_schemas(record, marks)
    return _Read(kind, packed, problems + more, record)


def read_kind(value: dict[str, Any], marks: Marks) -> tuple[str | None, DocumentProblem | None]:
    """The kind named by a document's `_schema`, or the reason why it has none."""
    if "_schema" not in value:
        if "$schema" in value:
            return None, None  # a JSON Schema, perhaps one of orgkernel's
        telling = next((kind for name, kind in _TELLING_AMONG_OURS.items() if name in value), None)
        help = (
            f"add `_schema: {PREFIX}{telling}`"
            if telling
            else f"add `_schema: {PREFIX}KIND` as its first field"
        )
        return None, DocumentProblem(
            row.NO_SCHEMA, find_mark(marks, ()), "the document has no `_schema`", help
        )
    schema = value["_schema"]
    kind = schema.removeprefix(PREFIX) if isinstance(schema, str) and schema.startswith(PREFIX) else None
    if kind in KINDS:
        return kind, None
    mark = find_mark(marks, ("_schema",))
    if kind in LATER_KINDS:
        return None, DocumentProblem(
            row.LATER_KIND, mark, f"documents of kind {quote(kind)} are not read by this version"
        )
    known = [PREFIX + name for name in KINDS]
    hint = did_you_mean(schema, known) if isinstance(schema, str) else ""
    return None, DocumentProblem(
        row.UNKNOWN_KIND, mark, f"`_schema` is {quote(schema) if isinstance(schema, str) else describe(schema)}, which is not a kind of document",
        hint or "use one of the kinds that `orgkernel schema` lists",
    )  # fmt: skip


def check_version(value: dict[str, Any], marks: Marks) -> tuple[str | None, list[DocumentProblem]]:
    """The version of a document (None if it cannot be read), and the finding about it, if any."""
    written = value.get("_version", _THIS_VERSION)
    if written == _THIS_VERSION:
        return _THIS_VERSION, []
    if isinstance(written, float):
        written = str(written)  # `_version: 1.0` without quotes
    mark = find_mark(marks, ("_version",))
    match = (
        re.fullmatch(r"([0-9]{1,4})\.([0-9]{1,4})", written, re.ASCII) if isinstance(written, str) else None
    )
    if match is None or int(match[1]) != VERSION[0]:
        message = f"`_version` is {quote(written) if isinstance(written, str) else describe(written)}, but this program reads version {VERSION[0]}.x"
        return None, [DocumentProblem(row.UNSUPPORTED_VERSION, mark, message, 'write `_version: "1.0"`')]
    if int(match[2]) > VERSION[1]:
        message = f"`_version` {quote(written)} is newer than {VERSION[0]}.{VERSION[1]}, so unknown fields have no effect"
        return written, [DocumentProblem(row.NEWER_VERSION, mark, message, "upgrade orgkernel")]
    return written, []


def _build_broken(source: SourceText, shared: bool, problems: list[DocumentProblem]) -> FileResult:
    declared_kind = _find_kind(source.text)
    kind = get_markdown_kind(source.path) or (declared_kind if declared_kind in KINDS else None)
    return read_broken(source, kind, problems, shared)


def read_broken(
    source: SourceText, kind: str | None, problems: Sequence[DocumentProblem], shared: bool = False
) -> FileResult:
    """The result for a file that cannot be read, with the reason."""
    broken = BrokenDocument(
        source.name,
        source.path,
        kind,
        _find_declared_ids(source, None),
        shared,
        is_kind_certain=_is_one_document(source),
    )
    return FileResult(
        broken=(broken,), diagnostics=tuple(build_diagnostic(source, problem) for problem in problems)
    )


def _is_one_document(source: SourceText) -> bool:
    """Whether a text that cannot be parsed certainly contains a single document.

    It names one kind, at the only place where it says `_schema`, and no line separates documents. A text that was not read to
    its end is never certain.
    """
    text = source.text
    if not source.digest or len(text) > _MAX_SEARCHED_FOR_IDS or text.count("_schema") != 1:
        return False
    before = _BEFORE_FIRST.match(text)
    return before is not None and _SEPARATOR.search(text[before.end() :]) is None


def _find_declared_ids(source: SourceText, value: Any) -> frozenset[str]:
    stem = source.path.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    declared_ids = {printable(stem)}
    if isinstance(value, dict):
        declared_ids |= {value[field] for field in ("role_id", "org_id") if isinstance(value.get(field), str)}
    else:
        declared_ids |= set(_CLAIM.findall(source.text, 0, _MAX_SEARCHED_FOR_IDS))
    return frozenset(declared_ids)


def read_broken_role(source: SourceText, role_id: str, problems: Sequence[DocumentProblem]) -> FileResult:
    """The result for one of several agents in a file, if this one cannot be read. Its findings name it, so that the others
    answer.
    """
    broken = BrokenDocument(source.name, source.path, "role_profile", frozenset({role_id}))
    findings = (build_diagnostic(source, each, f"role:{role_id}") for each in problems[:MAX_PROBLEMS])
    return FileResult((), (broken,), tuple(findings))


def build_diagnostic(source: SourceText, problem: DocumentProblem, subject: str = "") -> Diagnostic:
    """Turn a problem into a finding at its place, about a subject such as `role:reviewer`."""
    place = Place(source.name, *unpack_mark(problem.mark))
    return problem.row.at(place, problem.message, problem.help, subject)
