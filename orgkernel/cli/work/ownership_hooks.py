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
from orgkernel.cli.work.contract_files import read_brief
from orgkernel.cli.work.ownership_audit import find_sacred_files, open_governed, render_findings
from orgkernel.cli.work.ownership_rules import build_write_rules, store_commit_rules, store_rules
from orgkernel.cli.work.ownership_workers import BRIEF_FILE, WAY_OUT, find_workers_here, list_named_briefs
from orgkernel.cli.work.ownership_writes import answer_tool_call
from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.held import is_held
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.documents.records import CommitRules
from orgkernel.errors import OrgkernelError, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.project.git.added_secrets import find_pushed_secrets, find_staged_secrets
from orgkernel.project.git.patches import AddedSecret, find_in_text
from orgkernel.project.git.pending import (
    find_pushed_base,
    find_superproject,
    list_message_briefs,
    move_changes,
    read_staged,
)
from orgkernel.project.git.process import run_git
from orgkernel.project.git.range import find_changed_rules, list_authors, read_range
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
from orgkernel.project.hooks.messages import cut_message


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

    In a repository with husky, a block is added to the scripts of husky, because husky recreates the folder of
    hooks. A submodule has separate hooks.

    With `--claude-code`, the command installs the hook that Claude Code runs before it writes a file or runs a
    command.
    """
    if claude_code:
        ownership_hook = build_ownership_hook()
        settings = (
            uninstall_claude_hook(folder, ownership_hook.script)
            if uninstall
            else install_claude_hook(folder, ownership_hook)
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
@click.argument("name", type=click.Choice(["pre-commit", "commit-msg", "pre-push", "claude-code"]))
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
        refusals = _list_refusals(name, arguments)
    except OrgkernelError as error:
        click.echo(
            printable(f"orgkernel: {name}: cannot decide whether this is allowed: {error.message}"),
            err=True,
        )
        click.echo(printable(f"    {error.help or WAY_OUT}"), err=True)
        ctx.exit(1)
    if refusals:
        click.echo(f"orgkernel: {name}: this is not allowed", err=True)
        click.echo(join_lines(refusals), err=True, nl=False)
        ctx.exit(1)


def _list_refusals(name: str, arguments: tuple[str, ...]) -> list[str]:
    """The lines that explain why a hook of git refuses."""
    if name == "commit-msg":
        return _check_message(arguments)
    pushes = [] if name == "pre-commit" else _list_pushes(arguments)
    if secrets := find_staged_secrets() if name == "pre-commit" else _find_pushed_secrets(pushes):
        return [*_render_secrets(secrets)]
    refused = _audit_commit() if name == "pre-commit" else _audit_push(pushes)
    return [line for each in refused for line in render_findings(each)]


def _check_message(arguments: tuple[str, ...]) -> list[str]:
    """The refusals of the message in a file: secrets, and the brief of another worker."""
    if len(arguments) != 1:
        raise UsageError("git passes the file of the message", "run the hook as git does")
    with open(arguments[0], encoding="utf-8", errors="replace") as file:
        message = cut_message(file.read())
    secrets = [
        AddedSecret(f"line {number + 1} of the message", what, shown)
        for number, what, shown in find_in_text(message)
    ]
    named = dict.fromkeys(list_message_briefs(message))
    own = {(read_brief(each).id or "").lower() for each in list_named_briefs() if named}
    foreign = [each for each in named if own and each not in own]
    return [
        *_render_secrets(secrets),
        *(
            line
            for each in foreign
            for line in (
                f"  COMMIT_UNATTRIBUTED: the message names brief {quote(each)}, which is not the one of this worker",
                "      name the own brief, or leave the line out",
            )
        ),
    ]


def _audit_commit() -> list[OwnershipAudit]:
    changed = read_staged()
    if not changed.files:
        return []
    if (place := _enter_superproject()) is not None:
        changed = move_changes(changed, place)
    root, kernel = os.getcwd(), open_governed(ACTIVE, (), no_cache=False)
    people = None if kernel is None else kernel.commit_rules(ACTIVE)
    if not _must_follow_brief(people, [_find_author()]):
        if kernel is not None and people is not None:
            store_commit_rules(people, kernel, root)
        return []
    own, others, until = find_workers_here()
    if len(own) > 1:
        raise UsageError(
            "ORGKERNEL_BRIEF names several briefs, so the committing worker is unknown", "name one brief"
        )
    rules = build_write_rules((own[0], *others), kernel, root)
    store_rules(rules, kernel, root, until)
    # The commit belongs to the only worker; the others are workers with current claims.
    commit = changed.commits[0]
    by = replace(commit, briefs=((own[0].brief.id or "").lower(),))
    audit = audit_changes(replace(changed, commits=(by,)), rules.workers, sacred=rules.sacred, root=root)
    return [] if audit.outcome == "clean" else [audit]


class _Push(NamedTuple):
    """Commits that are new to a remote: those after `base` up to `head`."""

    base: str
    head: str


def _list_pushes(arguments: tuple[str, ...]) -> list[_Push]:
    """The pushed commits that git describes on standard input."""
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
    repository, place = os.getcwd(), _enter_superproject() if pushes else None
    kernel = open_governed(ACTIVE, (), no_cache=False) if pushes else None
    people = None if kernel is None else kernel.commit_rules(ACTIVE)
    documents = [] if kernel is None else kernel.sacred_documents(ACTIVE)
    for each in pushes:
        authors = list_authors(repository, each.base, each.head).values()
        if not _must_follow_brief(people, authors):
            continue
        own, folder = find_workers_here().own, os.getcwd()
        git_range = read_range(repository, each.base, each.head)
        changed = git_range.changed if place is None else move_changes(git_range.changed, place)
        sacred = find_sacred_files(kernel, ACTIVE, folder, find_changed_rules(git_range, documents))
        answer = audit_changes(changed, own, sacred=sacred, root=folder)
        refused += [] if answer.outcome == "clean" else [answer]
    return refused


def _read_pushes() -> list[str]:
    """The lines with which git describes a push. The pre-commit framework passes the two commits as variables instead."""
    first, last = (os.environ.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO"))
    if first and last:
        return [f"- {last} - {first}"]
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape").splitlines()


def _enter_superproject() -> str | None:
    """Go to the project that contains this one as a submodule, because its worker works here too. Returns the path of the submodule.

    A submodule with a brief of its own stays on its own.
    """
    if os.path.isfile(BRIEF_FILE) and not os.environ.get("ORGKERNEL_BRIEF"):
        return None
    superproject = find_superproject()
    if superproject is None:
        return None
    folder, place = superproject
    os.chdir(folder)
    return place


def _must_follow_brief(people: CommitRules | None, authors: Iterable[str]) -> bool:
    """Whether a commit or push must follow a brief: always if there is a brief or a claim here, else as the
    organization declares.
    """
    if list_named_briefs() or os.environ.get("ORGKERNEL_HOLDER"):
        return True
    return is_held(people, os.environ, authors)


def _find_author() -> str:
    """The email address of the author of the next commit."""
    named = os.environ.get("GIT_AUTHOR_EMAIL")
    return named or run_git(".", "config", "user.email", as_user=True).stdout.decode(errors="replace").strip()


def _render_secrets(secrets: Iterable[AddedSecret]) -> Iterator[str]:
    for secret in secrets:
        yield f"  SECRET_IN_PAYLOAD: {secret.place} has {quote(secret.shown)}, which looks like {secret.what}"
        yield "      revoke it if it is real, and read it at run time from the environment or a vault, by its name"
