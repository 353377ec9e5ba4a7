"""`orgkernel completion`: the script with which a shell completes commands and ids."""

from __future__ import annotations

import os
from typing import Final

import click

from orgkernel.errors import UsageError

_SHELLS: Final = ("bash", "zsh", "fish")
# Bash breaks words at colons, and `role:reviewer` is one word.
_MORE: Final = {"bash": "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n"}


@click.command("completion")
@click.argument("shell", required=False, type=click.Choice(_SHELLS))
def command(shell: str | None) -> None:
    """Print the script with which SHELL completes commands, options and ids. By default, the shell in use.

    Load it in the startup file of the shell: `eval "$(orgkernel completion zsh)"`, `eval "$(orgkernel completion bash)"`, or
    `orgkernel completion fish | source`.
    """
    from click.shell_completion import get_completion_class  # few commands need it

    chosen = shell or os.path.basename(os.environ.get("SHELL", ""))
    if chosen not in _SHELLS:
        raise UsageError("the shell in use is unknown", f"name one of {', '.join(_SHELLS)}")
    script = get_completion_class(chosen)
    context = click.get_current_context().find_root()
    if script is None:
        raise UsageError(f"`{chosen}` has no completion here", "update click")
    source = script(context.command, {}, "orgkernel", "_ORGKERNEL_COMPLETE").source()
    click.echo(f"{source.rstrip()}\n{_MORE.get(chosen, '')}", nl=False)
