"""OpenID AuthZEN evaluation over HTTP, beside a bare application that says one of the answers for nothing.

Two hundred roles ask in turn for a tool each of them has. Without a store; and with one, where each answer is on the
disk before it is told, for 64 callers that share commits.
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
    """Nothing is stored, so nothing is written down."""
    return _measure(folder, "ours", CONNECTIONS)


def authzen_audited(folder: Path) -> dict[str, Any]:
    """Each answer is a row of the audit first."""
    return _measure(folder, "ours_writing_down", _CALLERS)


def _measure(folder: Path, kind: str, connections: int) -> dict[str, Any]:
    requests = _requests(folder)
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


def _requests(folder: Path) -> list[bytes]:
    """May this role use this tool? For roles in turn, each with a tool of its own."""
    posts = open_kernel(folder).organization("measured").snapshot.records.posts
    return [
        request_bytes(
            "/access/v1/evaluation",
            body=msgspec.json.encode(
                {
                    "subject": {"type": "role", "id": role},
                    "action": {"name": "use"},
                    "resource": {"type": "tool", "id": post.profile.capabilities.tools_primary[0]},
                }
            ),
        )
        for role, post in list(posts.items())[:ASKED]
    ]
