"""Followers get each report exactly once, and no follower can delay the server."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from manifest_api.feed import Feed
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.evidence.state_view import StoredReport
from orgkernel.errors import StoreError
from tests.api.asking import problem
from tests.api.keys import bearer, first_key, location_of, new_key, opened
from tests.api.reporting import following, post, report_now, reporting
from tests.api.running import Server, until
from tests.support.patience import PATIENCE
from tests.support.salute import salute
from tests.support.trees import REPOSITORY, TEMPLATES


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose store the tests of this module share: each looks at what came after it began."""
    with reporting(tmp_path_factory.mktemp("following")) as found:
        yield found


def test_reports_come_as_they_are_stored(server: Server) -> None:
    """Each with its number as the id and all it says."""
    with following(server) as events:
        numbers = [report_now(server, str(task)) for task in range(3)]
        got = list(itertools.islice(events, 3))
    assert [event.number for event in got] == numbers
    assert [event.task for event in got] == ["0", "1", "2"]
    assert {event.kind for event in got} == {"report"}
    assert got[0].data["report"]["unit"]["role_id"] == got[0].data["role_id"] == "bugfix_specialist"


def test_who_comes_back_goes_on_where_it_was(server: Server) -> None:
    """Cut off again and again while others report: every report once, in order."""
    stop = threading.Event()
    stored: list[int] = []

    def report() -> None:
        with httpx2.Client(base_url=server.url) as client:
            for task in range(120):
                body = salute(task=f"back {task}", at=time.time())
                answer = client.post(
                    "/v1/orgs/software_dev/salute", json=body, headers=bearer(server.key)
                ).json()
                stored.append(answer["number"])
        stop.set()

    last = report_now(server, "back")
    reporter = threading.Thread(target=report)
    reporter.start()
    got: list[int] = []
    place = last
    for size in itertools.cycle((1, 7, 2, 13)):
        with following(server, place) as events:
            got += [event.number for event in itertools.islice(events, min(size, 120 - len(got)))]
        place = got[-1]
        if len(got) == 120:
            break
    reporter.join()
    assert stop.is_set()
    assert got == stored


def test_who_was_away_for_long_reads_from_the_store(server: Server) -> None:
    """More than is held in memory, and what is stored meanwhile after it."""
    begin = report_now(server, "begin")
    with opened(location_of(server.folder / "state.db")) as store:
        tickets = [
            store.reports.submit(salute(task=f"away {task}", at=time.time()), actor="a")
            for task in range(900)
        ]
        numbers = [ticket.result(PATIENCE).number for ticket in tickets]
    with following(server, begin) as events:
        got = [event.number for event in itertools.islice(events, 450)]
        numbers.append(report_now(server, "meanwhile"))
        got += [event.number for event in itertools.islice(events, 451)]
    assert got == numbers


def test_reports_of_another_server_come_too(server: Server) -> None:
    """Two servers of one store, and a follower that changes from one to the other in the middle."""
    with reporting(server.folder) as other:
        with following(server) as events, following(other) as theirs:
            numbers = []
            for task in range(10):
                body = salute(task=f"other {task}", at=time.time())
                numbers.append(post((server, other)[task % 2], body, key=server.key).json()["number"])
            assert [event.number for event in itertools.islice(events, 10)] == numbers
            assert [event.number for event in itertools.islice(theirs, 4)] == numbers[:4]
        with following(server, numbers[3]) as events:
            assert [event.number for event in itertools.islice(events, 6)] == numbers[4:]


def test_only_some_roles_are_followed(server: Server) -> None:
    """A stream can be limited to a role and an organization; an unknown organization is refused at once."""
    with following(server, query="?role=co", org="software_dev") as events:
        report_now(server, "no")
        report_now(server, "not this", role="co", org="sigint_alpha")
        report_now(server, "yes", role="co")
        assert next(events).task == "yes"
    problem(server.get("/v1/orgs/nobody/salute/stream"), 404, "UNKNOWN_ORGANIZATION")


