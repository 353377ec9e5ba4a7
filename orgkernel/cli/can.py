"""`orgkernel can`: may this subject do this action on this resource?"""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.asking import explain_question, question_options
from orgkernel.cli.decisions import EXIT, as_data, render_decision
from orgkernel.cli.output import echo_json
from orgkernel.manifest.v1 import encode


@click.command("can")
@question_options
def command(form: str, **asked: Any) -> None:
    """Check whether SUBJECT may do ACTION on RESOURCE, such as `role:dev use tool:text_editor`.

    Subjects are `role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID` or `sender:PLATFORM/ID`. Resources are
    `tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER` or `role:ID`. The stored state is included.

    Exits 0 for allow, 1 for deny, 3 for ask, 2 if it cannot run.
    """
    question, explanation = explain_question(**asked)
    if form == "json":
        echo_json(encode(as_data(explanation, trace=False)).decode())
    else:
        click.echo(render_decision(question, explanation), nl=False)
    raise click.exceptions.Exit(EXIT[explanation.decision.outcome])
