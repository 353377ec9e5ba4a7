"""Options of `orgkernel serve` about where it listens and who may ask; `orgkernel doctor` takes them to check them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from orgkernel.cli.opening import with_options
from orgkernel.errors import UsageError

if TYPE_CHECKING:
    from manifest_api.guards.tls import TlsFiles
    from manifest_api.guards.tokens import TokenSettings
    from orgkernel.kernel.settings import Project

host_option = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Addresses beyond loopback need an API key first.",
)
require_key_option = click.option(
    "--require-key", is_flag=True, envvar="ORGKERNEL_REQUIRE_KEY",
    help="Loopback needs a key too, except for /livez and /readyz.",
)  # fmt: skip
store_budget_option = click.option(
    "--store-budget", default=4096, show_default=True, type=click.IntRange(1), metavar="MIB",
    help="Size of the store beyond which callers without a key get no answer that must be audited.",
)  # fmt: skip
trusted_proxy_option = click.option(
    "--trusted-proxy", "trusted_proxies", multiple=True, metavar="ADDRESS",
    help="Address or network of a proxy that may state the scheme and host of a request. Repeatable.",
)  # fmt: skip
tls_options = with_options(
    click.option(
        "--tls-certificate", envvar="ORGKERNEL_TLS_CERTIFICATE", metavar="FILE",
        help="Serve HTTPS with this certificate (PEM). SIGHUP reloads it.",
    ),
    click.option(
        "--tls-key", envvar="ORGKERNEL_TLS_KEY", metavar="FILE", help="Private key of the certificate (PEM).",
    ),
)  # fmt: skip


def build_tls_files(certificate: str | None, key: str | None) -> TlsFiles | None:
    """The files of the two options, which belong together. Raises `UsageError`."""
    from manifest_api.guards.tls import TlsFiles

    if (certificate is None) != (key is None):
        raise UsageError("`--tls-certificate` and `--tls-key` belong together", "pass both or neither")
    return None if certificate is None or key is None else TlsFiles(certificate, key)


def read_token_settings(project: Project) -> TokenSettings | None:
    """The issuer whose tokens are accepted, in `[oidc]` of the settings. Raises `BadProject`."""
    from manifest_api.guards.tokens import read_settings

    project.require_own("oidc")
    return None if project.oidc is None else read_settings(project.oidc, project.folder)