def test_a_place_that_never_was_begins_anew(server: Server) -> None:
    """A client with a number from another store, or from before a restoration, gets a `reset` event and then new
    reports.
    """
    number = report_now(server, "before")
    with following(server, number + 1_000) as events:
        event = next(events)
        assert (event.kind, event.number) == ("reset", number)
        later = report_now(server, "after")
        assert next(events).number == later


@pytest.mark.parametrize("place", ["x", "-1", "1.5", "٣", "9" * 40])
def test_a_place_that_is_none_is_refused(server: Server, place: str) -> None:
    """A browser gives up on it, and rightly."""
    headers = {"Last-Event-ID": place.encode()}
    problem(server.get("/v1/orgs/*/salute/stream", headers=headers), 409, "BAD_CURSOR")


def test_the_query_names_a_place_as_well(server: Server) -> None:
    """A browser cannot set the header the first time; when it comes back, the header counts."""
    numbers = [report_now(server, f"query {task}") for task in range(4)]
    with following(server, query=f"?after={numbers[0]}") as events:
        assert next(events).number == numbers[1]
    with following(server, numbers[2], query=f"?after={numbers[0]}") as events:
        assert next(events).number == numbers[3]


def test_there_is_nothing_to_follow_before_there_is_a_store(tmp_path: Path) -> None:
    """Until there is one; then the reports of it come."""
    from tests.api.running import running

    store = tmp_path / "state.db"
    with running(tmp_path, TEMPLATES, store=store) as server, following(server) as events:
        server.key = first_key(location_of(store))
        number = report_now(server, "first")
        assert next(events).number == number


def test_head_has_no_end_to_wait_for(server: Server) -> None:
    """The headers alone."""
    response = server.client.head("/v1/orgs/*/salute/stream", timeout=PATIENCE)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"].startswith("text/event-stream")


def test_a_server_that_ends_lets_its_followers_go(tmp_path: Path) -> None:
    """A server that is stopped ends its streams at once, so they do not delay its end."""
    with reporting(tmp_path) as server, following(server) as events:
        server.process.send_signal(signal.SIGTERM)
        assert list(events) == []
        assert server.process.wait(PATIENCE) == 0
        assert "timeout graceful shutdown exceeded" not in server.log
        assert "Traceback" not in server.log


def test_a_stream_ends_with_its_key(server: Server) -> None:
    """At the latest when the key expires."""
    secret = new_key(location_of(server.folder / "state.db"), ["read"], seconds=5)
    with server.client.stream("GET", "/v1/orgs/*/salute/stream", headers=bearer(secret)) as response:
        assert response.read().startswith(b"retry: ")


def test_a_stream_shows_nothing_to_a_revoked_key(server: Server) -> None:
    """It ends with the next report, which it does not contain."""
    place = location_of(server.folder / "state.db")
    secret = new_key(place, ["read"])
    with server.client.stream("GET", "/v1/orgs/*/salute/stream", headers=bearer(secret)) as response:
        chunks = response.iter_bytes()
        assert next(chunks).startswith(b"retry: ")
        report_now(server, "before")
        assert b"before" in next(chunks)
        with opened(place) as store:
            key = store.keys.find(secret)
            assert key is not None
            store.keys.revoke(key.key_id, actor="test")
        report_now(server, "after")
        assert list(chunks) == []


_IMPATIENT = """
import sys, time, logging
from manifest_api import create_app, feed
from manifest_api.server import build_config
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import parse_location
import uvicorn
feed.SEND_SECONDS = 5.0
feed.HEARTBEAT_SECONDS = 0.2
feed.MAX_FOLLOWERS = 2
logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
app = create_app(Kernel.open(sys.argv[1]), store=parse_location("state.db", sys.argv[2]))
config = build_config(app)
config.port = 0
class Saying(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("http://127.0.0.1:%d" % self.servers[0].sockets[0].getsockname()[1], flush=True)
Saying(config).run()
"""


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Server]:
    """A server that soon drops who is slow, and has room for two followers."""
    secret = first_key(location_of(tmp_path / "state.db"))
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", _IMPATIENT, str(TEMPLATES), str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, log.read_text()
        server = Server(process, url, log)
        server.key = secret
        yield server
        server.client.close()
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


