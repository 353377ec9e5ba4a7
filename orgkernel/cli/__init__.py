"""The command line: data on stdout, messages on stderr. Each command is imported only when it is called."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from orgkernel.cli.repeated_secrets import without_secrets
from orgkernel.diagnostics.wording import did_you_mean, printable, quote
from orgkernel.errors import OrgkernelError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from orgkernel.loading.cache import Cache

# Each command and its summary in `orgkernel --help`.
_COMMANDS = {
    "new": "Create an organization, or add a role, a tool or a domain.",
    "check": "Check documents and organizations.",
    "rule": "Explain a rule, or list all rules.",
    "schema": "Print the JSON Schema of a kind of document.",
    "dispatch": "Find the role that takes a task, and explain why.",
    "dispatch-check": "Check whether a role or layer may dispatch another.",
    "dispatches": "Dispatch: claim the files of a brief, and log it.",
    "manifest": "Show everything that a role, an agent or the crew can do.",
    "crew": "List agents by skill, rank, tool, watch and more.",
    "can": "Check whether a subject may do an action.",
    "why": "Explain an access decision layer by layer.",
    "who-can": "List the subjects that may do an action.",
    "what-can": "List what a subject may do.",
    "bill": "Show procedures of several roles, and what comes next.",
    "handle": "Find out how a subject handles an intent.",
    "skills": "List and show cognitive skills (SKILL.md).",
    "orders": "Show the standing orders of a role.",
    "pace": "Show the PACE tier of a role, and what it must do.",
    "graph": "Draw the org chart.",
    "diff": "Show what each role gained and lost between two trees.",
    "upgrade": "Upgrade older documents in place.",
    "import": "Write agents of others as documents of ours.",
    "mcp-tools": "Ask MCP servers which tools they have, and save it.",
    "export": "Export an organization to the format of another tool.",
    "compile": "Compile an organization into one file for a host.",
    "org": "Activate or deactivate an organization in a host.",
    "command": "Find destructive operations in a shell command.",
    "contract": "Check and store briefs, results and other contracts.",
    "decisions": "Add to the decision log, and show it.",
    "batch": "Batch the subtasks of a mission, and say what may start.",
    "signals": "Show how the layers of an agent coordinate.",
    "test": "Run the decision cases of an organization.",
    "serve": "Serve the HTTP API.",
    "mcp": "Serve an agent over MCP: who it is, what it may do, and why.",
    "gateway": "Pass tools of MCP servers on, and decide every call.",
    "demo": "Play a scenario on real servers, step by step.",
    "doctor": "Find what is wrong with this installation.",
    "agent": "List and manage agents.",
    "grant": "Grant and revoke permissions.",
    "restriction": "Restrict permissions, and lift restrictions.",
    "request": "Request permissions, and approve or refuse requests.",
    "key": "Create and revoke keys for the HTTP API.",
    "card-key": "Make and rotate the key that signs agent cards.",
    "lock": "List and release locks of exclusive tools.",
    "scope": "Claim files, and show who works on which.",
    "salute": "Show, follow and collect SALUTE reports of roles.",
    "audit": "Search the audit log, and verify it.",
    "store": "Show, upgrade and back up the store.",
}
# Where a command is. The others are called `command`, in a module of their own name.
_PLACES = {
    "rule": "reference:rule",
    "schema": "reference:schema",
    "command": "shell_command:command",
    "can": "access:can",
    "card-key": "card_key:command",
    "why": "access:why",
    "who-can": "access:who_can",
    "what-can": "access:what_can",
    "dispatch-check": "dispatch_check:command",
    "graph": "manifest:graph",
    "import": "importing:command",
    "compile": "org:compile_command",
    "mcp-tools": "mcp_tools:command",
    "grant": "permissions:grant",
    "restriction": "permissions:restriction",
    "request": "permissions:request",
    "audit": "upkeep:audit_command",
    "store": "upkeep:store_command",
}


class Caches:
    """The caches that a command has opened; if they are distrusted, it opens none. And the format it reads paths in."""

    def __init__(self, *, is_distrusted: bool = False) -> None:
        self.opened: list[Cache] = []
        self.read_as: str | None = None
        """The format that `--from` names."""
        self.is_distrusted = is_distrusted


class _LazyGroup(click.Group):
    """Commands by name. Each one is imported only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _PLACES.get(cmd_name, f"{cmd_name}:command").partition(":")
        command: click.Command = getattr(import_module(f"orgkernel.cli.{module}"), name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # only for completion

        named = [
            CompletionItem(each, help=_COMMANDS[each]) for each in _COMMANDS if each.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], _COMMANDS) or "list all commands with `orgkernel --help`"
            raise UsageError(f"there is no command {quote(args[0])}", hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from orgkernel import __version__

        click.echo(f"orgkernel {__version__}")
        ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Print the version.",
)
def cli() -> None:
    """Check and query an organization of AI agents that is declared as YAML."""


def main() -> None:
    """Entry point. Exit codes: 0 success, 1 findings or failed cases, 2 cannot run."""
    # A command allocates much and frees little before it ends: garbage collection would cost a tenth of its time.
    gc.disable()
    # Nor is it worth looking for circles in what is left at the end.
    atexit.register(gc.freeze)
    try:
        _main()
    finally:
        gc.enable()


def _main() -> None:
    sys.stdout = without_secrets(sys.stdout, sys.argv[1:])
    sys.stderr = without_secrets(sys.stderr, sys.argv[1:])
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        # A file name may be invalid text, and a terminal may not use UTF-8.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(_run())
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except OrgkernelError as error:
        _say(f"error: {error.message}", error.help)
        sys.exit(2)
    except SystemExit:
        # click replaces it with a silent stream when the reader closes the pipe.
        if sys.stdout is not stdout:
            sys.exit(141)  # not 1, which means findings
        raise
    except OSError as error:
        _say(f"error: {error.strerror or error}", "")
        _drop_output()
        sys.exit(2)
    except Exception as error:
        # A bug is not a finding: exit code 1 would tell CI that the documents are wrong.
        if os.environ.get("ORGKERNEL_DEBUG"):
            raise
        _say(
            f"internal error: {type(error).__name__}: {error}",
            "this is a bug in orgkernel; set ORGKERNEL_DEBUG=1 to see the traceback, and report it",
        )
        sys.exit(2)


def _run() -> int:
    """The exit code of the command. If the cache turns out to be invalid, the command runs again without it."""
    caches = Caches()
    try:
        return cli(standalone_mode=False, obj=caches) or 0
    except (click.exceptions.Exit, click.exceptions.Abort, click.ClickException, OrgkernelError, OSError):
        raise
    except Exception:
        used = [cache.folder for cache in caches.opened if cache.distrust()]
        if not used:
            raise
        _say(f"note: the cache {used[0]} is invalid and was ignored", "")
        return cli(standalone_mode=False, obj=Caches(is_distrusted=True)) or 0


def _say(message: str, help: str) -> None:
    click.echo(printable(message), err=True)
    if help:
        click.echo(f"help: {printable(help)}", err=True)


def _drop_output() -> None:
    """Drop unwritten output: Python would try again at exit, for example on a full disk, and change the exit code."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
