"""Decide whether a tool call of a coding agent may write what it is about to write.

The full program and the light start of the hook call the same function. The values that it needs are plain, so one call of the
full program can write them down for the next calls of the hook.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from msgspec.structs import replace

from orgkernel.decisions.ownership.audit import list_ownership_findings
from orgkernel.decisions.ownership.owners import AuditedWorker
from orgkernel.decisions.ownership.sacred import SacredFiles
from orgkernel.diagnostics.wording import quote
from orgkernel.project.hooks.tool_calls import PlannedWrites, read_tool_call
from orgkernel.project.hooks.written_secrets import explain_secrets
from orgkernel.runtime.paths import fold
from orgkernel.shell.catalog import CommandPrograms

if TYPE_CHECKING:
    from orgkernel.documents.records import Brief, SacredScope

_OF_THE_RULES: Final = (".git", ".orgkernel", ".claude", ".husky")
_OF_THE_HOOKS: Final = (".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "orgkernel.toml")


class WriteRules(NamedTuple):
    """The values that decide which files a worker may write."""

    workers: tuple[AuditedWorker, ...]
    """The writing worker, and then those whose claims are current."""
    sacred: SacredFiles
    programs: CommandPrograms
    """The programs that the organization knows."""
    roles: tuple[str, ...] = ()
    """The roles of the worker, which sacred scopes can name as readers."""
    protected: tuple[str, ...] = ()
    """Files that decide what workers may do, such as the documents of the organization: relative to the root, or absolute."""


class WriteAnswer(NamedTuple):
    """The reasons why a call is denied, and the questions that a person has to answer."""

    denied: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def decide_write(call: Mapping[str, Any], root: str, rules: WriteRules) -> WriteAnswer:
    """The answer to a call. Raises `UsageError` for a call that cannot be understood."""
    worker = rules.workers[0]
    planned = read_tool_call(call, root, worker.brief.files_owned, worker.brief, rules.programs)
    by = replace(planned.changed.commits[0], briefs=((worker.brief.id or "").lower(),))
    changed = replace(planned.changed, commits=(by,))
    findings = list_ownership_findings(changed, rules.workers, sacred=rules.sacred, root=root)
    denied = (
        *explain_secrets(call["tool_input"]),
        *_render_refusals(planned, rules.protected),
        *list_refused_reads(planned, rules.sacred, rules.roles),
        *(f"{each.code}: {each.text}. {each.help}" for each in findings if each.is_violation),
    )
    return WriteAnswer(denied, (*planned.unseen, *(each.text for each in findings if not each.is_violation)))


def _render_refusals(planned: PlannedWrites, protected: Sequence[str] = ()) -> Iterator[str]:
    yield from list_bypasses(planned)
    files = {fold_path(each) for each in protected}
    for path in planned.outside:
        if fold_path(path) in files:
            yield _say_protected(path)
        yield f"WRITE_NOT_OWNED: {quote(path)} is outside the project. Write to a file that the brief owns."
    for path in dict.fromkeys(path for each in planned.changed.files for path in each.touched):
        # A caller that can change these files can switch the checks off. File systems can ignore case, so the comparison does
        # too.
        names = path.lower().split("/")
        is_of_rules = any(name in _OF_THE_RULES for name in names) or names[-1] in _OF_THE_HOOKS
        if is_of_rules or fold_path(path) in files:
            yield _say_protected(path)
    if planned.command is not None:
        yield from (f"{each.code}: {each.message}. {each.help}" for each in planned.command.refusals)


def _say_protected(path: str) -> str:
    return f"SACRED_SCOPE: {quote(path)} belongs to git, or to the checks of orgkernel. Only a person can change it."


def fold_path(path: str) -> str:
    """A path in the form in which protected files are compared."""
    return "/".join(map(fold, path.split("/")))


def list_bypasses(planned: PlannedWrites) -> Iterator[str]:
    """The parts of a command that go around the hooks, or act as an operator."""
    for each in planned.bypasses:
        yield f"HOOKS_BYPASSED: {each}. Only a person can do it."


def decide_read(call: Mapping[str, Any], root: str, sacred: SacredFiles, roles: Sequence[str]) -> WriteAnswer:
    """The answer to a call of a tool that only reads. It needs no brief."""
    return WriteAnswer(tuple(list_refused_reads(read_tool_call(call, root, (), None), sacred, roles)))


def list_refused_reads(planned: PlannedWrites, sacred: SacredFiles, roles: Sequence[str]) -> Iterator[str]:
    """The secret files that a call would read."""
    touches = {path: sacred.find_unreadable_file(path, roles) for path in planned.read}
    for path, touch in touches.items():
        if touch is not None:
            yield f"{touch.code}: {quote(path)} {touch.text}. {touch.help}"


def render_answer(answer: WriteAnswer) -> dict[str, Any]:
    """What Claude Code reads: an allowed call prints nothing."""
    if not answer.denied and not answer.unknown:
        return {}
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny" if answer.denied else "ask",
            "permissionDecisionReason": "\n".join(answer.denied or answer.unknown),
        }
    }


class _BriefValues(NamedTuple):
    """The values of a brief that the decision reads."""

    id: str | None
    parent: str | None
    files_owned: tuple[str, ...]
    destructive: tuple[str, ...]
    audit_gates: tuple[str, ...]
    allow_authentication: bool
    allow_billing: bool
    allow_dependency_change: bool


class _ScopeValues(NamedTuple):
    """The values of a sacred scope that the decision reads."""

    paths: tuple[str, ...]
    unlocked_by: str | None
    unlocked_with_gate: str | None
    new_files_only: bool
    readers: tuple[str, ...] | None


def pack_rules(rules: WriteRules) -> dict[str, Any]:
    """The rules as plain values."""
    return {
        "workers": [
            [each.name, [getattr(each.brief, name) for name in _BriefValues._fields]]
            for each in rules.workers
        ],
        "scopes": pack_scopes(rules.sacred.scopes),
        "roots": [each for each in rules.sacred.roots if each is not None],
        "programs": rules.programs.own,
        "roles": list(rules.roles),
        "protected": list(rules.protected),
    }


def unpack_rules(values: Mapping[str, Any]) -> WriteRules:
    """The rules that `pack_rules` wrote. Raises TypeError, ValueError or KeyError for values that it did not write."""
    workers = tuple(
        AuditedWorker(name, cast("Brief", _BriefValues(*map(_freeze, brief))))
        for name, brief in values["workers"]
    )
    return WriteRules(
        workers, SacredFiles(unpack_scopes(values["scopes"]), values["roots"]), CommandPrograms(values["programs"]),
        tuple(values["roles"]), tuple(values["protected"]),
    )  # fmt: skip


def pack_scopes(scopes: Mapping[str, SacredScope]) -> dict[str, list[Any]]:
    """The sacred scopes as plain values."""
    return {
        scope_id: [getattr(scope, name) for name in _ScopeValues._fields]
        for scope_id, scope in scopes.items()
    }


def unpack_scopes(values: Mapping[str, Any]) -> dict[str, SacredScope]:
    """The scopes that `pack_scopes` wrote. Raises TypeError for values that it did not write."""
    return {
        scope_id: cast("SacredScope", _ScopeValues(*map(_freeze, scope)))
        for scope_id, scope in values.items()
    }


def _freeze(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