def connect_slowly(server: Server) -> socket.socket:
    """A follower that reads nothing."""
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    slow.connect(("127.0.0.1", server.port))
    slow.sendall(b"GET /v1/orgs/*/salute/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return slow


def test_a_slow_follower_is_dropped(impatient: Server) -> None:
    """It takes nothing while megabytes come; another follower gets all of them meanwhile."""
    got: list[int] = []
    body = salute(at=time.time())
    body["location"]["files_read"] = ["x" * 190] * 100
    with connect_slowly(impatient), following(impatient) as events:
        reader = threading.Thread(
            target=lambda: got.extend(event.number for event in itertools.islice(events, 400))
        )
        reader.start()
        with opened(location_of(impatient.folder / "state.db")) as store:
            tickets = [store.reports.submit({**body, "x_copy": str(copy)}, actor="a") for copy in range(400)]
            numbers = [ticket.result(PATIENCE).number for ticket in tickets]
        reader.join(PATIENCE)
        impatient.until_logged("read nothing for 5 seconds and was disconnected")
    assert got == numbers


def test_there_is_room_for_so_many_followers(impatient: Server) -> None:
    """Above the limit of streams, a client gets 503; when a client leaves, another one is accepted."""
    with following(impatient), following(impatient):
        said = problem(impatient.get("/v1/orgs/*/salute/stream"), 503, "TOO_MANY_FOLLOWERS")
        assert "GET /v1/orgs/{org}/salute" in said["help"]

    def ask() -> int:
        with impatient.client.stream("GET", "/v1/orgs/*/salute/stream") as response:
            return int(response.status_code)

    until(ask, lambda status: status == 200)


def test_a_quiet_stream_says_that_it_is_there(impatient: Server) -> None:
    """With its place, so that a client whose filter lets nothing through does not fall behind."""
    with impatient.client.stream("GET", "/v1/orgs/*/salute/stream?role=nobody") as response:
        lines = response.iter_lines()
        number = report_now(impatient, "any")
        assert next(line for line in lines if line == f"id: {number}")
        assert next(line for line in lines if line == ": still here")


class FailingStore:
    """A store that cannot be read for a while, as far as a feed knows it."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.looks = 0

    @property
    def reports(self) -> FailingStore:
        return self

    async def refresh(self) -> None:
        pass

    async def work(self, work: Callable[[FailingStore], Any]) -> Any:
        return work(self)

    def last_number(self) -> int:
        return 0

    def after(self, number: int, *, limit: int) -> tuple[StoredReport, ...]:
        self.looks += 1
        if self.looks <= self.failures:
            raise StoreError("the store `x` is gone")
        body = salute()
        return () if number else (StoredReport(1, "org", "role", "", 0, 1.0, 1.0, "primary", body),)


def test_a_store_that_fails_for_a_while_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """Followers stay, and what was stored meanwhile comes when it works again."""
    store = FailingStore(failures=4)

    async def follow() -> list[int]:
        feed = Feed(cast(StoreAccess, store), look_seconds=0.01)
        async with feed.following():
            found = await feed.after(0, seconds=10)
        assert feed.followers == 0
        return [report.number for report in found]

    assert asyncio.run(follow()) == [1]
    assert [record.message for record in caplog.records] == [
        "reports cannot be followed: the store `x` is gone"
    ]


def test_the_store_is_not_polled_without_followers() -> None:
    """The last one that leaves ends the looking."""
    store = FailingStore(failures=0)

    async def follow() -> tuple[int, int]:
        feed = Feed(cast(StoreAccess, store), look_seconds=0.01)
        async with feed.following():
            await feed.after(0, seconds=0.1)
        await asyncio.sleep(0.05)
        looks = store.looks
        await asyncio.sleep(0.1)
        return looks, store.looks

    before, after = asyncio.run(follow())
    assert before == after > 0
