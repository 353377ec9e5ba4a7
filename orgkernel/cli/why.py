"""`orgkernel why`: every layer of a decision, with the lines that it is based on."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.asking import explain_question, question_options
from orgkernel.cli.decisions import EXIT, as_data, render_why
from orgkernel.cli.output import echo_json
from orgkernel.manifest.v1 import encode


@click.command("why")
@question_options
def command(form: str, **asked: Any) -> None:
    """Explain why SUBJECT may or may not do ACTION on RESOURCE: each layer, what it changed, and its lines.

    Subjects, resources and exit codes are the same as for `orgkernel can`.
    """
    question, explanation = explain_question(**asked)
    if form == "json":
        echo_json(encode(as_data(explanation, trace=True)).decode())
    else:
        click.echo(render_why(question, explanation), nl=False)
    raise click.exceptions.Exit(EXIT[explanation.decision.outcome])
