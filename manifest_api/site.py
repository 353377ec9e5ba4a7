"""A copy of the page without a server: the answers of the HTTP API as files next to the same page (`orgkernel site`).

The answers come from the application itself, so a copy cannot say anything else than the API. It has no store: nothing
that changes while agents work is in it.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlencode

from starlette.types import Message

from manifest_api.app import create_app
from manifest_api.page_files import BUILT, COPY_PAGE, COPY_SCRIPT
from manifest_api.questions import MAX_FINDINGS
from manifest_api.routes.changes import VersionChanges
from orgkernel.diff.report import ChangeReport
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode

MARK = "<!-- Written by `orgkernel site`, which replaces this file. -->"
"""In the page of a copy, so that another folder is never overwritten."""
_PAGE_FILES = ("page.css", "icon.svg", "licenses.txt")
_BYTES_OF_A_FILE = 256 * 1024
"""About the size of a file of answers, so that a large organization is loaded role by role and not as a whole."""
_UNESCAPED = "!'()*"
"""What `encodeURIComponent` leaves as it is, beyond what `quote` does."""


def build_site(
    kernel: Kernel, reports: Mapping[str, tuple[str, ChangeReport]] | None = None
) -> dict[str, bytes]:
    """The files of a copy, by their paths. `reports` has for an organization the revision that its changes begin at, and the
    changes. Raises `UsageError` if no organization is served.
    """
    answers, parts = asyncio.run(_ask_everything(kernel))
    for org_id, (revision, report) in (reports or {}).items():
        digest = kernel.organization(org_id).snapshot.digest
        changes = VersionChanges(
            org_id=org_id, before=revision, after=digest, snapshot=digest, report=report, versions=()
        )
        answers[_fill("v1/orgs/{}/changes", org_id)] = json.loads(encode(changes))
    files = {"index.html": (BUILT / COPY_PAGE).read_bytes()}
    files["page/copy.js"] = gzip.decompress((BUILT / COPY_SCRIPT).read_bytes())
    files |= {f"page/{name}": (BUILT / name).read_bytes() for name in _PAGE_FILES}
    places: dict[str, int] = {}
    for number, group in enumerate(_group(parts), 1):
        places |= dict.fromkeys(group, number)
        files[f"data/{number}.js"] = _call("Object.assign(orgkernelCopy.answers,", group, ")")
    files["data/0.js"] = _call("globalThis.orgkernelCopy=", {"answers": answers, "files": places}, "")
    return files


async def _ask_everything(kernel: Kernel) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers that every view needs, and those of single roles, agents and bills, by the path of their route."""
    client = _Client(kernel)
    answers: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    organizations = answers["v1/orgs"] = await client.list_all("v1/orgs", "organizations", 200)
    answers["v1/snapshot"] = await client.get("v1/snapshot")
    answers["v1/diagnostics"] = await client.list_all("v1/diagnostics", "diagnostics", MAX_FINDINGS)
    for line in organizations["organizations"]:
        if line["standing"] == "refused":
            continue
        org = _fill("v1/orgs/{}", line["org_id"])
        detail = answers[org] = await client.get(org)
        agents = answers[f"{org}/agents"] = await client.list_all(f"{org}/agents", "agents", 1_000)
        answers[f"{org}/vacancies"] = await client.get(f"{org}/vacancies")
        bills = answers[f"{org}/bills"] = await client.get(f"{org}/bills")
        answers[f"{org}/changes"] = await client.get(f"{org}/changes")
        paths = [
            *(_fill(f"{org}/roles/{{}}", role["role_id"]) for role in detail["chart"]),
            *(_fill(f"{org}/agents/{{}}", agent["agent_id"]) for agent in agents["agents"]),
            *(_fill(f"{org}/bills/{{}}", bill["bill"]) for bill in bills["bills"]),
        ]
        for path in paths:
            parts[path] = await client.get(path)
        for role in detail["chart"]:
            path = _fill(f"{org}/roles/{{}}/standing-orders", role["role_id"])
            orders = await client.get(path)
            if orders["sections"]:
                parts[path] = orders
    if not any(line["standing"] != "refused" for line in organizations["organizations"]):
        raise UsageError("no organization answers", "run `orgkernel check` to see the errors")
    return answers, parts


class _Client:
    """Asks the application in this process, as a client on loopback without a credential."""

    def __init__(self, kernel: Kernel) -> None:
        self._app = create_app(kernel)

    async def list_all(self, path: str, rows: str, limit: int) -> dict[str, Any]:
        """The rows of all pages, as one page."""
        whole: dict[str, Any] = await self.get(path, limit=str(limit))
        following = whole.get("next")
        while following:
            page = await self.get(path, limit=str(limit), cursor=following)
            whole[rows] += page[rows]
            following = page.get("next")
        return whole | {"next": None}

    async def get(self, path: str, **query: str) -> Any:
        """The answer of a route. Raises `UsageError` with the problem of the API."""
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        raw = f"/{path}".encode()
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": unquote(f"/{path}"), "raw_path": raw, "query_string": urlencode(query).encode(), "root_path": "",
            "headers": [(b"host", b"127.0.0.1:8000"), (b"accept", b"application/json")],
            "client": ("127.0.0.1", 50000), "server": ("127.0.0.1", 8000), "state": {},
        }  # fmt: skip
        await self._app(scope, receive, send)
        status = next(each["status"] for each in sent if each["type"] == "http.response.start")
        answer = json.loads(b"".join(each.get("body", b"") for each in sent))
        if status != 200:
            raise UsageError(
                f"`/{path}` cannot be copied: {answer.get('detail', status)}", answer.get("help", "")
            )
        return answer


def _fill(path: str, name: str) -> str:
    """A path with a name in it, written as `encodeURIComponent` of the page does."""
    return path.format(quote(name, safe=_UNESCAPED))


def _group(parts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    group: dict[str, Any] = {}
    size = 0
    for path, answer in parts.items():
        group[path] = answer
        size += len(json.dumps(answer))
        if size >= _BYTES_OF_A_FILE:
            yield group
            group, size = {}, 0
    if group:
        yield group


def _call(before: str, value: object, after: str) -> bytes:
    """A script with a value. The value is in a string, because `__proto__` in an object of a script is not an
    ordinary name.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{before}JSON.parse({json.dumps(text)}){after};\n".encode()


def list_surplus(present: Iterable[str], files: Mapping[str, bytes]) -> list[str]:
    """The files of answers of an earlier copy that the new one does not have."""
    names = (f"data/{each}" for each in present if each.endswith(".js") and each[:-3].isdigit())
    return sorted(name for name in names if name not in files)
