"""What a governance document says about briefs: gates, destructive operations, and files that no brief hands over.

A brief that owns only sacred files, or some of them by name, is refused. One whose globs may also reach a sacred file is not:
the answer then obliges the caller to spare that file, because a broad glob is no reason to stop the other work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgkernel.decisions.handoff.briefs import HandoffBriefs, get_brief
from orgkernel.decisions.handoff.edges import EdgeFound
from orgkernel.decisions.handoff.permission import HandoffFinding
from orgkernel.decisions.ownership.sacred import describe_keys, is_unlocked
from orgkernel.decisions.reasons import why_place
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.runtime.paths import is_glob_inside, may_globs_meet, may_touch


def find_gate_failures(
    records: OrgRecords, briefs: HandoffBriefs, edge_match: EdgeFound | None
) -> Iterator[HandoffFinding]:
    """Gates that the brief names and nobody declares, and gates that the edge requires and the brief does not name."""
    governance, brief = read_governance(records.governance), get_brief(briefs.brief)
    if governance is None or records.governance is None or brief is None or briefs.brief is None:
        return
    for number, gate in enumerate(brief.audit_gates):
        if governance.quality_gates and gate not in governance.quality_gates:
            why = (
                why_place("audit_gates", briefs.brief.place(("audit_gates", number))),
                why_place("quality_gates", records.governance.place("quality_gates", key=True)),
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
                why_place("destructive", briefs.brief.place(("spec", "scope", "destructive", number))),
                why_place(
                    "destructive_operations", records.governance.place("destructive_operations", key=True)
                ),
            )
            text = f"the brief allows {quote(operation)}, which the organization does not allow"
            yield HandoffFinding("permissions", "DESTRUCTIVE_NOT_AUTHORISED", text, why)


class _Reached(NamedTuple):
    """The sacred scopes that a path or a glob of a brief lies in, and those that it may reach, by id."""

    inside: tuple[str, ...]
    reached: tuple[str, ...]


@per_view_and_key(4096)
def _find_sacred(view: OrgView, owned: str) -> _Reached:
    governance, root = read_governance(view.records.governance), view.records.organization.workspace_root
    scopes = {} if governance is None else governance.sacred_scopes
    inside = (
        name
        for name, scope in scopes.items()
        if any(is_glob_inside(owned, each, root) for each in scope.paths)
    )
    reached = (
        name for name, scope in scopes.items() if any(_may_reach(owned, each, root) for each in scope.paths)
    )
    return _Reached(tuple(inside), tuple(reached))


def find_sacred_files(view: OrgView, briefs: HandoffBriefs) -> Iterator[HandoffFinding]:
    """Files that the brief owns and that are sacred."""
    records = view.records
    governance, brief = read_governance(records.governance), get_brief(briefs.brief)
    if governance is None or records.governance is None or brief is None or briefs.brief is None:
        return
    scope_ids_by_file = [_find_sacred(view, owned).inside for owned in brief.files_owned]
    if not any(scope_ids_by_file):
        return
    for scope_id, scope in governance.sacred_scopes.items():
        # Who adds a new file owns it before it is there.
        if scope.new_files_only or is_unlocked(scope, brief):
            continue
        for number, owned in enumerate(brief.files_owned):
            if scope_id in scope_ids_by_file[number]:
                why = (
                    why_place("files_owned", briefs.brief.place(("spec", "scope", "files_owned", number))),
                    why_place(
                        f"sacred scope {scope_id}",
                        records.governance.place("sacred_scopes", scope_id, key=True),
                    ),
                )
                keys = describe_keys(scope)
                code = "SACRED_SCOPE_LOCKED" if keys else "SACRED_SCOPE"
                text = f"the brief owns {quote(owned)}, which lies in sacred scope {quote(scope_id)}"
                unlock_text = (
                    f"; {keys} would unlock it" if keys else "; a person changes it outside of a hand-off"
                )
                yield HandoffFinding("sacred scopes", code, text + unlock_text, why)


def list_sacred_obligations(view: OrgView, briefs: HandoffBriefs) -> Iterator[str]:
    """What has to be spared within the globs of the brief, and the operations that need a pre-flight first."""
    governance, brief = read_governance(view.records.governance), get_brief(briefs.brief)
    if brief is None:
        return
    yield from (f"preflight:{operation}" for operation in dict.fromkeys(brief.destructive))
    reached = {each for owned in brief.files_owned for each in _find_sacred(view, owned).reached}
    for scope_id, scope in governance.sacred_scopes.items() if governance is not None and reached else ():
        if scope_id in reached and not is_unlocked(scope, brief):
            yield f"spare:{scope_id}"


def _may_reach(owned: str, sacred: str, root: str | None) -> bool:
    """Whether a path or a glob may hold a sacred file."""
    is_glob = any(sign in owned for sign in "*?[")
    return may_globs_meet(owned, sacred, root) if is_glob else may_touch(owned, sacred, root)
