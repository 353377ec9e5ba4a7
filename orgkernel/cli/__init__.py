"""The command line: data on stdout, messages on stderr. Each command is imported only when it is called."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from typing import TYPE_CHECKING

import click

from orgkernel.cli.groups import TopGroup
from orgkernel.cli.progress import show_progress
from orgkernel.cli.repeated_secrets import without_secrets
from orgkernel.diagnostics.wording import printable
from orgkernel.errors import OrgkernelError

if TYPE_CHECKING:
    from orgkernel.loading.cache import Cache


class Caches:
    """The state of one run of a command: the caches that it has opened, and the format in which it reads paths."""

    def __init__(self, *, is_distrusted: bool = False) -> None:
        self.opened: list[Cache] = []
        self.read_as: str | None = None
        """The format that `--from` names."""
        self.is_distrusted = is_distrusted
        """Whether the command runs again without caches, because one was invalid."""


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from orgkernel import __version__

        click.echo(f"orgkernel {__version__}")
        ctx.exit()


@click.group(cls=TopGroup, context_settings={"help_option_names": ["-h", "--help"]})
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
    # Collecting cycles at the end is not worth the time either.
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
    show_progress()
    try:
        sys.exit(_run())
    except click.exceptions.Abort:
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        from orgkernel.cli.usage_errors import describe_usage_error

        message, help = describe_usage_error(error)
        _say(f"error: {message}", help)
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
