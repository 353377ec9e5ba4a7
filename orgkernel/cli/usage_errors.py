"""Print errors of the option parser in the same form as all other errors: `error: …`, then `help: …`."""

from __future__ import annotations

import re

import click

_QUOTED = re.compile(r"'([^'\s]*)'")


def describe_usage_error(error: click.ClickException) -> tuple[str, str]:
    """The message and the help for a command line that cannot be parsed.

    >>> describe_usage_error(click.NoSuchOption("--formt", possibilities=["--format"]))
    ('no such option `--formt`', 'did you mean `--format`?')
    >>> describe_usage_error(click.BadParameter("'x' is not a valid integer.", param_hint="--port"))[0]
    'invalid value for --port: `x` is not a valid integer'
    """
    is_unknown = isinstance(error, click.NoSuchOption)
    message = error.message if is_unknown else error.format_message()
    message = _QUOTED.sub(r"`\1`", message).rstrip(".")
    message = message.replace("valid integer range", "valid integer").replace(
        "valid float range", "valid number"
    )
    if message[1:2].islower():  # an acronym or the name of an argument is unchanged
        message = message[0].lower() + message[1:]
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        return message, f"did you mean {' or '.join(f'`{each}`' for each in error.possibilities)}?"
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None:
        return message, ""
    usage = " ".join((ctx.command_path, *ctx.command.collect_usage_pieces(ctx)))
    return message, f"write `{usage}`; `{ctx.command_path} --help` explains it"
