"""The metrics of a server, in the formats of Prometheus and OpenMetrics (docs/how-to/observe.md).

What is counted for every request is counted in plain numbers, because the counters of the library lock and would cost
more than a decision; they become metrics when a scrape reads them. All label values come from this program, never
from a request: templates of paths, statuses, codes and outcomes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import add
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client import Counter as Counted
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.types import Scope

from manifest_api.current_request import PROBLEM, get_route
from manifest_api.status import build_standings, count_severity
from orgkernel import __version__
from orgkernel.diagnostics import Severity
from orgkernel.errors import OrgkernelError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from manifest_api.answering import Answers
    from manifest_api.feed import Feed
    from manifest_api.guards.connections import Connections
    from manifest_api.response_cache import ResponseCache
    from manifest_api.store_access import StoreAccess

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets for the duration of requests. The fastest answers take less than a millisecond."""
_RELOAD_SECONDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER = "other"


class RequestCounts(Collector):
    """Requests, their duration, problems and decisions. Used from one event loop."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, str, int], list[float]] = {}
        """Requests per bucket and, as the last value, the sum of all seconds, keyed by method, route and status."""
        self._problems: Counter[str] = Counter()
        self._decisions: Counter[tuple[str, ...]] = Counter()

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        key = scope["method"], get_route(scope), status
        counts = self._requests.get(key)
        if counts is None:
            counts = self._begin(*key)
        counts[bisect_left(_SECONDS, seconds)] += 1
        counts[-1] += seconds
        if status >= 400 and PROBLEM in scope:
            self._problems[scope[PROBLEM]] += 1

    def _begin(self, method: str, route: str, status: int) -> list[float]:
        """The counts of a new kind of request. All unknown methods are counted as one."""
        key = (method if method in _METHODS else _OTHER, route, status)
        return self._requests.setdefault(key, [0.0] * (len(_SECONDS) + 2))

    def decided(self, outcome: str, surface: str) -> None:
        """Count a decision that was answered."""
        self._decisions[outcome, surface] += 1

    def collect(self) -> Iterator[Metric]:
        """All counts as metrics."""
        requests: dict[tuple[str, ...], float] = {}
        by_route: dict[str, list[float]] = {}
        for (method, route, status), counts in dict(self._requests).items():
            requests[method, route, str(status)] = sum(counts[:-1])
            known = by_route.get(route)
            by_route[route] = [*counts] if known is None else list(map(add, known, counts))
        yield _build_labeled_metric(
            CounterMetricFamily, "orgkernel_http_requests",
            "Requests by method, template of the path, and status (0 if the client left before).",
            ("method", "route", "status"), requests,
        )  # fmt: skip
        durations = HistogramMetricFamily(
            "orgkernel_http_request_duration_seconds",
            "Time until the response was handed to the server.",
            labels=("route",),
        )
        for route, (*buckets, total) in by_route.items():
            durations.add_metric((route,), list(_sum_buckets(buckets)), total)
        yield durations
        yield _build_labeled_metric(
            CounterMetricFamily, "orgkernel_problems", "Problem documents that were sent, by code.", ("code",),
            dict(self._problems),
        )  # fmt: skip
        yield _build_labeled_metric(
            CounterMetricFamily, "orgkernel_decisions", "Decisions by outcome and surface.",
            ("outcome", "surface"), dict(self._decisions),
        )  # fmt: skip


def _sum_buckets(buckets: Iterable[float]) -> Iterator[tuple[str, float]]:
    total = 0.0
    for bound, count in zip((*map(str, _SECONDS), "+Inf"), buckets, strict=True):
        total += count
        yield bound, total


class Metrics:
    """All metrics of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = RequestCounts()
        self.registry.register(self.requests)
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        registry = self.registry
        build = Gauge(
            "orgkernel_build_info", "The version of the server; always 1.", ("version",), registry=registry
        )
        build.labels(__version__).set(1)
        self._reload_seconds = Histogram(
            "orgkernel_reload_duration_seconds", "Time that a reload of the documents took.",
            buckets=_RELOAD_SECONDS, registry=registry,
        )  # fmt: skip
        self._reloads = Counted(
            "orgkernel_reloads", "Reloads of the documents, by result: ok, failed, overrun.", ("result",),
            registry=registry,
        )  # fmt: skip
        for result in ("ok", "failed", "overrun"):
            self._reloads.labels(result)  # a series that begins with its first failure hides the increase
        self._loaded_at = Gauge(
            "orgkernel_last_load_timestamp_seconds",
            "Time of the last load of the documents that succeeded, in seconds since 1970.",
            registry=registry,
        )
        self._loaded_at.set_to_current_time()

    def reloaded(self, result: str, seconds: float) -> None:
        """Count a reload that ended, or that has overrun its limit."""
        self._reloads.labels(result).inc()
        if result == "overrun":
            return  # its end is counted too
        self._reload_seconds.observe(seconds)
        if result == "ok":
            self._loaded_at.set_to_current_time()

    def render(self, accept: str) -> tuple[bytes, str]:
        """All metrics in the format that a client accepts, and its media type."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type


class ServerState(Collector):
    """Current values: organizations, findings, store, caches, connections and streams."""

    def __init__(
        self,
        answers: Answers,
        store_access: StoreAccess,
        feed: Feed,
        caches: Callable[[], dict[str, ResponseCache[Any, Any]]],
        is_draining: Callable[[], bool],
    ) -> None:
        self._answers = answers
        self._store_access = store_access
        self._feed = feed
        self._caches = caches
        self._is_draining = is_draining
        self.connections: Connections | None = None
        """The connections of `serve`. None for an application under another server."""

    def describe(self) -> Iterable[Metric]:
        """Describe nothing, so the registry does not collect at the start."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The values now."""
        yield from self._collect_organizations()
        yield from self._store()
        yield from self._collect_caches()
        yield from self._load()

    def _collect_organizations(self) -> Iterator[Metric]:
        state = self._answers.kernel.state
        standings = Counter(each.standing for each in build_standings(state))
        yield _build_labeled_metric(
            GaugeMetricFamily, "orgkernel_organizations", "Organizations that are served, stale or refused.",
            ("standing",),
            {name: standings[name] for name in ("served", "stale", "refused")},
        )  # fmt: skip
        roles = sum(len(each.snapshot.index.roles) for each in state.served.values())
        yield GaugeMetricFamily("orgkernel_roles", "Roles of all organizations that answer.", value=roles)
        diagnostics = state.latest.diagnostics
        yield _build_labeled_metric(
            GaugeMetricFamily, "orgkernel_findings", "Findings in the documents on disk.", ("severity",),
            {each.value: count_severity(diagnostics, each) for each in Severity},
        )  # fmt: skip
        yield GaugeMetricFamily(
            "orgkernel_reload_failing",
            "1 while the last reload failed or has not ended in time.",
            value=int(self._answers.reading_failed),
        )

    def _store(self) -> Iterator[Metric]:
        access, room = self._store_access, self._store_access.capacity
        readable: int | None = None
        store = None
        try:
            store = access.held()
            readable = None if store is None else 1
        except OrgkernelError:
            readable = 0
        yield _build_gauge(
            "orgkernel_store_readable", "1 if the store can be read. Absent without a store.", readable
        )
        yield GaugeMetricFamily(
            "orgkernel_store_size_bytes", "Size of the store when it was measured last.", value=room.used
        )
        yield GaugeMetricFamily("orgkernel_store_budget_bytes", "Budget of the store.", value=room.budget)
        yield _build_gauge(
            "orgkernel_store_disk_free_bytes", "Free space on the disk of the store.", room.free()
        )
        yield _build_gauge(
            "orgkernel_audit_queue_length",
            "Audit rows and changes that wait for the disk.",
            None if store is None else store.waiting,
        )
        yield _build_gauge(
            "orgkernel_checkpoints_failing",
            "1 while the checkpoints of the audit cannot be written.",
            None if store is None else int(store.problem is not None),
        )

    def _collect_caches(self) -> Iterator[Metric]:
        caches = self._caches()
        for name, about, values in (
            ("orgkernel_cache_hits", "Answers from a cache.", {each: caches[each].hits for each in caches}),
            ("orgkernel_cache_misses", "Answers that were not in a cache.", {each: caches[each].misses for each in caches}),
        ):  # fmt: skip
            yield _build_labeled_metric(CounterMetricFamily, name, about, ("cache",), values)
        yield _build_labeled_metric(
            GaugeMetricFamily, "orgkernel_cache_bytes", "Approximate size of a cache in memory.", ("cache",),
            {each: caches[each].bytes for each in caches},
        )  # fmt: skip

    def _load(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "orgkernel_report_streams", "Clients that follow the reports.", value=self._feed.followers
        )
        yield GaugeMetricFamily(
            "orgkernel_draining", "1 while the server is closing.", value=int(self._is_draining())
        )
        connections = self.connections
        yield _build_gauge(
            "orgkernel_connections",
            "Open connections.",
            None if connections is None else connections.open_count,
        )
        yield _build_gauge(
            "orgkernel_connections_limit",
            "Maximum number of open connections.",
            None if connections is None else connections.most,
        )
        yield _build_labeled_metric(
            CounterMetricFamily, "orgkernel_connections_closed",
            "Connections that were closed at a limit, by reason.", ("reason",),
            {} if connections is None else dict(connections.closed),
        )  # fmt: skip


def _build_gauge(name: str, about: str, value: float | None) -> GaugeMetricFamily:
    """A gauge. It has no sample while the value is not known."""
    return GaugeMetricFamily(name, about, value=value)


def _build_labeled_metric(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    about: str,
    labels: tuple[str, ...],
    values: Mapping[str, float] | Mapping[tuple[str, ...], float],
) -> Metric:
    """A family with a sample for each value of its label, or for each tuple of values of its labels."""
    family = kind(name, about, labels=labels)
    for value, number in values.items():
        family.add_metric((value,) if isinstance(value, str) else value, number)
    return family


def count_decision(request: Request, outcome: str, surface: str) -> None:
    """Count a decision that a route has answered."""
    metrics: Metrics = request.app.state.metrics
    metrics.requests.decided(outcome, surface)
