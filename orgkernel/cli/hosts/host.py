"""`orgkernel host`: organizations in a host, and the one file that a host reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import starmap
from typing import Any, TypeVar

import click
import msgspec

from orgkernel import __version__
from orgkernel.cli.author.reports import print_errors
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.hosts.claude_code import activate_here, deactivate_here, show_status
from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel, with_options
from orgkernel.cli.output import echo_indented, echo_json, format_count
from orgkernel.cli.stores import store_option
from orgkernel.diagnostics.wording import printable
from orgkernel.errors import NothingToRead, UnknownOrganization, UsageError
from orgkernel.exchange.agent_zero.activation import FOLDER, ActivationReport, activate, deactivate
from orgkernel.exchange.agent_zero.compiling import compile_bundle, find_remarks, render_bundle
from orgkernel.exchange.agent_zero.host import CHOICES, ActivationSettings
from orgkernel.exchange.agent_zero.installer import install, uninstall
from orgkernel.exchange.agent_zero.specification import JsonObject
from orgkernel.exchange.agent_zero.status import HostStatus, is_same, read_status
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.loading.files import is_within
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.project.replacing import replace_file
from orgkernel.runtime.effect_counts import lines, read_effect
from orgkernel.runtime.progress import show_stage
from orgkernel.snapshots.snapshot import OrgSnapshot


@click.group("host", cls=CommandGroup, places={"signals": "hosts.signals"})
def command() -> None:
    """Activate or deactivate an organization in Agent-Zero or Claude Code, and show its status there."""


T = TypeVar("T")

_UNCLEAR = "the host is not clear"
_root_option = click.option(
    "--agent-zero", "root", metavar="ROOT", type=click.Path(exists=True, file_okay=False),
    help="Folder that Agent-Zero runs from.",
)  # fmt: skip


def _add_host_options(command: Any) -> Any:
    """The host: one of the two."""
    project = click.option(
        "--claude-code", "project", metavar="DIR", type=click.Path(exists=True, file_okay=False),
        help="Folder of a project of Claude Code.",
    )  # fmt: skip
    return _root_option(project(command))


def _is_claude_code(root: str | None, project: str | None) -> bool:
    if (root is None) == (project is None):
        raise UsageError(_UNCLEAR, "pass either `--agent-zero` or `--claude-code`")
    return project is not None


def _require_agent_zero(value: T | None, option: str) -> T:
    """The value of an option that only Agent-Zero has. Raises `UsageError` if it is missing."""
    if not value:
        raise UsageError(_UNCLEAR, f"pass `{option}`: Agent-Zero is the only host that needs this")
    return value


_SETTINGS = {
    "enforcement": "observe: change nothing; trim: show only the role's tools; enforce: also refuse other tools.",
    "on_error": "What happens to tool calls after an error of the extension: pass or refuse them.",
    "unlisted_tools": "With --agent-zero: what happens to tools that no catalog lists: warn about or refuse them.",
    "examples": "With --agent-zero: which examples of calls the prompt shows: those that show a new argument, all that differ, or the first for each tool and method.",
}


def _add_setting_option(name: str, words: str) -> Callable[[Any], Any]:
    """An option for a setting. The default is the current setting."""
    text = f"{words}  [default: the current setting, initially {ActivationSettings().as_json()[name]}]"
    return click.option(f"--{name.replace('_', '-')}", type=click.Choice(CHOICES[name]), help=text)


_FOR_CLAUDE_CODE = (
    click.option(
        "--main-role", metavar="ROLE",
        help="With --claude-code: the role of the main thread, or none.  [default: the current one, initially the only role without a superior]",
    ),
    click.option(
        "--unknown", type=click.Choice(("ask", "deny", "pass")),
        help="With --claude-code: what happens to tools that no catalog lists: ask a person, deny them, or let them pass.  [default: the "
        "current setting, initially ask]",
    ),
    click.option(
        "--if-missing", type=click.Choice(("refuse", "pass")),
        help="With --claude-code: what happens to calls on a machine without orgkernel.  [default: the current setting, initially refuse]",
    ),
    click.option(
        "--unnamed-agents", type=click.Choice(("refuse", "ask")),
        help="With --claude-code: what happens to listed tools for an agent without a role of the same name.  [default: the "
        "current setting, initially refuse]",
    ),
)  # fmt: skip


@command.command("activate")
@click.argument("org", metavar="ORG")
@_add_host_options
@with_options(*starmap(_add_setting_option, _SETTINGS.items()), *_FOR_CLAUDE_CODE)
@add_path_options
@store_option
@cache_option
def activate_command(
    org: str, root: str | None, project: str | None, paths: tuple[str, ...], store: str | None, no_cache: bool,
    **chosen: Any,
) -> None:  # fmt: skip
    """Activate ORG in a host.

    In Agent-Zero it writes the compiled organization, its role files, an agent profile for each role and, last,
    `active.json`. In Claude Code it writes the answers for each role and adds a hook to `.claude/settings.json`;
    stored records such as grants also apply. Other files are kept. Exits 1 with the findings if the organization
    has errors.
    """
    if _is_claude_code(root, project):
        for name, remedy in (("unlisted_tools", "pass `--unknown`"), ("examples", "leave it out")):
            if chosen.pop(name) is not None:
                raise UsageError(f"`--{name.replace('_', '-')}` is for Agent-Zero", remedy)
        activate_here(str(project), org, paths, store, chosen, no_cache=no_cache)
        return
    root = str(root)
    for name in ("main_role", "unknown", "if_missing", "unnamed_agents"):
        if chosen.pop(name) is not None:
            raise UsageError(f"`--{name.replace('_', '-')}` is for Claude Code", "leave it out")
    if store is not None:
        raise UsageError("`--store` is for Claude Code", "leave it out")
    kernel = _open(org, root, paths, no_cache=no_cache)
    compiled = _compile(kernel, org)
    snapshot = kernel.latest(org)
    report = activate(root, compiled, chosen, _find_source(kernel, snapshot))
    _note_remarks(compiled, snapshot)
    _tell(report)
    status = read_status(root)
    click.echo(f"{snapshot.org_id} is active with enforcement {status.enforcement}", err=True)
    if not status.on:
        click.echo(printable(f"note: the activation is off: {status.why}"), err=True)


@command.command("deactivate")
@_add_host_options
def deactivate_command(root: str | None, project: str | None) -> None:
    """Deactivate the organization of a host.

    This removes the files that activation wrote, and the hook that it added.
    """
    if _is_claude_code(root, project):
        deactivate_here(str(project))
        return
    report = deactivate(str(root))
    _tell(report)
    nothing = not report.removed and report.set_aside is None
    click.echo("no organization was active" if nothing else "deactivated", err=True)


@command.command("hook")
@click.argument("event", metavar="EVENT", type=click.Choice(("PreToolUse", "SubagentStop", "SessionStart")))
@click.argument("on_error", metavar="ON_ERROR", type=click.Choice(("refuse", "pass")))
def hook_command(event: str, on_error: str) -> None:
    """Answer an EVENT of Claude Code on standard input.

    The installed hook runs this where its own interpreter is missing. ON_ERROR is what happens to a call after an error: `refuse` or
    `pass`.
    """
    from orgkernel.project.hooks.claude_hook.answering import main

    raise click.exceptions.Exit(main([event, on_error]))


@command.command("status")
@_add_host_options
@format_option("text", "json")
@add_path_options
@cache_option
def status_command(
    root: str | None, project: str | None, form: str, paths: tuple[str, ...], no_cache: bool
) -> None:
    """Show whether an organization is active in a host, and why."""
    if _is_claude_code(root, project):
        show_status(str(project), form)
        return
    root = str(root)
    status = read_status(root)
    if status.organization is not None and status.digest is not None:
        behind = _is_behind(root, status, paths, no_cache=no_cache)
        status = msgspec.structs.replace(status, behind=behind)
    if form == "json":
        echo_indented(status, indent=1)
        return
    for name, value in (*_render_status(status), *_render_effect(status)):
        click.echo(printable(f"{f'{name}:' if name else '':<16}{value}"))


@command.command("install")
@_root_option
@click.option("--dry-run", is_flag=True, help="Print what would be done and change nothing.")
def install_command(root: str | None, dry_run: bool) -> None:
    """Install or upgrade the extension in a host. No organization is activated."""
    install(
        _require_agent_zero(root, "--agent-zero ROOT"),
        get_shipped_folder("extension"),
        _echo,
        dry_run=dry_run,
    )


@command.command("uninstall")
@_root_option
@click.option("--dry-run", is_flag=True, help="Print what would be done and change nothing.")
def uninstall_command(root: str | None, dry_run: bool) -> None:
    """Remove the extension from a host."""
    uninstall(_require_agent_zero(root, "--agent-zero ROOT"), _echo, dry_run=dry_run)


def _echo(line: str) -> None:
    click.echo(printable(line))


@command.command("compile", short_help="Compile an organization into one file for a host.")
@click.argument("org", metavar="[ORG]", default=ACTIVE)
@click.option("--agent-zero", is_flag=True, help="Compile for the Agent-Zero extension.")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE.  [default: stdout]")
@add_path_options
@cache_option
def compile_command(
    org: str, agent_zero: bool, output: str | None, paths: tuple[str, ...], no_cache: bool
) -> None:
    """Compile ORG into one file for a host: who takes which domain, and what each role may use.

    Exits 1 with the findings if the organization has errors.
    """
    _require_agent_zero(agent_zero, "--agent-zero")
    kernel = open_kernel(paths, org, no_cache=no_cache)
    compiled = _compile(kernel, org)
    _note_remarks(compiled, kernel.latest(org))
    text = render_bundle(compiled)
    if output is None:
        echo_json(text)
    else:
        replace_file(output, text.encode())
        click.echo(output)


def _compile(kernel: Kernel, org: str) -> JsonObject:
    """Compile an organization, or print its errors and exit."""
    snapshot = kernel.latest(org)
    if snapshot.has_errors:
        print_errors(snapshot.diagnostics, kernel.state.latest)
        raise click.exceptions.Exit(1)
    with show_stage(f"compiling {format_count(len(snapshot.records.posts), 'role')}"):
        return compile_bundle(snapshot.index, f"orgkernel {__version__}")


def _note_remarks(compiled: JsonObject, snapshot: OrgSnapshot) -> None:
    for remark in find_remarks(compiled, snapshot.index):
        click.echo(printable(f"note: {remark}"), err=True)


def _open(org: str, root: str, paths: tuple[str, ...], *, no_cache: bool) -> Kernel:
    """Open the documents to activate. Files in the host are results of an activation or installation, never the source."""
    here, host = os.path.realpath(os.getcwd()), os.path.realpath(root)
    inside = os.path.join(host, *FOLDER.split("/"))
    if not paths and here != host and not is_within(here, inside):
        kernel = open_kernel((), org, no_cache=no_cache)
        if not is_within(_find_file(kernel, kernel.latest(org)), inside):
            return kernel
    if not paths:
        click.echo(
            "note: files in the host are not used as source; using the templates (or pass `--path`)", err=True
        )
    return open_kernel(paths or (get_shipped_folder("templates"),), org, no_cache=no_cache)


def _find_file(kernel: Kernel, snapshot: OrgSnapshot) -> str:
    """The path of an organization's document."""
    return os.path.realpath(kernel.state.latest.tree.paths[snapshot.records.document.name])


