"""Sacred scope: agents do not read secret files, neither by a path nor by a shell command.

Environment files, vaults, credentials and private keys are secret. A sacred scope with `readers` adds files, or names
the roles that may read some. Only stated paths and commands are compared. No grant lifts the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.resource import LEVEL, LOCK
from orgkernel.decisions.ownership.secret_reads import cite_scope, find_secret_file, find_secret_kind_of_glob
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import SacredScope
from orgkernel.graph.governance import read_governance
from orgkernel.runtime.commands import list_stated_commands
from orgkernel.runtime.paths import may_touch

_READ = LEVEL["read"]


def _compile(target: Target) -> LayerStep | None:
    reads = target.resource.kind == "tool" and target.required >= _READ and target.action != LOCK
    return _check if reads and target.is_crew else None


def _check(evaluation: Evaluation) -> None:
    if (evaluation.path is not None or evaluation.request.context.input is not None) and any(
        True for _ in _find_refused(evaluation)
    ):
        evaluation.failing |= SACRED_READ.bit


def _find_refused(evaluation: Evaluation) -> Iterator[Sentence]:
    """The end of a sentence about each secret file that the request would read."""
    governance = read_governance(evaluation.view.records.governance)
    scopes = {} if governance is None else governance.sacred_scopes
    opened = dict(_list_opened_paths(evaluation))
    for path in dict.fromkeys((*_list_stated_paths(evaluation), *opened)):
        shown_path = opened.get(path, path)
        secret = find_secret_file(path, scopes, evaluation.roles, partial(_does_hold, evaluation, path))
        if secret is None:
            kind = find_secret_kind_of_glob(shown_path) if path in opened else None
            if kind is not None:
                yield (
                    f"{quote(shown_path)}, which can stand for a file that no agent may read: {quote(kind)}",
                    (),
                )
        elif secret.scope_id is None:
            yield f"{quote(shown_path)}: no agent may read the kind of file {quote(secret.kind)}", ()
        else:
            readers = f"only {listing(secret.readers)}" if secret.readers else "no agent"
            text = f"{quote(shown_path)}, which is in sacred scope {quote(secret.scope_id)}: {readers} may read it"
            yield text, cite_scope(evaluation.view.records.governance, secret.scope_id)


def _does_hold(evaluation: Evaluation, path: str, scope: SacredScope) -> bool:
    return any(may_touch(path, glob, evaluation.tables.root) for glob in scope.paths)


def _list_stated_paths(evaluation: Evaluation) -> Iterator[str]:
    if evaluation.path is not None:
        yield from (each for each in evaluation.path.texts if each is not None)


def _list_opened_paths(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    """The words and redirections of stated commands that name files: each with the marks of the shell reader, and as a glob."""
    resource, given = evaluation.resource, evaluation.request.context.input
    if given is None or not resource.command_arguments:
        return
    # Most requests state no command, and the catalog takes long to import.
    from orgkernel.shell.check import find_writes
    from orgkernel.shell.marks import shown

    for command in list_stated_commands(resource.command_arguments, given, resource.command_lists):
        if isinstance(command, str):
            opened = find_writes(command, None, evaluation.tables.command_programs).opened
            yield from ((path, shown(path)) for path in opened)


def _explain(evaluation: Evaluation) -> Sentence:
    text, why = next(_find_refused(evaluation))
    return f"{evaluation.who} would read {text}", why


SACRED_READ = ReasonCode("SACRED_READ", _explain, "stopped")
SACRED_SCOPE = AccessLayer("sacred scope", (SACRED_READ,), _compile, is_about_run=True)
