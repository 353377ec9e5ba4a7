"""`orgkernel schema`: which fields may a document of this kind have?"""

from __future__ import annotations

import click

from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.errors import UsageError
from orgkernel.project.scaffold import build_schemas, render_schema


@click.command("schema")
@click.argument("kind", required=False)
def command(kind: str | None) -> None:
    """Print the JSON Schema of a KIND of document, or list all kinds."""
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
