"""`orgkernel open`: open the page of a running server in a browser."""

from __future__ import annotations

import click

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError

_SECONDS = 5.0


@click.command("open")
@click.argument("url", default="http://127.0.0.1:8000/")
@click.option("--print", "only_prints", is_flag=True, help="Print the address, and open no browser.")
def command(url: str, only_prints: bool) -> None:
    """Open the page of a running server in a browser.

    URL is the address that `orgkernel serve` prints. Below a path of a proxy, it includes that path. Exits 2 if no server
    answers there.
    """
    page = url.partition("#")[0].rstrip("/") + "/"
    _require_page(page)
    if only_prints or not _open_browser(page):
        click.echo(page)
        return
    click.echo(f"opened {page}", err=True)


def _require_page(page: str) -> None:
    """Raises `UsageError` if the address does not have the page."""
    from http.client import HTTPException
    from ssl import SSLError
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    if not page.startswith(("http://", "https://")):
        raise UsageError(f"{quote(page)} is not a web address", "write `http://127.0.0.1:8000/`")
    try:
        with urlopen(Request(page, headers={"Accept": "text/html"}), timeout=_SECONDS) as answer:
            is_page = b'id="page"' in answer.read(4_096)
    except HTTPError:
        is_page = False
    except (OSError, ValueError, HTTPException) as error:
        if isinstance(error, URLError) and isinstance(error.reason, SSLError):
            return  # a certificate that only the browser's user may accept
        raise UsageError(
            f"no server answers at {quote(page)}",
            "start one with `orgkernel serve`, and use the address that it prints",
        ) from None
    if not is_page:
        raise UsageError(
            f"the server at {quote(page)} does not show the page",
            "use the address that `orgkernel serve` prints",
        )


def _open_browser(page: str) -> bool:
    """Open a browser. False on a machine without one, such as over SSH."""
    import webbrowser

    try:
        return webbrowser.open(page)
    except webbrowser.Error:
        return False
