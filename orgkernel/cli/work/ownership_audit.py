"""`orgkernel ownership audit`: check whether workers owned the files that a range of commits changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from orgkernel.cli.opening import (
    add_path_options,
    cache_option,
    format_option,
    open_kernel,
    org_option,
    with_options,
)
from orgkernel.cli.output import echo_answer, format_count, join_lines, list_places
from orgkernel.cli.stores import by_option, open_current_store, store_option
from orgkernel.cli.work.contract_files import read_brief
from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.claims import FileClaim
from orgkernel.decisions.ownership.owners import AuditedWorker, build_claimed_work, require_different
from orgkernel.decisions.ownership.sacred import SacredFiles
from orgkernel.diagnostics.wording import LISTED, quote
from orgkernel.errors import NothingToRead, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.project.git.range import find_changed_rules, read_range
from orgkernel.runtime.progress import show_stage

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel

_EXIT_CODES = {"clean": 0, "violations": 1, "cannot_tell": 2}


@click.command("audit", short_help="Find files that a worker changed without owning them.")
@click.option("--base", required=True, metavar="REV", help="Revision at which the work began.")
@click.option("--head", default="HEAD", show_default=True, metavar="REV", help="Revision at which it ended.")
@click.option(
    "--repository", default=".", metavar="DIR", help="Folder in the repository.  [default: this one]"
)
@click.option(
    "--brief",
    "briefs",
    multiple=True,
    metavar="FILE",
    help="Brief of a worker, whose commits end with `Brief: ID`; repeatable. A single brief covers all commits.",
)
@click.option(
    "--worker",
    "workers",
    multiple=True,
    metavar="BRANCH=FILE",
    help="Brief of a worker, whose commits are those of a branch; repeatable.",
)
@click.option(
    "--union",
    "is_union",
    is_flag=True,
    help="Check only that some brief owns each file, not who changed it.",
)
@click.option(
    "--claims",
    "by_claims",
    is_flag=True,
    help="Use current claims instead of briefs to decide who owns a file, regardless of who changed it.",
)
@click.option(
    "--record",
    "is_recorded",
    is_flag=True,
    help="Store the verdict about each brief, which results and closes need. The briefs must be stored.",
)
@with_options(
    by_option,
    org_option,
    add_path_options,
    store_option,
    cache_option,
    format_option("text", "json", "pages"),
)
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    org: str,
    paths: tuple[str, ...],
    no_cache: bool,
    base: str,
    head: str,
    repository: str,
    briefs: tuple[str, ...],
    workers: tuple[str, ...],
    is_union: bool,
    by_claims: bool,
    is_recorded: bool,
    actor: str,
    store: str | None,
    form: str,
) -> None:
    """Find files that a worker changed without owning them.

    Git lists the changes between two revisions, and briefs declare the owners. Changes of sacred files are found
    even if a worker owns them: those of the organization, and always files of environment variables, the
    dependencies of package manifests, and existing migrations.

    With `--record`, the sender of the work or an operator stores the verdict. `--format pages` prints the requests that
    record the same audit over HTTP, one in each line.

    Exit codes: 0 clean, 1 violations, 2 cannot tell.
    """
    named = [_read_worker(each) for each in workers] + [
        AuditedWorker(each, read_brief(each)) for each in briefs
    ]
    if by_claims:
        if named:
            raise UsageError("`--claims` cannot be combined with briefs", "leave one of them out")
        named, is_union = _read_claims(store), True
    require_different(named)
    if is_union and (is_recorded or form == "pages"):
        raise UsageError(
            "an audit is recorded about one brief at a time", "leave out `--union` and `--claims`"
        )
    with show_stage("reading the changed files"):
        git_range = read_range(repository, base, head, [each.name for each in named if each.has_branch])
    if form == "pages":
        # Imported late, because hooks never need it.
        from orgkernel.cli.work.ownership_records import render_requests

        click.echo("".join(f"{line}\n" for line in render_requests(named, git_range)), nl=False)
        return
    kernel = open_governed(org, paths, no_cache=no_cache)
    if kernel is None:
        click.echo(
            "note: there is no organization here, so only the files that are always protected are treated as sacred",
            err=True,
        )
    rules = find_changed_rules(git_range, [] if kernel is None else kernel.sacred_documents(org))
    sacred = find_sacred_files(kernel, org, git_range.folder, rules)
    answer = audit_changes(git_range.changed, named, sacred=sacred, root=git_range.folder, is_union=is_union)
    if is_recorded:
        # Imported late, because most audits are not recorded.
        from orgkernel.cli.work.ownership_records import record_ownership_audit

        record_ownership_audit(named, git_range, kernel, sacred, actor, store, org)
    echo_answer(form, answer, lambda: join_lines(_render_lines(answer, is_union)))
    if any(each.attributed_by == "message" and each.commits for each in answer.workers):
        click.echo(
            "note: each commit names its brief itself, which does not prove its author; `--worker BRANCH=FILE` attributes by branch",
            err=True,
        )
    ctx.exit(_EXIT_CODES[answer.outcome])


def _read_worker(text: str) -> AuditedWorker:
    branch, equals, file = text.partition("=")
    if not (branch and equals and file):
        raise UsageError(f"{quote(text)} does not name a branch and a brief", "write `--worker BRANCH=FILE`")
    return AuditedWorker(branch, read_brief(file), has_branch=True)


def _read_claims(store: str | None) -> list[AuditedWorker]:
    """The holders of live claims, each with everything they claimed in one session."""
    from orgkernel.operations.claims import list_claims  # which briefs do without

    with open_current_store(store) as state:
        claims = list_claims(state)
    by_holder: dict[str, list[FileClaim]] = {}
    for each in claims:
        by_holder.setdefault(f"{each.holder} in {each.session}" if each.session else each.holder, []).append(
            each
        )
    return [build_claimed_work(name, held) for name, held in by_holder.items()]


def open_governed(org: str, paths: tuple[str, ...], *, no_cache: bool) -> Kernel | None:
    """Open the kernel for the paths. None if no organization was named and there is none."""
    try:
        kernel = open_kernel(paths, org, no_cache=no_cache)
    except NothingToRead:
        if paths or org != ACTIVE:
            raise
        return None
    does_store_exist = org != ACTIVE or paths or kernel.state.served or kernel.state.refused
    return kernel if does_store_exist else None


def find_sacred_files(
    kernel: Kernel | None, org: str, folder: str, changed: Sequence[str] = ()
) -> SacredFiles:
    """The sacred files of an organization; without an organization, the files that are always sacred."""
    if kernel is None:
        return SacredFiles(roots=(folder,), changed=changed)
    return kernel.sacred_files(org, folder, changed)


def render_findings(ownership_audit: OwnershipAudit, *, shows_commits: bool = False) -> Iterator[str]:
    """The lines about the findings of an audit."""
    for finding in ownership_audit.findings:
        yield f"  {finding.code}: {finding.text}"
        yield from list_places(finding.why)
        if shows_commits and finding.commits:
            yield f"      commit {', '.join(each[:12] for each in finding.commits)}"
        yield f"      {finding.help}"


def _render_lines(ownership_audit: OwnershipAudit, is_union: bool) -> Iterator[str]:
    files, workers = (
        format_count(len(ownership_audit.files), "changed file"),
        format_count(len(ownership_audit.workers), "worker"),
    )
    commits = format_count(sum(each.commits for each in ownership_audit.workers), "commit")
    done = f"{workers} together" if is_union else f"{commits} of {workers}"
    yield f"{ownership_audit.outcome.replace('_', ' ')}: {files}, {done}"
    yield from render_findings(ownership_audit, shows_commits=True)
    for each in ownership_audit.overlaps[:LISTED]:
        mine, theirs = f"{quote(each.path)} of {each.worker}", f"{quote(each.other_path)} of {each.other}"
        yield f"  overlap: {mine}, and {theirs}"
