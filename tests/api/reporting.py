"""Servers that take reports, and clients that follow them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from orgkernel.state.location import StoreLocation
from tests.api.keys import bearer, first_key, location_of
from tests.api.running import Server, running
from tests.support.salute import salute
from tests.support.trees import TEMPLATES

ORG, ROLE = "software_dev", "bugfix_specialist"


@contextmanager
def reporting(folder: Path, elsewhere: StoreLocation | None = None) -> Iterator[Server]:
    """A server of all templates with a store and a key that opens everything."""
    place = elsewhere or location_of(folder / "state.db")
    secret = "" if place.path and Path(place.path).exists() else first_key(place)
    with running(folder, TEMPLATES, store=place.path or place.url.replace("+psycopg", "")) as server:
        server.key = secret
        yield server


def post(server: Server, body: Any, key: str | None = None) -> httpx2.Response:
    """Hand a report in, with the first key unless another is named."""
    secret = server.key if key is None else key
    unit = body.get("unit") if isinstance(body, dict) else None
    org = (unit or {}).get("organization") or "active"
    return server.client.post(f"/v1/orgs/{org}/salute", json=body, headers=bearer(secret) if secret else {})


def report_now(server: Server, task: str, **said: Any) -> int:
    """The number of a new report of this moment."""
    response = post(server, salute(task=task, **{"at": time.time(), **said}))
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer["outcome"] == "stored"
    return int(answer["number"])


class Event:
    """An event of a stream."""

    def __init__(self, kind: str, number: int, data: Any) -> None:
        self.kind = kind
        self.number = number
        self.data = data

    @property
    def task(self) -> str:
        """What the role of the report works on."""
        return str(self.data["task"])


@contextmanager
def following(
    server: Server, after: int | None = None, query: str = "", org: str = "*"
) -> Iterator[Iterator[Event]]:
    """The events of a stream, from a place as a browser names it; without one, from now on."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    with server.client.stream("GET", f"/v1/orgs/{org}/salute/stream{query}", headers=headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        lines = response.iter_lines()
        # The place it begins at: from here on nothing is missed.
        assert next(lines).startswith("retry: ")
        yield _events(lines)


def _events(lines: Iterator[str]) -> Iterator[Event]:
    kind, number, data = "", 0, ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            kind = value
        elif field == "id":
            number = int(value)
        elif field == "data":
            data = value
        elif not line and kind:
            yield Event(kind, number, json.loads(data))
            kind = data = ""
