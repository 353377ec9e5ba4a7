"""Two gateways over HTTP on one PostgreSQL: what one gives, locks or uses up, the other knows; neither needs the other to live."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from operator import lt
from pathlib import Path

import httpx2
import pytest

from orgkernel.kernel.stored import open_store
from orgkernel.state.location import StoreLocation
from tests.api.keys import opened
from tests.api.running import until
from tests.gateway.gateways import Http, over_http, text_of
from tests.gateway.shop import TOOLS, Shop
from tests.gateway.test_kills import allowed
from tests.gateway.test_replays import approve, request_in
from tests.state.postgres import down
from tests.support.depth import DEPTH

EXCLUSIVE = TOOLS.replace(
    "provider: crate,", "provider: crate, concurrency: exclusive, lock_timeout_seconds: 2,"
)
LOCKED = "unavailable: `look` of server `crate`: the tool `mcp__crate` is locked by `agent:ann` [TOOL_LOCKED]"
USES = 5


class Pair:
    """Two gateways on one store, and a key of each of two agents."""

    def __init__(self, shop: Shop, one: Http, two: Http) -> None:
        self.shop, self.one, self.two = shop, one, two
        self.ann, self.amy = one.key("ann"), one.key("amy")
        for each in (one, two):
            each.headers = {"mcp-protocol-version": "2025-11-25"}
            assert each.text(self.ann, "box__look") == each.text(self.ann, "crate__look") == "look done"


@pytest.fixture
def pair(tmp_path: Path, postgres_place: StoreLocation) -> Iterator[Pair]:
    """Both are running, with their servers."""
    shop = Shop(tmp_path, tools=EXCLUSIVE)
    shop.store = postgres_place.url.replace("+psycopg", "")
    with ExitStack() as ends:
        yield Pair(shop, *(ends.enter_context(over_http(shop)) for _ in range(2)))


def started(shop: Shop, calls: int) -> None:
    """Wait until calls of the exclusive tool have reached its server."""
    until(lambda: len(shop.crate.calls), lambda found: found >= calls)


def test_they_share_locks_uses_and_approvals(pair: Pair) -> None:
    """An exclusive tool is called once at a time, also by one agent through both; a grant for some uses is used as often,
    however many race for it; an approval given at one is used up at the other; and a gateway that is killed in a call keeps
    the tool no longer than its lock lasts.
    """
    shop, one, two, ann, amy = pair.shop, pair.one, pair.two, pair.ann, pair.amy
    with ThreadPoolExecutor(8) as pool:
        running = pool.submit(one.text, ann, "crate__look", seconds=0.7)
        started(shop, 3)
        assert [two.text(key, "crate__look") for key in (ann, amy)] == [LOCKED, LOCKED]
        assert running.result() == two.text(amy, "crate__look") == one.text(ann, "crate__look") == "look done"
        with open_store(shop.place) as store:
            store.grants.issue("role:clerk", ["tool:mcp__box__wipe"], issued_by="person:owner", uses=USES)
        calls = [(gateway, key) for gateway in (one, two) for key in (ann, amy)] * 6
        said = Counter(pool.map(lambda call: call[0].text(call[1], "box__wipe").partition(":")[0], calls))
        assert said == {"wipe done": USES, "deny": len(calls) - USES}
        assert [name for name, _ in shop.box.calls].count("wipe") == USES
        approve(shop, request_in(one.text(ann, "box__pay", amount=5)))
        assert two.text(ann, "box__pay", amount=5) == "pay done"
        assert one.text(ann, "box__pay", amount=5).startswith("ask: ")
        before = len(shop.crate.calls)
        running = pool.submit(one.text, ann, "crate__look", seconds=60)
        started(shop, before + 1)
        one.process.kill()
        with suppress(httpx2.HTTPError):
            running.result()
        assert two.text(amy, "crate__look") == LOCKED
        until(lambda: two.text(amy, "crate__look"), lambda text: text == "look done")
    assert allowed(shop, "mcp__box__wipe") == USES
    assert allowed(shop, "mcp__box__pay") == 1


@pytest.mark.deep
def test_a_database_that_ends_and_comes_back_loses_nothing(pair: Pair, postgres_server: str) -> None:
    """While it is down every call is refused with a code and a way out, and not made; what was answered before is in the audit;
    afterwards both gateways go on, with a lock that could not be given back meanwhile.
    """
    shop, told = pair.shop, Counter[str]()

    def ask(http: Http, key: str, tool: str) -> None:
        while True:
            answer = http.ask(key, "tools/call", name=f"box__{tool}", arguments={})
            if "result" not in answer:
                refused.append(answer)
                return
            text = text_of(answer)
            if text != f"{tool} done":
                refused.append({"code": text.partition(":")[0], "help": text.partition("what to do: ")[2]})
                return
            told[tool] += 1

    for _ in range(DEPTH):
        before, refused = len(shop.crate.calls), list[dict[str, str]]()
        working = threading.Thread(
            target=pair.one.ask,
            args=(pair.ann, "tools/call"),
            kwargs={"name": "crate__look", "arguments": {"seconds": 0.5}},
        )
        clients = [
            threading.Thread(target=ask, args=(http, key, tool))
            for http, key in ((pair.one, pair.ann), (pair.two, pair.amy))
            for tool in ("look", "send")
        ]
        working.start()
        started(shop, before + 1)
        for each in clients:
            each.start()
        until(told.total, partial(lt, told.total() + 20))
        with down(postgres_server):
            for each in (*clients, working):
                each.join()
            count = len(shop.box.calls)
            for http in (pair.one, pair.two):
                answer = http.ask(pair.ann, "tools/call", name="box__send", arguments={})
                assert (answer["code"], answer["help"]) == ("STORE_FAILED", "try again later")
            assert len(shop.box.calls) == count
        assert {each["code"] for each in refused} <= {"STORE_FAILED", "STORE_BUSY"}
        assert {each["help"] for each in refused} <= {"try again later"}
        assert len(refused) == len(clients)
        for http in (pair.one, pair.two):
            for tool in ("look", "send"):
                assert http.text(pair.amy, f"box__{tool}") == f"{tool} done"
                told[tool] += 1
        assert pair.one.text(pair.amy, "crate__look") == "look done"
        assert pair.two.text(pair.ann, "crate__look") == "look done"
    assert told["look"] <= allowed(shop, "mcp__box__look")
    sent = [name for name, _ in shop.box.calls].count("send")
    assert told["send"] <= sent <= allowed(shop, "mcp__box__send")
    with opened(shop.place) as store:
        assert store.locks.list() == ()
