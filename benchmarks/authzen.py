"""OpenID AuthZEN evaluation over HTTP, beside a bare application that says one of the answers for nothing.

Questions are whether a role may use a tool that it has. Repeated: two hundred of them in turn, which the server answers
as it answered before. New: every role with each of its tools, and a server that keeps no answers, so that each is
understood, decided, put into words and encoded; there are more of them than reasons are kept. And with a store, where each
answer is on the disk before it is told, for 64 callers that share commits.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.http import CONNECTIONS, compare, serving
from benchmarks.load_generator import fetch, request_bytes
from benchmarks.questions import open_kernel
from benchmarks.serving import ASKED

_CALLERS = 64


def authzen(folder: Path) -> dict[str, Any]:
    """The same questions again and again. Nothing is stored, so nothing is written down."""
    return _measure(folder, "ours", CONNECTIONS, requests_for(folder, 1)[:ASKED])


def authzen_new(folder: Path) -> dict[str, Any]:
    """Questions that were not asked before, as far as the server knows."""
    return _measure(folder, "ours_keeping_nothing", CONNECTIONS, requests_for(folder, 20))


def authzen_audited(folder: Path) -> dict[str, Any]:
    """Each answer is a row of the audit first."""
    return _measure(folder, "ours_writing_down", _CALLERS, requests_for(folder, 1)[:ASKED])


def _measure(folder: Path, kind: str, connections: int, requests: list[bytes]) -> dict[str, Any]:
    with ExitStack() as servers, tempfile.TemporaryDirectory() as place:
        ours = servers.enter_context(serving(kind, str(folder)))
        said = [fetch(ours.port, request) for request in requests[:20]]
        assert all(msgspec.json.decode(body)["decision"] is True for _, body in said), "not allowed"
        files = {"head": said[0][0], "body": said[0][1]}
        for name, content in files.items():
            (Path(place) / name).write_bytes(content)
        bare = servers.enter_context(serving("bare", *(f"{place}/{each}" for each in (".", *files))))
        assert fetch(bare.port, requests[0])[1] == said[0][1]
        answer = compare({"ours": ours, "bare": bare}, requests, connections)
    return {**answer, "bytes": len(said[0][1])}


def requests_for(folder: Path, tools: int) -> list[bytes]:
    """May this role use this tool? For roles in turn, each with so many tools of its own."""
    posts = open_kernel(folder).organization("measured").snapshot.records.posts
    has = {role: post.profile.capabilities for role, post in posts.items()}
    return [
        request_bytes(
            "/access/v1/evaluation",
            body=msgspec.json.encode(
                {
                    "subject": {"type": "role", "id": role},
                    "action": {"name": "use"},
                    "resource": {"type": "tool", "id": tool},
                }
            ),
        )
        for number in range(tools)
        for role, those in has.items()
        for tool in (*those.tools_primary, *those.tools_secondary)[number : number + 1]
    ]
