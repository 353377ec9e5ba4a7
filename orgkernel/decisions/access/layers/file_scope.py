"""File scope: a role can write only to files in its `file_scope`.

An agent with several roles can write wherever one of the roles that have the tool can. A path that is not stated, or
that cannot be compared with the scope, is treated as outside. No grant widens a scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.access.decision import Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import locate_tool_field
from orgkernel.decisions.access.resource import LEVEL, LOCK
from orgkernel.decisions.access.stated import StatedPaths
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.decisions.refusals import UNREADABLE_PATH
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.runtime.paths import is_glob_inside, read_path
from orgkernel.runtime.refusals import say_file_scope

WRITE, READ = LEVEL["write"], LEVEL["read"]


def _compile(target: Target) -> LayerStep | None:
    # Taking a lock writes no file, whatever level it requires.
    writes = target.required >= WRITE and target.action != LOCK
    return _cap if target.resource.has_file_scope and target.is_crew and writes else None


def _cap(evaluation: Evaluation) -> None:
    roles = find_bounding_roles(evaluation)
    if not roles or (evaluation.assumed is not None and evaluation.assumed.in_file_scope):
        return
    if evaluation.path is None or not evaluation.path.are_inside(list_file_scope_globs(evaluation, roles)):
        evaluation.ceiling = min(evaluation.ceiling, READ)
        evaluation.failing |= WRITE_OUT_OF_FILE_SCOPE.bit


def find_bounding_roles(evaluation: Evaluation) -> tuple[str, ...]:
    """The roles whose file scopes limit a write; empty if one of them may write anywhere."""
    resource, view = evaluation.resource, evaluation.view
    # An essential tool that states no paths could never be used at all if a scope applied to it.
    if evaluation.essential and not resource.path_arguments:
        return ()
    giving = [
        role
        for role in evaluation.roles
        if LEVEL[view.get_tool_levels(role).get(resource.id, "none")] >= evaluation.required
    ]
    # Only roles that give the tool widen where it may write: another role of the agent must not lend its files.
    roles = tuple(giving or evaluation.roles)
    return roles if all(view.records.posts[role].profile.file_scope for role in roles) else ()


def is_bounded(evaluation: Evaluation) -> bool:
    """Whether a file scope limits the requested action."""
    target = Target(evaluation.resource, evaluation.action, evaluation.required, evaluation.subject.group)
    return _compile(target) is not None and bool(find_bounding_roles(evaluation))


def is_in_file_scope(evaluation: Evaluation, part: str) -> bool:
    """Whether every path that matches a glob is certainly in the file scope of the subject."""
    globs = list_file_scope_globs(evaluation, find_bounding_roles(evaluation))
    return any(is_glob_inside(part, glob, evaluation.tables.root) for glob in globs)


def list_file_scope_globs(evaluation: Evaluation, roles: Iterable[str]) -> tuple[str, ...]:
    """The globs of the file scopes of some roles."""
    posts = evaluation.view.records.posts
    return tuple(dict.fromkeys(glob for role in roles for glob in posts[role].profile.file_scope))


def locate_file_scopes(evaluation: Evaluation, roles: Iterable[str]) -> tuple[Why, ...]:
    """The lines that declare the file scopes of some roles."""
    posts = evaluation.view.records.posts
    return tuple(
        cite_place(f"file_scope of role {role}", posts[role].place("file_scope", key=True)) for role in roles
    )


def _explain_out_of_file_scope(evaluation: Evaluation) -> Sentence:
    roles = find_bounding_roles(evaluation)
    globs, why = list_file_scope_globs(evaluation, roles), locate_file_scopes(evaluation, roles)
    bound = say_file_scope(evaluation.who, listing(globs))
    if evaluation.path is not None:
        return f"{bound}, and {' and '.join(_say_outside(evaluation.path, globs))}", why
    if evaluation.resource.path_arguments:
        return f"{bound}, and the request states no path", why
    text = f"{bound}, and the request states no path: {evaluation.what} declares no `path_arguments`"
    return text, (*why, *locate_tool_field(evaluation, "path_arguments"))


def _say_outside(stated_paths: StatedPaths, globs: tuple[str, ...]) -> Iterator[str]:
    for path in stated_paths.texts:
        if path is None:
            yield UNREADABLE_PATH
        elif not stated_paths._replace(texts=(path,)).are_inside(globs):
            known = read_path(path, stated_paths.root) is not None
            yield f"{quote(path)} {'is outside' if known else 'cannot be compared with it'}"


def _list_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    if not evaluation.has_open_path or not is_bounded(evaluation):
        return ()
    return (f"path:{glob}" for glob in list_file_scope_globs(evaluation, find_bounding_roles(evaluation)))


def _suppose(evaluation: Evaluation, is_favorable: bool) -> None:
    """Favorable: the request states a path in the scope. Unfavorable: it states none."""
    if evaluation.has_open_path and is_favorable:
        evaluation.assumed = (evaluation.assumed or Assumptions())._replace(in_file_scope=True)
    elif evaluation.has_open_path:
        evaluation.path = None


def _propose_stating_path(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose a path in the scope if the request states none. A stated path is not changed."""
    roles = find_bounding_roles(evaluation)
    stated = () if evaluation.path is None else evaluation.path.texts
    is_open = evaluation.resource.kind == "tool" and evaluation.can_state_path and not any(stated)
    if is_open and roles:
        yield RemedyChange("path", listing(list_file_scope_globs(evaluation, roles)))


WRITE_OUT_OF_FILE_SCOPE = ReasonCode(
    "WRITE_OUT_OF_FILE_SCOPE", _explain_out_of_file_scope, remedies=("path", "role")
)
FILE_SCOPE = AccessLayer(
    "file scope",
    (WRITE_OUT_OF_FILE_SCOPE,),
    _compile,
    circumstances=_list_words,
    suppose=_suppose,
    changes={"path": _propose_stating_path},
)
