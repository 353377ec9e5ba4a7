"""`orgkernel scope install-hooks` and what the hooks run: nobody commits, pushes or writes the files of somebody else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click
from msgspec.structs import replace

from orgkernel.cli.contract_files import read_contract_file
from orgkernel.cli.output import as_text, places
from orgkernel.cli.scope_audit import read_sacred
from orgkernel.cli.stores import is_there, opened
from orgkernel.decisions.contracts.reading import expect_sound
from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles
from orgkernel.decisions.ownership.claims import FileClaim
from orgkernel.decisions.ownership.owners import AuditedWorker, claimed_work
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import OrgkernelError, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.operations.claims import list_claims
from orgkernel.project.git_hooks import find_hooks_folder, install_hooks, uninstall_hooks
from orgkernel.project.git_range import find_pushed_base, read_range, read_staged
from orgkernel.records.brief import Brief

BRIEF_FILE = os.path.join(".orgkernel", "brief.yaml")


@click.command("install-hooks")
@click.argument("folder", metavar="DIR", default=".")
@click.option("--uninstall", is_flag=True, help="Take the hooks out, and put back what was there before.")
def install(folder: str, uninstall: bool) -> None:
    """Install git hooks in the repository of DIR that refuse commits and pushes of files which the worker does not own.

    Hooks that are there are kept and run first. The brief of a work tree lies in `.orgkernel/brief.yaml`, or ORGKERNEL_BRIEF
    names it.
    """
    place = find_hooks_folder(folder)
    changed = uninstall_hooks(place) if uninstall else install_hooks(place)
    for path in changed:
        click.echo(printable(f"{'took out' if uninstall else 'installed'} {path}"))
    if not changed:
        click.echo("there are no hooks of ours" if uninstall else "the hooks are installed already")


@click.command("hook")
@click.argument("name", type=click.Choice(["pre-commit", "pre-push"]))
@click.argument("arguments", nargs=-1, metavar="[ARG...]")
@click.pass_context
def hook(ctx: click.Context, name: str, arguments: tuple[str, ...]) -> None:
    """Run what an installed hook runs. It refuses what it cannot decide, and says how to go on.

    Exit codes: 0 passed, 1 refused.
    """
    try:
        refused = _refused_commit() if name == "pre-commit" else _refused_push(arguments)
    except OrgkernelError as error:
        click.echo(
            printable(f"orgkernel: {name}: it cannot be told whether this is allowed: {error.message}"),
            err=True,
        )
        click.echo(printable(f"    {error.help or _WAY_OUT}"), err=True)
        ctx.exit(1)
    for each in refused:
        click.echo(f"orgkernel: {name}: this is not allowed", err=True)
        click.echo(as_text(_lines(each)), err=True, nl=False)
    ctx.exit(1 if refused else 0)


def _refused_commit() -> list[OwnershipAudit]:
    changed = read_staged()
    if not changed.files:
        return []
    own, others = _workers_here()
    if len(own) > 1:
        raise UsageError(
            "ORGKERNEL_BRIEF names several briefs, so it cannot be told who commits", "name one brief"
        )
    # The commit is that of the only worker; the others are those whose claims hold.
    commit = changed.commits[0]
    by = replace(commit, briefs=((own[0].brief.id or "").lower(),))
    return _refused(replace(changed, commits=(by,)), [*own, *others])


def _refused_push(arguments: tuple[str, ...]) -> list[OwnershipAudit]:
    remote_name = arguments[0] if arguments else ""
    refused: list[OwnershipAudit] = []
    for line in sys.stdin.buffer.read().decode("utf-8", "surrogateescape").splitlines():
        words = line.split(" ")
        if len(words) != 4:
            raise UsageError(f"git says {quote(line)} of a push, which cannot be understood")
        _, local, _, remote = words
        if not local.strip("0"):
            continue
        base = find_pushed_base(local, remote, remote_name)
        if base is not None:
            own, _ = _workers_here()
            refused += _refused(read_range(".", base, local).changed, own)
    return refused


def _refused(changed: ChangedFiles, workers: list[AuditedWorker]) -> list[OwnershipAudit]:
    folder = os.getcwd()
    answer = audit_changes(
        changed, workers, sacred=read_sacred(ACTIVE, (), folder, no_cache=False, is_quiet=True), root=folder
    )
    return [] if answer.outcome == "clean" else [answer]


def _workers_here() -> tuple[list[AuditedWorker], list[AuditedWorker]]:
    """Who works in this work tree, by brief or by claims, and whose claims hold besides."""
    named = os.environ.get("ORGKERNEL_BRIEF", "")
    files = [each for each in named.split(os.pathsep) if each] or [BRIEF_FILE] * os.path.isfile(BRIEF_FILE)
    own = [AuditedWorker(each, expect_sound(read_contract_file(each), Brief)) for each in files]
    holder, session = os.environ.get("ORGKERNEL_HOLDER"), os.environ.get("ORGKERNEL_SESSION")
    claims: tuple[FileClaim, ...] = ()
    if is_there(None):
        with opened(None) as store:
            claims = list_claims(store)
    mine = [each for each in claims if holder and each.holder == holder and session in (None, each.session)]
    if not own and mine:
        own = [claimed_work(holder or "", mine)]
    if not own:
        raise UsageError("there is neither a brief nor a live claim of whoever works here", _WAY_OUT)
    others = [
        claimed_work(f"{each.holder} (claim {each.token} of {each.org_id})", [each])
        for each in claims
        if each not in mine
    ]
    return own, others


_WAY_OUT = (
    f"put the brief into {BRIEF_FILE}, or name it in ORGKERNEL_BRIEF; whoever holds claims names themselves in ORGKERNEL_HOLDER; "
    "where nobody works by briefs, run `orgkernel scope install-hooks --uninstall`"
)


def _lines(found: OwnershipAudit) -> Iterator[str]:
    for finding in found.findings:
        yield f"  {finding.code}: {finding.text}"
        yield from places(finding.why)
        yield f"      {finding.help}"
