"""`orgkernel ownership verify-push`: decide a push again, where the worker cannot leave the hooks out: in CI or on a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from orgkernel.cli.opening import add_path_options, cache_option, format_option, org_option, with_options
from orgkernel.cli.output import echo_indented, format_count, join_lines
from orgkernel.cli.stores import open_operation, store_option
from orgkernel.cli.work.ownership_audit import find_sacred_files, open_governed, render_findings
from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles
from orgkernel.decisions.ownership.held import is_held
from orgkernel.decisions.ownership.owners import AuditedWorker
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.operations.context import OPERATOR
from orgkernel.operations.contracts import choose_contract_organization
from orgkernel.operations.ownership_audits import decode_brief
from orgkernel.project.git.process import keep_hook_variables, read_git
from orgkernel.project.git.range import find_changed_rules, list_authors, read_range

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel

_UNNAMED = "no brief"
"""The brief of a commit that names none. No stored brief has this id."""


@click.command("verify-push", short_help="Decide in CI or on a server whether a push is allowed.")
@click.option(
    "--base",
    metavar="REV",
    help="Revision before the push. Without it, standard input has the lines of a pre-receive hook.",
)
@click.option("--head", default="HEAD", show_default=True, metavar="REV", help="Revision that is pushed.")
@click.option(
    "--repository",
    default=".",
    metavar="DIR",
    help="Folder in the repository, or a bare one.  [default: this one]",
)
@click.option(
    "--brief",
    metavar="ID",
    help="Stored brief that all pushed commits have to follow.  [default: the one that each commit names]",
)
@with_options(org_option, add_path_options, store_option, cache_option, format_option("text", "json"))
@click.pass_context
def verify_push(
    ctx: click.Context, /, org: str, base: str | None, head: str, repository: str, brief: str | None, store: str | None, form: str,
    **where: Any,
) -> None:  # fmt: skip
    """Decide in CI or on a server whether a push is allowed.

    Each commit names its brief (`Brief: ID`), and the briefs are those of the store, not files of the worker. A commit
    without a brief is refused, unless the governance document says `commits: {held: agents}` and its author is
    not an agent.

    A forced push that takes commits of others off a branch is refused, and so is the removal of a branch with commits that are nowhere else.

    As a pre-receive hook: `exec orgkernel ownership verify-push --store STORE --path ORGANIZATION`.

    Exit codes: 0 allowed, 1 refused, 2 cannot tell.
    """
    kernel = open_governed(org, where["paths"], no_cache=where["no_cache"])
    if kernel is None:
        raise UsageError("there is no organization here", "name its folder with `--path`")
    # The objects of a push are in a quarantine until the hooks of the server have passed.
    with keep_hook_variables():
        ranges = [(base, head)] if base is not None else [*_read_ranges(repository)]
        audits = [_verify(repository, first, last, kernel, org, store, brief) for first, last in ranges]
    if form == "json":
        echo_indented(audits)
    else:
        click.echo(join_lines(_render_lines(audits)), nl=False)
    outcomes = {each.outcome for each in audits}
    ctx.exit(1 if "violations" in outcomes else 2 if "cannot_tell" in outcomes else 0)


def _read_ranges(repository: str) -> Iterator[tuple[str, str]]:
    """The ranges of the lines of a pre-receive hook, each from what the repository has already."""
    for line in sys.stdin.buffer.read().decode("utf-8", "surrogateescape").splitlines():
        words = line.split(" ")
        if len(words) != 3:
            raise UsageError(
                f"{quote(line)} is not a line of a pre-receive hook", "pass `--base` and `--head`"
            )
        old, new, ref = words
        if not new.strip("0"):
            _refuse_lost(repository, old, ref)
            continue
        if old.strip("0"):
            _refuse_dropped(repository, old, new, ref)
            yield old, new
            continue
        listed = (
            read_git(repository, "rev-list", "--boundary", new, "--not", "--all", what="list the commits")
            .decode()
            .split()
        )
        ends = [each[1:] for each in listed if each.startswith("-")]
        if listed and len(ends) != 1:
            raise UsageError(
                "which of the pushed commits are new is unknown",
                "push the branch at which the work began first",
            )
        if listed:
            yield ends[0], new


def _refuse_dropped(repository: str, old: str, new: str, ref: str) -> None:
    """Raise `UsageError` for a forced push that takes commits of others off a branch. A worker may rewrite its own ones."""
    dropped = read_range(repository, new, old).changed.commits
    pushed = {brief for each in read_range(repository, old, new).changed.commits for brief in each.briefs}
    others = [each for each in dropped if not each.briefs or not pushed.issuperset(each.briefs)]
    if others:
        raise UsageError(
            f"the push takes {format_count(len(others), 'commit')} of others off {quote(ref)}, such as {others[0].id[:12]}",
            "merge them, and push without `--force`",
        )


def _refuse_lost(repository: str, old: str, ref: str) -> None:
    """Raise `UsageError` for the removal of a branch or a tag with commits that are nowhere else."""
    # `--all` would add `HEAD`, which can be the branch itself.
    others = (f"--exclude={ref}", "--glob=refs/*")
    listed = read_git(repository, "rev-list", old, "--not", *others, what="list the commits")
    if lost := listed.decode().split():
        raise UsageError(
            f"without {quote(ref)}, {format_count(len(lost), 'commit')} would be lost, such as {lost[0][:12]}",
            "merge the branch first",
        )


def _verify(
    repository: str, base: str, head: str, kernel: Kernel, org: str, store: str | None, brief: str | None
) -> OwnershipAudit:
    git_range = read_range(repository, base, head)
    changed = git_range.changed
    if brief is not None:
        commits = tuple(replace(each, briefs=(brief.lower(),)) for each in changed.commits)
        changed = replace(changed, commits=commits)
    else:
        changed = _leave_people_out(
            changed, kernel, org, list_authors(repository, git_range.base, git_range.head)
        )
    if not changed.commits and not changed.files:
        return OwnershipAudit(outcome="clean")
    names = dict.fromkeys(each for commit in changed.commits for each in commit.briefs if each != _UNNAMED)
    with open_operation(OPERATOR, store, kernel) as context:
        org_id = choose_contract_organization(context, org)
        stored = {each.record_id.lower(): each for each in context.store.contracts.list(org_id, "brief")}
    briefs = [stored[each] for each in names if each in stored]
    workers = [AuditedWorker(each.record_id, decode_brief(each)) for each in briefs]
    rules = find_changed_rules(git_range, kernel.sacred_documents(org))
    sacred = find_sacred_files(kernel, org, git_range.folder, rules)
    return audit_changes(changed, workers, sacred=sacred, root=git_range.folder)


def _leave_people_out(
    changed: ChangedFiles, kernel: Kernel, org: str, authors: dict[str, str]
) -> ChangedFiles:
    """The changes of commits that must follow a brief. A commit without one names `no brief`, so it belongs to no
    worker.
    """
    rules = kernel.commit_rules(org)
    commits = tuple(
        each if each.briefs else replace(each, briefs=(_UNNAMED,))
        for each in changed.commits
        if each.briefs or is_held(rules, {}, [authors.get(each.id, "")])
    )
    held = {path for each in commits for path in each.paths}
    files = tuple(each for each in changed.files if held.intersection(each.touched))
    return ChangedFiles(files=files, commits=commits)


def _render_lines(audits: Sequence[OwnershipAudit]) -> Iterator[str]:
    for each in audits:
        yield f"{each.outcome.replace('_', ' ')}: {len(each.files)} changed files that are checked against briefs"
        yield from render_findings(each)
    if not audits:
        yield "clean: nothing new was pushed"
