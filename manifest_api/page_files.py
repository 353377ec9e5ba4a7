"""The files of the page at `/`: their paths, their types and their contents.

They are static and public. The sources are in `manifest_api/page/src`, and `make page` builds `manifest_api/page/built`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MappingProxyType

BUILT = Path(__file__).parent / "page" / "built"
"""The folder of the built files. They are checked in, and are in the wheel."""
PAGE = "/"
SIGNED_IN = "/page/signed-in.html"
"""The page to which an identity provider redirects a person after sign-in. It is open in its own window."""
COPY_SCRIPT, COPY_PAGE = "copy.js.gz", "copy.html"
"""The script, compressed, and the page of a copy without a server. `orgkernel site` writes them, and they are never served."""


def _list_scripts() -> list[Path]:
    return sorted(BUILT.glob("*.js"))


FILES = MappingProxyType(
    {
        PAGE: ("index.html", "text/html"),
        SIGNED_IN: ("signed-in.html", "text/html"),
        **{f"/page/{each.name}": (each.name, "text/javascript") for each in _list_scripts()},
        "/page/page.css": ("page.css", "text/css"),
        "/page/icon.svg": ("icon.svg", "image/svg+xml"),
        "/page/licenses.txt": ("licenses.txt", "text/plain"),
    }
)
"""The file and the media type at each path. The scripts are `page.js` and the parts that it loads when a view is opened."""


def is_page(method: str, path: str) -> bool:
    """Whether a request is for the page or one of its files. They need no credential, because they contain no data."""
    return path in FILES and method in ("GET", "HEAD")


@cache
def read_file(path: str) -> bytes:
    """The file at one of the paths of `FILES`. Its name never comes from a request."""
    name, _ = FILES[path]
    return (BUILT / name).read_bytes()
