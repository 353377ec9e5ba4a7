"""`orgkernel rule` and `orgkernel schema`: the meaning of a code, and the fields of a kind of document."""

from __future__ import annotations

import click

from orgkernel.cli import completing
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.errors import UsageError


@click.command("rule")
@click.argument("code", required=False, shell_complete=completing.complete_rules)
def rule(code: str | None) -> None:
    """Explain the rule with this CODE or name, or list all rules."""
    from orgkernel.rules.pages import build_all_pages

    pages = build_all_pages()
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


@click.command("schema")
@click.argument("kind", required=False)
def schema(kind: str | None) -> None:
    """Print the JSON Schema of a KIND of document, or list all kinds."""
    from orgkernel.project.scaffold import build_schemas, render_schema

    schemas = build_schemas()
    if kind is None:
        for name in schemas:
            click.echo(name)
        return
    if kind not in schemas:
        raise UsageError(
            f"there is no kind {quote(kind)}",
            did_you_mean(kind, schemas) or "list all kinds with `orgkernel schema`",
        )
    click.echo(render_schema(schemas[kind]), nl=False)
