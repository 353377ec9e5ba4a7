"""Check briefs against the governance document: gates, destructive operations, and sacred files.

A brief that owns only sacred files, or names one, is refused. A brief whose globs could also match a sacred file is
permitted with the obligation to spare that file, because a broad glob is not a reason to stop the other work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from typing import Final, NamedTuple

from orgkernel.decisions.handoff.briefs import HandoffBriefs, get_brief
from orgkernel.decisions.handoff.edges import FoundEdge
from orgkernel.decisions.handoff.permission import HandoffFinding
from orgkernel.decisions.ownership.claim_terms import explain_broad_path, get_claim_terms
from orgkernel.decisions.ownership.glob_intersection import do_globs_intersect, read_simple_glob
from orgkernel.decisions.ownership.paths import BadPath, read_file_path
from orgkernel.decisions.ownership.sacred import describe_keys, is_unlocked
from orgkernel.decisions.reasons import cite_place
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.memo import PerView, per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.runtime.paths import (
    ANYWHERE,
    fold,
    is_glob_inside,
    may_globs_meet,
    may_names_be_inside,
    may_touch,
)

_WILD: Final = frozenset("*?[")
_PLAIN_GLOB_NAME: Final = re.compile(r"[A-Za-z0-9_.*?-]+")
# No name of dots alone, which would be this folder or the one above.
_PLAIN_PATH: Final = re.compile(r"[.]*[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:/[.]*[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")


def find_gate_failures(
    records: OrgRecords, briefs: HandoffBriefs, edge_match: FoundEdge | None
) -> Iterator[HandoffFinding]:
    """Undeclared gates in the brief, and gates that the edge requires and the brief lacks."""
    governance, brief = read_governance(records.governance), get_brief(briefs.brief)
    if governance is None or records.governance is None or brief is None or briefs.brief is None:
        return
    for number, gate in enumerate(brief.audit_gates):
        if governance.quality_gates and gate not in governance.quality_gates:
            why = (
                cite_place("audit_gates", briefs.brief.place(("audit_gates", number))),
                cite_place("quality_gates", records.governance.place("quality_gates", key=True)),
            )
            hint = did_you_mean(gate, governance.quality_gates)
            text = f"the brief names gate {quote(gate)}, which is not declared"
            yield HandoffFinding("brief", "GATE_UNKNOWN", text, why, (hint,) if hint else ())
    for gate in () if edge_match is None else edge_match.edge.gates:
        if gate not in brief.audit_gates:
            text = f"the edge requires gate {quote(gate)}, which the brief does not name"
            remedy = f"add {quote(gate)} to `audit_gates`"
            yield HandoffFinding(
                "brief", "GATE_MISSING", text, (edge_match.why,) if edge_match else (), (remedy,)
            )


def find_unlisted_operations(records: OrgRecords, briefs: HandoffBriefs) -> Iterator[HandoffFinding]:
    """Destructive operations that the brief allows and the organization does not."""
    governance, brief = read_governance(records.governance), get_brief(briefs.brief)
    if governance is None or records.governance is None or brief is None or briefs.brief is None:
        return
    allowed = governance.destructive_operations
    for number, operation in enumerate(brief.destructive):
        if allowed is not None and operation not in allowed:
            why = (
                cite_place("destructive", briefs.brief.place(("spec", "scope", "destructive", number))),
                cite_place(
                    "destructive_operations", records.governance.place("destructive_operations", key=True)
                ),
            )
            text = f"the brief allows {quote(operation)}, which the organization does not allow"
            yield HandoffFinding("permissions", "DESTRUCTIVE_NOT_AUTHORISED", text, why)


def find_broad_files(view: OrgView, briefs: HandoffBriefs) -> Iterator[HandoffFinding]:
    """Files of the brief that are broader than the organization lets a claim be, because a hand-off claims them."""
    document, brief = view.records.governance, get_brief(briefs.brief)
    if document is None or brief is None or briefs.brief is None:
        return
    for number, owned in enumerate(brief.files_owned):
        if problem := explain_broad_path((owned,), get_claim_terms(view).min_owned_names):
            why = (
                cite_place("files_owned", briefs.brief.place(("spec", "scope", "files_owned", number))),
                cite_place("min_fixed_names", document.place("claims", "min_fixed_names", key=True)),
            )
            yield HandoffFinding("file scope", "CLAIM_LIMIT", f"the brief owns too much: {problem}", why)


class _Reached(NamedTuple):
    """The sacred scopes that contain a path or glob of a brief, and those that it could match, by id."""

    inside: tuple[str, ...]
    reached: tuple[str, ...]


class _SacredPath(NamedTuple):
    """A path or glob of a sacred scope."""

    scope_id: str
    path: str
    name: str | None
    """The pattern of the folded name that a plain path must have to be in the glob, or in a folder above it. None if there is no
    such name."""
    is_first: bool
    """Whether the plain path begins with this name."""


class _SacredPaths(NamedTuple):
    """All paths and globs of sacred scopes, and which plain paths can touch them."""

    all: tuple[_SacredPath, ...]
    has_others: bool
    """Whether a plain path with any names can touch one of them."""
    first: re.Pattern[str]
    anywhere: re.Pattern[str]

    def may_touch(self, names: Sequence[str]) -> bool:
        """Whether a plain path with these folded names can touch a sacred path."""
        return (
            self.has_others
            or self.first.fullmatch(names[0]) is not None
            or any(map(self.anywhere.fullmatch, names))
        )


@PerView
def _list_sacred_paths(view: OrgView) -> _SacredPaths:
    governance = read_governance(view.records.governance)
    scopes = {} if governance is None else governance.sacred_scopes
    paths = tuple(
        _SacredPath(name, path, *_find_needed_name(path))
        for name, scope in scopes.items()
        for path in scope.paths
    )
    first, anywhere = (
        re.compile(
            "|".join(each.name for each in paths if each.name and each.is_first is is_first) or r"(?!)"
        )
        for is_first in (True, False)
    )
    return _SacredPaths(paths, any(each.name is None for each in paths), first, anywhere)


def _find_needed_name(glob: str) -> tuple[str | None, bool]:
    """The pattern of the name without which no plain path touches a glob, and whether it is the first name of the path."""
    names = glob.rstrip("/").split("/")
    if any(not _PLAIN_GLOB_NAME.fullmatch(each) or each in (".", "..") for each in names):
        return None, False
    is_first = names[0] != ANYWHERE
    fixed = names[:1] if is_first else [each for each in names if each.strip("*")]
    if not fixed or any("**" in each and each != ANYWHERE for each in names):
        return None, False
    return translate(fold(fixed[-1]) or "*"), is_first


@per_view_and_key(4096)
def _find_sacred(view: OrgView, owned_path: str) -> _Reached:
    root, sacred = view.records.organization.workspace_root, _list_sacred_paths(view)
    # Nearly every file is in no sacred scope, and the comparison with each glob takes a hundred times as long.
    if _PLAIN_PATH.fullmatch(owned_path) and not sacred.may_touch(tuple(map(fold, owned_path.split("/")))):
        return _UNTOUCHED
    inside = (each.scope_id for each in sacred.all if _is_sacred(owned_path, each.path, root))
    reached = (each.scope_id for each in sacred.all if _may_reach(owned_path, each.path, root))
    return _Reached(tuple(dict.fromkeys(inside)), tuple(dict.fromkeys(reached)))


_UNTOUCHED: Final = _Reached((), ())


def find_sacred_files(view: OrgView, briefs: HandoffBriefs) -> Iterator[HandoffFinding]:
    """The sacred files that the brief owns."""
    records = view.records
    governance, brief = read_governance(records.governance), get_brief(briefs.brief)
    if governance is None or records.governance is None or brief is None or briefs.brief is None:
        return
    scope_ids_by_file = [_find_sacred(view, owned).inside for owned in brief.files_owned]
    if not any(scope_ids_by_file):
        return
    for scope_id, scope in governance.sacred_scopes.items():
        # A worker owns a new file before the file exists.
        if scope.new_files_only or is_unlocked(scope, brief):
            continue
        for number, owned in enumerate(brief.files_owned):
            if scope_id in scope_ids_by_file[number]:
                why = (
                    cite_place("files_owned", briefs.brief.place(("spec", "scope", "files_owned", number))),
                    cite_place(
                        f"sacred scope {scope_id}",
                        records.governance.place("sacred_scopes", scope_id, key=True),
                    ),
                )
                keys = describe_keys(scope)
                code = "SACRED_SCOPE_LOCKED" if keys else "SACRED_SCOPE"
                text = f"the brief owns {quote(owned)}, which is in sacred scope {quote(scope_id)}"
                unlock_text = (
                    f"; {keys} would unlock it" if keys else "; a person changes it outside of a hand-off"
                )
                yield HandoffFinding("sacred scopes", code, text + unlock_text, why)


def list_sacred_obligations(view: OrgView, briefs: HandoffBriefs) -> Iterator[str]:
    """The paths that the brief must spare within its globs, and the operations that need a pre-flight first."""
    governance, brief = read_governance(view.records.governance), get_brief(briefs.brief)
    if brief is None:
        return
    # Obligations and not failures: the brief may plan the operation, and the worker has to rehearse it first.
    yield from (f"preflight:{operation}" for operation in dict.fromkeys(brief.destructive))
    reached = {each for owned in brief.files_owned for each in _find_sacred(view, owned).reached}
    for scope_id, scope in governance.sacred_scopes.items() if governance is not None and reached else ():
        if scope_id in reached and not is_unlocked(scope, brief):
            yield f"spare:{scope_id}"


def _is_sacred(owned_path: str, sacred: str, root: str | None) -> bool:
    """Whether all files of a path or a glob are sacred. Letter case is ignored, as in an audit and in the hooks."""
    # Three readings, because each can prove what the others cannot: as globs, as one literal path, and with letter case
    # ignored.
    if is_glob_inside(owned_path, sacred, root):
        return True
    if _WILD.isdisjoint(owned_path):
        read = read_file_path(owned_path.rstrip("/"))
        return not isinstance(read, BadPath) and may_names_be_inside(read.names, sacred, root)
    return is_glob_inside(_fold_names(owned_path), _fold_names(sacred), root)


def _fold_names(glob: str) -> str:
    return "/".join(map(fold, glob.split("/")))


def _may_reach(owned_path: str, sacred: str, root: str | None) -> bool:
    """Whether a path or a glob could match a sacred file. A glob holds the files that it matches, a path also those below.

    The answer becomes an obligation for the worker, so a sacred name with a dot or a wildcard counts as a file and not as a
    folder. Hooks and audits protect both.
    """
    is_glob = not _WILD.isdisjoint(owned_path)
    owned, other = read_simple_glob(owned_path.rstrip("/")), read_simple_glob(sacred)
    if is_glob and owned is not None and other is not None:
        is_folder = set(other[-1]).isdisjoint(".*")
        return do_globs_intersect(owned, other, one_is_deep=False, other_is_deep=is_folder)
    return may_globs_meet(owned_path, sacred, root) if is_glob else may_touch(owned_path, sacred, root)
