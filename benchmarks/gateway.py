"""`python -m benchmarks.gateway`: a tool called directly, through a FastMCP proxy and through the gateway, in one run.

All of them are asked in turns by sixteen clients, agents with keys of their own, that speak the era 2026-07-28, over HTTP/1.1
with prepared bytes. First as fast as they answer, which says how many calls a second there can be; then at rates that
they bear, which says what is added to a call. The gateway decides every call and writes it down before it is answered; the proxy does not. What
the disk takes for that is measured beside it, and so is a gateway whose store is in memory.
Then: memory for every further role, a thousand tools of fifty servers, and one client on standard input and output.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.gateway_servers import (
    ORGKERNEL,
    calling,
    create_keys,
    gateway,
    headers_of,
    message,
    proxy,
    proxy_command,
    started,
    upstream,
    write_config,
    write_organization,
    write_stdio_config,
)
from benchmarks.http import Server
from benchmarks.load_generator import fetch, request_bytes, run_burst, run_paced
from benchmarks.table import versions
from benchmarks.timing import NotMeasured

CLIENTS = 16
_ROLES = 100
_SERVERS, _TOOLS = 50, 20
_ALONE = 200
_WRITES = 200
_WARM = 1.0
DIRECT, SHARED, FRESH, OURS, DISKLESS = (
    "direct",
    "FastMCP proxy, one session",
    "FastMCP proxy, its default",
    "orgkernel gateway",
    "the same, store in memory",
)
_MEMORY = Path("/dev/shm")
_PAGE = b"x" * 4096


class Way(NamedTuple):
    """A way to a tool: the server that is asked, and the path and the headers of its own."""

    server: Server
    path: str = "/mcp"
    keys: Sequence[str] = ("",)
    """The keys of the clients, who take turns; the first one asks where one asks alone."""
    prefix: str = ""
    """What stands before the names of tools."""

    def request(self, asked: dict[str, Any], key: str | None = None) -> bytes:
        """A request as it goes over the wire."""
        headers = {"Host": f"127.0.0.1:{self.server.port}", **headers_of(asked)}
        key = self.keys[0] if key is None else key
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return request_bytes(self.path, headers, json.dumps(asked).encode())

    def call(self, tool: str = "echo") -> bytes:
        """A call of a tool of the first server."""
        return self.request(calling(self.prefix + tool))

    def calls(self) -> list[bytes]:
        """The same call by each client."""
        return [self.request(calling(f"{self.prefix}echo"), key) for key in self.keys]

    def listing(self) -> bytes:
        """A question for the tools."""
        return self.request(message("tools/list", {}))

    def result(self, request: bytes) -> dict[str, Any]:
        """What is answered. Raises `ValueError` for an error."""
        said = json.loads(fetch(self.server.port, request)[1])
        if "result" not in said or said["result"].get("isError"):
            raise ValueError(f"{request.decode()}\n{json.dumps(said)}")
        return dict(said["result"])


class Load(NamedTuple):
    """What a way bears, and what a call takes on it."""

    per_second: float
    saturated_ms: float
    cpu_us: float
    paced: Mapping[float, Sequence[float]]
    """Seconds that each call took at each rate that the way bears."""

    def quantiles_ms(self, rate: float) -> tuple[float, float]:
        """The median and the 99th percentile of the calls at a rate."""
        taken = self.paced[rate]
        return median(taken) * 1e3, percentile(taken) * 1e3


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway", description=__doc__)
    parser.add_argument("--turns", type=int, default=5, help="how often each way is measured, in turns")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each of them lasts")
    parser.add_argument(
        "--rates", type=float, nargs="+", default=[40.0, 320.0], help="calls a second of the second part"
    )
    parser.add_argument("--only", choices=list(_PARTS), help="only this part")
    wanted = parser.parse_args()
    print(", ".join(f"{name} {number}" for name, number in versions().items()))
    for name, part in _PARTS.items():
        if wanted.only in (None, name):
            with TemporaryDirectory() as place:
                try:
                    part(Path(place), wanted)
                except NotMeasured as reason:
                    print(f"{name}: n/a, {reason}")
    return 0


def compare_load(folder: Path, wanted: argparse.Namespace) -> None:
    """One server, sixteen clients."""
    with ExitStack() as stack:
        behind = stack.enter_context(upstream())
        ways = {DIRECT: Way(behind, "/0/mcp")}
        url = f"http://127.0.0.1:{behind.port}/0/mcp"
        for name, kind in ((SHARED, "shared"), (FRESH, "fresh")):
            with missing(name):
                ways[name] = Way(stack.enter_context(proxy(kind, url)))
        with missing(OURS):
            ways[OURS] = open_gateway(stack, folder, behind.port)
        with missing(DISKLESS):
            if not _MEMORY.is_dir():
                raise NotMeasured(f"there is no {_MEMORY}")
            memory = Path(stack.enter_context(TemporaryDirectory(dir=_MEMORY)))
            ways[DISKLESS] = open_gateway(stack, memory, behind.port)
        for each in ways.values():
            (content,) = each.result(each.call())["content"]
            assert content["text"] == "hello", content
        found = measure_load(ways, wanted.turns, wanted.seconds, wanted.rates)
        waits = [disk_seconds(folder) for _ in range(_WRITES)]
    print(f"\none server over HTTP, {CLIENTS} clients, as fast as it goes")
    print(f"{'':28}{'calls/s':>9}{'median':>12}{'own processor':>19}")
    for name, load in found.items():
        print(f"{name:28}{load.per_second:9.0f}{load.saturated_ms:9.1f} ms{load.cpu_us:11.0f} µs/call")
    direct, ours = found[DIRECT], found.get(OURS)
    for rate in direct.paced:
        print(f"\n{rate:g} calls a second\n{'':28}{'median':>12}{'p99':>12}{'added':>12}{'p99':>12}")
        floor = direct.quantiles_ms(rate)
        for name, load in found.items():
            if rate in load.paced:
                taken = load.quantiles_ms(rate)
                added = [each - least for each, least in zip(taken, floor, strict=True)]
                print(f"{name:28}" + "".join(f"{each:9.2f} ms" for each in (*taken, *added)))
    print()
    for name in (SHARED, FRESH):
        if ours is not None and name in found:
            other = found[name]
            print(
                f"the gateway beside {name}: {ours.per_second / other.per_second:.2f} × the calls a second, "
                f"{ours.cpu_us / other.cpu_us:.2f} × the processor time of a call"
            )
    print(
        f"this disk takes {median(waits) * 1e3:.2f} ms for a page, median; {percentile(waits) * 1e3:.2f} ms, p99"
    )
    if ours is not None:
        print("goals: 1 ms added, median; 3 ms, p99; 5 × the calls a second of a FastMCP proxy")


def open_gateway(stack: ExitStack, folder: Path, port: int) -> Way:
    """The gateway before one server, with all that it has in a folder. Raises `NotMeasured`."""
    write_organization(folder, CLIENTS, 1)
    keys = create_keys(folder, CLIENTS)
    return Way(stack.enter_context(gateway(folder, write_config(folder, port, 1))), keys=keys, prefix="s0__")


def disk_seconds(folder: Path) -> float:
    """How long the disk takes until it has another page of a file."""
    with (folder / "pages").open("ab", buffering=0) as file:
        start = time.perf_counter()
        file.write(_PAGE)
        os.fdatasync(file.fileno())
        return time.perf_counter() - start


def measure_load(
    ways: Mapping[str, Way], turns: int, seconds: float, rates: Sequence[float]
) -> dict[str, Load]:
    """Each way in turns; medians of the turns, and all calls at the rates, which only ways that bear twice as much have."""
    bursts: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    paced: dict[str, dict[float, list[float]]] = {name: {} for name in ways}
    for way in ways.values():
        run_burst(way.server.port, way.calls(), CLIENTS, _WARM, patient=True)
    for _ in range(turns):
        for name, way in ways.items():
            before = way.server.processor_seconds
            burst = run_burst(way.server.port, way.calls(), CLIENTS, seconds, patient=True)
            after = way.server.processor_seconds
            used = float("nan") if before is None or after is None else after - before
            bursts[name].append(
                (burst.per_second, median(burst.latencies) * 1e3, used / len(burst.latencies) * 1e6)
            )
    found = {name: [median(column) for column in zip(*those, strict=True)] for name, those in bursts.items()}
    for rate in rates:
        steady = [name for name, (per_second, *_) in found.items() if per_second >= 2 * rate]
        for _ in range(turns):
            for name in steady:
                way = ways[name]
                taken = run_paced(way.server.port, way.call(), CLIENTS, rate, seconds).latencies
                paced[name].setdefault(rate, []).extend(taken)
    return {name: Load(*those, paced[name]) for name, those in found.items()}


def measure_memory(folder: Path, wanted: argparse.Namespace) -> None:
    """What a further role costs: it has listed its tools and called one, and is idle."""
    write_organization(folder, _ROLES, 1)
    keys = create_keys(folder, _ROLES)
    with upstream(1, _TOOLS) as behind, gateway(folder, write_config(folder, behind.port, 1)) as server:

        def use(some: Sequence[str]) -> int:
            for key in some:
                way = Way(server, keys=(key,), prefix="s0__")
                way.result(way.listing())
                way.result(way.call())
            found = server.resident_bytes
            if found is None:
                raise NotMeasured("the system does not say how much memory a process has")
            return found

        # What the first hundred requests leave is not the roles': the same number by one of them comes before.
        one = use(keys[:1] * _ROLES)
        all_of_them = use(keys)
    print(
        f"\nmemory: {one / 2**20:.1f} MiB with one role, {all_of_them / 2**20:.1f} MiB with {_ROLES}: "
        f"{(all_of_them - one) / (_ROLES - 1) / 1024:.1f} KiB for each further role, which has {_TOOLS} tools"
    )


def measure_many_tools(folder: Path, wanted: argparse.Namespace) -> None:
    """A thousand tools of fifty servers: listing, and calling one of them."""
    write_organization(folder, 1, _SERVERS)
    (key,) = create_keys(folder, 1)
    with ExitStack() as stack:
        behind = stack.enter_context(upstream(_SERVERS, _TOOLS))
        config = write_config(folder, behind.port, _SERVERS)
        ways = {DIRECT: Way(behind, "/0/mcp")}
        with missing(SHARED):
            ways[SHARED] = Way(stack.enter_context(proxy("shared", str(config))), prefix="s0_")
        with missing(OURS):
            ways[OURS] = Way(stack.enter_context(gateway(folder, config)), keys=(key,), prefix="s0__")
        print(f"\n{_SERVERS * _TOOLS:,} tools of {_SERVERS} servers, one client")
        print(f"{'':28}{'tools':>7}{'bytes':>10}{'first list':>13}{'list':>11}{'call':>11}{'p99':>11}")
        for name, way in ways.items():
            request = way.listing()
            start = time.perf_counter()
            tools = way.result(request)["tools"]
            first = time.perf_counter() - start
            size = len(fetch(way.server.port, request)[1])
            listed = run_burst(way.server.port, [request], 1, wanted.seconds, patient=True)
            way.result(way.call())
            called = run_burst(way.server.port, [way.call()], 1, wanted.seconds, patient=True)
            print(
                f"{name:28}{len(tools):7}{size:10,}{first * 1e3:10.1f} ms{median(listed.latencies) * 1e3:8.1f} ms"
                f"{median(called.latencies) * 1e3:8.2f} ms{percentile(called.latencies) * 1e3:8.2f} ms"
            )


def compare_stdio(folder: Path, wanted: argparse.Namespace) -> None:
    """One client, with every server on standard input and output."""
    write_organization(folder, 1, 1)
    create_keys(folder, 1)
    config = write_stdio_config(folder)
    (server,) = json.loads(config.read_text(encoding="utf-8"))["mcpServers"].values()
    ours = [
        *ORGKERNEL, "gateway", "--org", "bench", "--role", "role_0", "--mcp-config", str(config), "--path", "org",
    ]  # fmt: skip
    commands: dict[str, Callable[[], list[str]]] = {
        DIRECT: lambda: [server["command"], *server["args"]],
        SHARED: lambda: proxy_command("stdio", str(config)),
        OURS: lambda: ours,
    }
    print(
        f"\none client on standard input and output, {_ALONE} calls one after the other, in {wanted.turns} turns"
    )
    taken: dict[str, list[float]] = {}
    with ExitStack() as stack:
        asked = {}
        for name, command in commands.items():
            with missing(name):
                process = stack.enter_context(started(command(), subprocess.PIPE, folder))
                asked[name] = process, calling("s0__echo" if name == OURS else "echo")
                ask_on_stdio(process, asked[name][1], 20)
        for _ in range(wanted.turns):
            for name, (process, call) in asked.items():
                taken.setdefault(name, []).extend(ask_on_stdio(process, call, _ALONE))
    for name, times in taken.items():
        added = median(times) - median(taken[DIRECT])
        print(
            f"{name:28}{median(times) * 1e3:8.2f} ms median{percentile(times) * 1e3:8.2f} ms p99"
            f"{added * 1e3:8.2f} ms added"
        )


def ask_on_stdio(process: subprocess.Popen[str], asked: dict[str, Any], count: int) -> list[float]:
    """The seconds that each of some calls takes."""
    line = json.dumps(asked) + "\n"
    assert process.stdin is not None
    assert process.stdout is not None
    times = []
    for _ in range(count):
        start = time.perf_counter()
        process.stdin.write(line)
        process.stdin.flush()
        while True:
            said = process.stdout.readline()
            if not said:
                raise NotMeasured("a server on standard input and output has ended")
            found = json.loads(said)
            if "id" in found:
                break
        times.append(time.perf_counter() - start)
        if "result" not in found or found["result"].get("isError"):
            raise ValueError(said)
    return times


def percentile(times: Sequence[float]) -> float:
    """The 99th percentile."""
    return quantiles(times, n=100)[98] if len(times) > 1 else times[0]


@contextmanager
def missing(name: str) -> Iterator[None]:
    """Say why a way is not measured, and go on without it."""
    try:
        yield
    except NotMeasured as reason:
        print(f"{name}: n/a, {reason}")


_PARTS: dict[str, Callable[[Path, argparse.Namespace], None]] = {
    "load": compare_load,
    "stdio": compare_stdio,
    "memory": measure_memory,
    "tools": measure_many_tools,
}


if __name__ == "__main__":
    sys.exit(main())
