"""`orgkernel doctor`: find problems of this installation and this folder, and explain how to fix them."""

from __future__ import annotations

import os

import click

from orgkernel.cli.opening import add_path_options, format_option
from orgkernel.cli.operate.listening import (
    build_tls_files,
    host_option,
    require_key_option,
    store_budget_option,
    tls_options,
)
from orgkernel.cli.output import echo_indented, format_count
from orgkernel.cli.stores import store_option
from orgkernel.diagnostics.wording import printable


@click.command("doctor")
@add_path_options
@host_option
@require_key_option
@tls_options
@store_budget_option
@click.option("--offline", is_flag=True, help="Do not fetch the keys of the identity provider.")
@store_option
@format_option("text", "json")
def command(
    paths: tuple[str, ...],
    host: str,
    require_key: bool,
    tls_certificate: str | None,
    tls_key: str | None,
    store_budget: int,
    offline: bool,
    store: str | None,
    form: str,
) -> None:
    """Check this installation, the settings, the documents, the store and how `serve` would listen.

    Give it the options that you give to `serve`. It changes nothing and prints no secrets. Exits 0 if no problems found or
    there are warnings only, 1 with a problem, 2 if it cannot check.
    """
    from orgkernel.cli.operate.checkup import check_everything
    from orgkernel.cli.operate.checkup_report import CheckupOptions

    options = CheckupOptions(
        os.getcwd(), os.environ, paths, store, host, require_key, build_tls_files(tls_certificate, tls_key),
        store_budget * 1024 * 1024, offline,
    )  # fmt: skip
    checks = []
    for each in check_everything(options):
        checks.append(each)
        if form == "text":  # a line when it is known: a database or an issuer may take a while
            click.echo(printable(f"{each.status:<8} {each.check:<12} {each.message}"))
            if each.help:
                click.echo(printable(f"{'':<22}help: {each.help}"))
    problems = sum(each.status == "problem" for each in checks)
    warnings = sum(each.status == "warning" for each in checks)
    if form == "json":
        echo_indented({"problems": problems, "warnings": warnings, "checks": checks})
    else:
        numbers = (problems, "problem"), (warnings, "warning")
        count_texts = [format_count(number, what) for number, what in numbers if number]
        click.echo(", ".join(count_texts) or "no problems found", err=True)
    if problems:
        raise click.exceptions.Exit(1)