def _find_source(kernel: Kernel, snapshot: OrgSnapshot) -> str | None:
    """The folder that the organization was read from. None for a template, which belongs to the package."""
    file = _find_file(kernel, snapshot)
    return (
        None if is_within(file, os.path.realpath(get_shipped_folder("templates"))) else os.path.dirname(file)
    )


def _is_behind(root: str, status: HostStatus, paths: tuple[str, ...], *, no_cache: bool) -> bool | None:
    """Whether the documents would compile to another bundle now. None if they are not available.

    Contents are compared instead of digests, because digests depend on file names relative to the current folder.
    """
    org = str(status.organization)
    read = paths or (status.source or get_shipped_folder("templates"),)
    try:
        snapshot = open_kernel(read, org, no_cache=no_cache).latest(org)
    except (NothingToRead, UnknownOrganization):
        return None
    if snapshot.has_errors:
        return True
    return not is_same(root, status, compile_bundle(snapshot.index, ""))


def _render_status(status: HostStatus) -> list[tuple[str, str]]:
    """The status for people, without unknown values."""
    behind = {
        None: "",
        True: " (outdated: the documents have changed; activate again)",
        False: " (up to date)",
    }[status.behind]
    error = (
        f"{status.last_error}{f' (since {status.since})' if status.since else ''}"
        if status.last_error
        else None
    )
    loaded = status.loaded if status.loaded != status.digest else None
    shown = {
        "activation": f"{'on' if status.on else 'off'}: {status.why}",
        "organization": status.organization,
        "bundle": f"{status.bundle}{behind}" if status.bundle else None,
        "digest": status.digest,
        "loaded": f"{loaded}, another version" if loaded and status.on else None,
        "enforcement": status.enforcement,
        "on error": status.on_error,
        "unlisted tools": status.unlisted_tools,
        "examples": status.examples,
        "bad settings": "; ".join(status.slips) or None,
        "extension": f"{status.installed}, {format_count(len(status.shims), 'hook file')}"
        if status.installed
        else "not installed",
        "host": status.generation,
        "last error": error,
        "foreign files": ", ".join(status.kept) or None,
    }
    return [(name, value) for name, value in shown.items() if value]


def _render_effect(status: HostStatus) -> list[tuple[str, str]]:
    """The effect of the organization on the host, one fact per line."""
    if status.effect_problem:
        return [("effect", status.effect_problem)]
    if status.effect is None:
        return []
    effect = read_effect(status.effect)
    first, *rest = lines(effect) or [""]
    return (
        [("effect", f"{first} (since {effect.since[:10]})"), *(("", line) for line in rest)] if first else []
    )


def _tell(report: ActivationReport) -> None:
    """Print changed files to stdout, and notes about kept files to stderr."""
    for path in report.written or report.removed:
        click.echo(printable(path))
    for path in report.kept:
        click.echo(
            printable(f"note: {path} was not written by orgkernel or was changed later, and is kept"),
            err=True,
        )
    if report.set_aside is not None:
        name = os.path.basename(report.set_aside)
        click.echo(f"note: active.json was written or changed by hand; it was renamed to {name}", err=True)
