"""The command line: data on stdout, talk on stderr; every command is imported only when it is called."""

from __future__ import annotations

import gc
import io
import os
import sys
from importlib import import_module

import click

from orgkernel.diagnostics.wording import printable
from orgkernel.errors import OrgkernelError

# Command to module and what `orgkernel --help` says about it.
_COMMANDS = {
    "new": "Copy a template to edit, or add a role.",
    "check": "Check documents and organizations.",
    "rule": "Explain a rule, or list all.",
    "schema": "Print the JSON Schema of a kind of document.",
    "dispatch": "Say which role takes a domain, and why.",
    "manifest": "Say what a role, or the whole crew, can do, and why.",
    "can": "Say whether somebody may do something.",
    "why": "Say why, layer by layer, with the lines.",
    "who-can": "List who may do something.",
    "what-can": "List what somebody may do.",
    "pace": "Say which PACE tier a role is in, and what it must do.",
    "graph": "Draw the org chart.",
    "diff": "Say what each role gained and lost between two trees.",
    "upgrade": "Rewrite older documents in place.",
    "export": "Write an organization in the format of another tool.",
    "compile": "Write an organization as one file that a host reads.",
    "org": "Switch an organization on and off in a host.",
    "signals": "Say how layers in one agent keep out of each other's way.",
    "test": "Run decision cases.",
    "serve": "Answer over HTTP.",
    "agent": "Say which agents there are, and how they stand.",
    "grant": "Give permissions, and take them back.",
    "restriction": "Leave somebody less, and lift that again.",
    "request": "Ask for a permission, and answer.",
    "key": "Make and revoke keys of the HTTP API.",
    "lock": "Say who holds which exclusive tool.",
    "salute": "Show, follow and collect the reports of roles.",
    "audit": "Ask what was decided and done; prove it is whole.",
    "store": "Upgrade, back up and describe the store.",
}


class _LazyGroup(click.Group):
    """Commands by name; importing one costs only what it needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"orgkernel.cli.{cmd_name.replace('-', '_')}").command
        return command

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
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Print it."
)
def cli() -> None:
    """An organization of AI agents, declared as code: who takes this, what can this role do, and why."""


def main() -> None:
    """Entry point; exit codes: 0 fine, 1 findings or failed cases, 2 cannot run."""
    _forget_caches()
    # A command makes much and drops little before it ends: looking for garbage would cost a tenth of its time.
    gc.disable()
    try:
        _main()
    finally:
        gc.enable()


def _main() -> None:
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a file's name need not be text, nor a terminal speak UTF-8
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
        if sys.stdout is not stdout:  # click put a silent one there, because nobody reads on
            sys.exit(141)  # and not 1, which would mean findings
        raise
    except OSError as error:
        _say(f"error: {error.strerror or error}", "")
        _drop_output()
        sys.exit(2)
    except Exception as error:
        # A bug of ours is not a finding: 1 would tell CI that the documents are at fault.
        if os.environ.get("ORGKERNEL_DEBUG"):
            raise
        _say(
            f"internal error: {type(error).__name__}: {error}",
            "this is a bug; set ORGKERNEL_DEBUG=1 to see where it is",
        )
        sys.exit(2)


def _run() -> int:
    """The exit code of the command, run again without the cache when what it held turned out to be none of ours."""
    try:
        return cli(standalone_mode=False) or 0
    except (click.exceptions.Exit, click.exceptions.Abort, click.ClickException, OrgkernelError, OSError):
        raise
    except Exception:
        if not _distrust_caches():
            raise
        return cli(standalone_mode=False) or 0


def _forget_caches() -> None:
    if opening := sys.modules.get("orgkernel.cli.opening"):
        opening.CACHES.opened.clear()
        opening.CACHES.distrusted = False


def _distrust_caches() -> bool:
    opening = sys.modules.get("orgkernel.cli.opening")
    opened = list(opening.CACHES.opened) if opening else []
    used = [cache.folder for cache in opened if cache.distrust()]
    if opening is None or not used or opening.CACHES.distrusted:
        return False
    opening.CACHES.distrusted = True
    _say(f"note: the cache {used[0]} held something that cannot be used; it is not used", "")
    return True


def _say(message: str, help: str) -> None:
    click.echo(printable(message), err=True)
    if help:
        click.echo(f"help: {printable(help)}", err=True)


def _drop_output() -> None:
    """What could not be written, to a full disk perhaps, would be tried again on the way out and change the exit code."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
