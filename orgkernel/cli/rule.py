"""`orgkernel rule`: what does this code mean?"""

from __future__ import annotations

import click

from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.errors import UsageError
from orgkernel.rules.pages import all_pages


@click.command("rule")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain the rule with this CODE or name, or list all rules."""
    pages = all_pages()
    if code is None:
        for page in pages.values():
            click.echo(f"{page.code}  {page.severity.value:<7}  {page.name:<28}  {page.summary}")
        return
    by_name = {page.name: page for page in pages.values()}
    wanted = pages.get(code.upper()) or by_name.get(code)
    if wanted is None:
        help = did_you_mean(code.upper(), pages) or did_you_mean(code, by_name)
        raise UsageError(f"there is no rule {quote(code)}", help or "list all rules with `orgkernel rule`")
    click.echo(wanted.text, nl=False)
