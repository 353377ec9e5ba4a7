"""A role's manifest over HTTP: answered again, and answered for the first time, each beside what else would answer it.

Both servers run at once and are asked in short turns, so that what else the machine does hits both. Processor time per
answer is the server's own and hardly depends on that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import msgspec

from benchmarks.load_generator import fetch, request_bytes, run_burst
from benchmarks.questions import ORG
from benchmarks.serving import ASKED

CONNECTIONS = 16
_BURSTS, _SECONDS = 7, 0.7
_PATIENCE = 600
_TICKS = os.sysconf("SC_CLK_TCK")


def http_again(folder: Path) -> dict[str, Any]:
    """From the response cache, beside a bare application that says the same head and body, and the same body only."""
    request = request_bytes(f"/v1/orgs/{ORG}/roles/role_7", {"Accept": "application/json"})
    with ExitStack() as servers, tempfile.TemporaryDirectory() as place:
        ours = servers.enter_context(serving("ours", str(folder)))
        head, body = fetch(ours.port, request)
        small = b"\r\n".join(
            line for line in head.split(b"\r\n") if line.lower().startswith((b"http/", b"content-"))
        )
        files = {"head": head, "small": small, "body": body}
        for name, said in files.items():
            (Path(place) / name).write_bytes(said)
        same = servers.enter_context(serving("bare", *(f"{place}/{each}" for each in (".", "head", "body"))))
        plain = servers.enter_context(
            serving("bare", *(f"{place}/{each}" for each in (".", "small", "body")))
        )
        assert _lines(fetch(same.port, request)) == _lines((head, body)), (
            "the bare application says something else"
        )
        assert fetch(plain.port, request)[1] == body
        answer = compare({"ours": ours, "bare": same, "bare_body_only": plain}, [request])
        assert fetch(ours.port, request)[1] == body, "the answer changed while it was measured"
    return {**answer, "bytes": len(body)}


def http_first(folder: Path) -> dict[str, Any]:
    """Nothing kept, two hundred roles in turn, beside FastAPI with a `response_model`: over the same kernel,
    and over answers that are ready.
    """
    requests = [request_bytes(f"/v1/orgs/{ORG}/roles/role_{number}") for number in range(ASKED)]
    with ExitStack() as servers:
        ours = servers.enter_context(serving("ours_keeping_nothing", str(folder)))
        theirs = {
            kind: servers.enter_context(serving(kind, str(folder)))
            for kind in ("response_model", "response_model_of_ready")
        }
        for request in requests[:20]:
            said = [msgspec.json.decode(fetch(each.port, request)[1]) for each in (ours, *theirs.values())]
            assert said == said[:1] * 3, "they say different things"
        return compare({"ours": ours, **theirs}, requests)


class Server:
    """A server that runs, and what it has used."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.port = port
        self._stat = Path(f"/proc/{process.pid}/stat")
        self._memory = Path(f"/proc/{process.pid}/statm")

    @property
    def processor_seconds(self) -> float | None:
        """Processor time it has used; None where the system does not say."""
        if not self._stat.exists():
            return None
        fields = self._stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def resident_bytes(self) -> int | None:
        """Memory it has now; None where the system does not say."""
        if not self._memory.exists():
            return None
        return int(self._memory.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def serving(kind: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server of a kind that `serving.py` knows, for as long as it is needed. `environment` adds to that of this process."""
    command = [sys.executable, "-m", "benchmarks.serving", kind, *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
    )
    assert process.stdout is not None
    try:
        yield Server(process, int(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait(_PATIENCE)
        process.stdout.close()


def compare(
    servers: dict[str, Server], requests: Sequence[bytes], connections: int = CONNECTIONS
) -> dict[str, Any]:
    """What each of them answers, asked in short turns: answers a second, p99, processor time an answer."""
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in servers}
    for server in servers.values():
        run_burst(server.port, requests, connections, 0.3)
    for _ in range(_BURSTS):
        for name, server in servers.items():
            before = server.processor_seconds
            burst = run_burst(server.port, requests, connections, _SECONDS)
            after = server.processor_seconds
            used = (after - before) if before is not None and after is not None else float("nan")
            p99 = quantiles(burst.latencies, n=100)[98]
            taken[name].append((burst.per_second, p99 * 1e3, used / len(burst.latencies) * 1e6))
            time.sleep(0.02)
    return {
        name: {
            key: median(each[place] for each in those)
            for place, key in enumerate(("per_second", "p99_ms", "cpu_us"))
        }
        for name, those in taken.items()
    }


def _lines(answer: tuple[bytes, bytes]) -> tuple[list[bytes], bytes]:
    """An answer without its date and the order of its headers."""
    head, body = answer
    lines = [line.lower() for line in head.split(b"\r\n")]
    return sorted(line for line in lines if not line.startswith(b"date:")), body
