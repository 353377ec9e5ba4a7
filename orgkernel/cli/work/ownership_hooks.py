"""`orgkernel ownership install-hooks`, and the hooks themselves: a worker can commit, push and write only its own
files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click
from msgspec.structs import replace

from orgkernel.cli.output import join_lines
from orgkernel.cli.work.ownership_audit import find_sacred_files, open_governed, render_findings
from orgkernel.cli.work.ownership_workers import WAY_OUT, find_workers_here, list_named_briefs
from orgkernel.cli.work.ownership_writes import answer_tool_call
from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles
from orgkernel.decisions.ownership.held import is_held
from orgkernel.decisions.ownership.owners import AuditedWorker
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import OrgkernelError, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.project.git.added_secrets import AddedSecret, find_pushed_secrets, find_staged_secrets
from orgkernel.project.git.pending import find_pushed_base, read_staged
from orgkernel.project.git.process import run_git
from orgkernel.project.git.range import GitRange, find_changed_rules, list_authors, read_range
from orgkernel.project.hooks.claude_settings import (
    build_ownership_hook,
    install_claude_hook,
    uninstall_claude_hook,
)
from orgkernel.project.hooks.git_hooks import (
    find_hook_notes,
    find_hooks_folder,
    install_hooks,
    uninstall_hooks,
)


@click.command("install-hooks")
@click.argument("folder", metavar="DIR", default=".")
@click.option("--uninstall", is_flag=True, help="Remove the hooks, and restore the previous ones.")
@click.option(
    "--claude-code",
    is_flag=True,
    help="Instead of the git hooks, the Claude Code hook in DIR/.claude/settings.json.",
)
def install(folder: str, uninstall: bool, claude_code: bool) -> None:
    """Install hooks that refuse files the worker does not own.

    The git hooks in the repository of DIR refuse commits and pushes. Existing hooks are kept, and run first. The
    brief of a work tree is in `.orgkernel/brief.yaml`, or ORGKERNEL_BRIEF names it.

    The scripts of husky get a block, because husky makes its own folder anew. A submodule has hooks of its own.

    With `--claude-code`, the command installs the hook that Claude Code runs before it writes a file or runs a
    command.
    """
    if claude_code:
        ours = build_ownership_hook()
        settings = (
            uninstall_claude_hook(folder, ours.script) if uninstall else install_claude_hook(folder, ours)
        )
        changed: tuple[str, ...] = () if settings is None else (settings,)
    else:
        place = find_hooks_folder(folder)
        changed = uninstall_hooks(place) if uninstall else install_hooks(place)
    for path in changed:
        click.echo(printable(f"{'removed the hook:' if uninstall else 'installed'} {path}"))
    if not claude_code and not uninstall:
        for note in find_hook_notes(folder):
            click.echo(printable(f"note: {note}"), err=True)
    if not changed:
        click.echo("no orgkernel hooks are installed" if uninstall else "the hooks are already installed")


@click.command("hook")
@click.argument("name", type=click.Choice(["pre-commit", "pre-push", "claude-code"]))
@click.argument("arguments", nargs=-1, metavar="[ARG...]")
@click.pass_context
def hook(ctx: click.Context, name: str, arguments: tuple[str, ...]) -> None:
    """Run the check of an installed hook. If it cannot decide, it refuses and explains how to continue.

    Exit codes: 0 passed, 1 refused. The hook of Claude Code answers on stdout instead.
    """
    if name == "claude-code":
        answer_tool_call()
        return
    try:
        pushes = [] if name == "pre-commit" else _list_pushes(arguments)
        if secrets := find_staged_secrets() if name == "pre-commit" else _find_pushed_secrets(pushes):
            click.echo(f"orgkernel: {name}: this is not allowed", err=True)
            click.echo(join_lines(_render_secrets(secrets)), err=True, nl=False)
            ctx.exit(1)
        refused = _audit_commit() if name == "pre-commit" else _audit_push(pushes)
    except OrgkernelError as error:
        click.echo(
            printable(f"orgkernel: {name}: cannot decide whether this is allowed: {error.message}"),
            err=True,
        )
        click.echo(printable(f"    {error.help or WAY_OUT}"), err=True)
        ctx.exit(1)
    for each in refused:
        click.echo(f"orgkernel: {name}: this is not allowed", err=True)
        click.echo(join_lines(render_findings(each)), err=True, nl=False)
    ctx.exit(1 if refused else 0)


def _audit_commit() -> list[OwnershipAudit]:
    changed = read_staged()
    if not changed.files:
        return []
    if not _is_held([_find_author()]):
        return []
    own, others, _ = find_workers_here()
    if len(own) > 1:
        raise UsageError(
            "ORGKERNEL_BRIEF names several briefs, so the committing worker is unknown", "name one brief"
        )
    # The commit belongs to the only worker; the others are workers with current claims.
    commit = changed.commits[0]
    by = replace(commit, briefs=((own[0].brief.id or "").lower(),))
    return _list_refused_audits(replace(changed, commits=(by,)), [*own, *others])


class _Push(NamedTuple):
    """Commits that are new to a remote: those after `base` up to `head`."""

    base: str
    head: str


def _list_pushes(arguments: tuple[str, ...]) -> list[_Push]:
    """What git pushes, as it says on standard input."""
    remote_name = arguments[0] if arguments else ""
    pushes: list[_Push] = []
    for line in _read_pushes():
        if not line:
            continue
        words = line.split(" ")
        if len(words) != 4:
            raise UsageError(f"git described a push as {quote(line)}, which cannot be parsed")
        _, local, _, remote = words
        if not local.strip("0"):
            continue
        base = find_pushed_base(local, remote, remote_name)
        if base is not None:
            pushes.append(_Push(base, local))
    return pushes


def _find_pushed_secrets(pushes: list[_Push]) -> list[AddedSecret]:
    return [secret for each in pushes for secret in find_pushed_secrets(each.base, each.head)]


def _audit_push(pushes: list[_Push]) -> list[OwnershipAudit]:
    refused: list[OwnershipAudit] = []
    for each in pushes:
        if not _is_held(list_authors(".", each.base, each.head).values()):
            continue
        own = find_workers_here().own
        git_range = read_range(".", each.base, each.head)
        refused += _list_refused_audits(git_range.changed, own, git_range)
    return refused


def _read_pushes() -> list[str]:
    """The lines with which git describes a push. The pre-commit framework passes the two commits as variables instead."""
    first, last = (os.environ.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO"))
    if first and last:
        return [f"- {last} - {first}"]
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape").splitlines()


def _is_held(authors: Iterable[str]) -> bool:
    """Whether a commit or a push is held to a brief: always with a brief or claims here, else as the organization says."""
    if list_named_briefs() or os.environ.get("ORGKERNEL_HOLDER"):
        return True
    kernel = open_governed(ACTIVE, (), no_cache=False)
    return is_held(None if kernel is None else kernel.commit_rules(ACTIVE), os.environ, authors)


def _find_author() -> str:
    """The email address of the author of the next commit."""
    named = os.environ.get("GIT_AUTHOR_EMAIL")
    return named or run_git(".", "config", "user.email", as_user=True).stdout.decode(errors="replace").strip()


def _list_refused_audits(
    changed: ChangedFiles, workers: list[AuditedWorker], pushed: GitRange | None = None
) -> list[OwnershipAudit]:
    folder, kernel = os.getcwd(), open_governed(ACTIVE, (), no_cache=False)
    documents = [] if kernel is None else kernel.sacred_documents(ACTIVE)
    rules = [] if pushed is None else find_changed_rules(pushed, documents)
    answer = audit_changes(
        changed, workers, sacred=find_sacred_files(kernel, ACTIVE, folder, rules), root=folder
    )
    return [] if answer.outcome == "clean" else [answer]


def _render_secrets(secrets: Iterable[AddedSecret]) -> Iterator[str]:
    for secret in secrets:
        yield f"  SECRET_IN_PAYLOAD: {secret.place} has {quote(secret.shown)}, which looks like {secret.what}"
        yield "      revoke it if it is real, and read it at run time from the environment or a vault, by its name"
