"""OpenTelemetry traces and metrics, if the environment configures them (docs/how-to/observe.md, ADR 0029).

The standard variables `OTEL_*` configure what is sent where. OpenTelemetry is imported only if one of them is set.
Otherwise, requests have no extra cost.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from threading import Thread
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.current_request import NO_ROUTE, PROBLEM, REQUEST_ID, get_route
from manifest_api.guards.caller import get_caller_name
from manifest_api.spans import set_tracer
from orgkernel import __version__
from orgkernel.diagnostics.wording import clean

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

logger = logging.getLogger("orgkernel.server")

_SIGNALS = ("TRACES", "METRICS")
_PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
_CLOSING_SECONDS = 3.0
"""Seconds that the last spans and metrics may take to be sent when the server ends."""
_FRESH_SECONDS = 1.0
_MAX_VALUE_LENGTH = 500


def list_exporters(environment: Mapping[str, str], signal: str) -> tuple[str, ...]:
    """The exporters that the environment names for `TRACES` or `METRICS`. An endpoint alone means OTLP."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    names_text = environment.get(f"OTEL_{signal}_EXPORTER", "").strip()
    if not names_text:
        endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
        names_text = "otlp" if any(environment.get(name) for name in endpoints) else "none"
    names = [name.strip() for name in names_text.split(",")]
    protocol = (
        environment.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL")
        or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "http/protobuf"
    )
    otlp = _PROTOCOLS.get(protocol.strip(), protocol)
    return tuple(otlp if name == "otlp" else name for name in names if name != "none")


def open_telemetry(environment: Mapping[str, str]) -> Telemetry | None:
    """Start telemetry as the environment configures it. None if it configures none, or if packages are missing."""
    wanted = {signal: list_exporters(environment, signal) for signal in _SIGNALS}
    if not any(wanted.values()):
        return None
    try:
        traced = [_load("opentelemetry_traces_exporter", name)() for name in wanted["TRACES"]]
        measured = [_load("opentelemetry_metrics_exporter", name)() for name in wanted["METRICS"]]
        return Telemetry(environment, traced, measured)
    except ImportError as error:
        logger.warning(
            "OpenTelemetry is configured and cannot be used: %s; install the extra `orgkernel[otel]`, or unset OTEL_*",
            error,
        )
        return None


def _load(group: str, name: str) -> Callable[[], Any]:
    """The class of an exporter that is installed. Raises `ImportError`."""
    for entry_point in entry_points(group=group, name=name):
        loaded: Callable[[], Any] = entry_point.load()
        return loaded
    raise ImportError(f"the exporter {name} is not installed")


class Telemetry:
    """Sends traces and metrics. There is one in a process."""

    def __init__(
        self, environment: Mapping[str, str], traced: Iterable[Any], measured: Iterable[Any]
    ) -> None:
        """`traced` and `measured` are exporters of the SDK."""
        from opentelemetry.sdk.resources import Resource

        named = "OTEL_SERVICE_NAME" in environment or "service.name=" in environment.get(
            "OTEL_RESOURCE_ATTRIBUTES", ""
        )
        resource = Resource.create(
            {"service.version": __version__} | ({} if named else {"service.name": "orgkernel"})
        )
        self._traces = _open_traces(resource, traced)
        self._metrics = _open_metrics(resource, measured)
        self._tracer = self._traces.get_tracer("orgkernel", __version__)
        set_tracer(self._tracer)
        meter = self._metrics.get_meter("orgkernel", __version__)
        self._meter = meter
        self._requests = meter.create_histogram("http.server.request.duration", "s", "Duration of requests.")
        self._reloads = meter.create_histogram(
            "orgkernel.reload.duration", "s", "Time that a reload of the documents took."
        )
        self._families: dict[str, Metric] = {}
        self._collected = 0.0

    def traced(self, app: ASGIApp, registry: CollectorRegistry) -> ASGIApp:
        """An application whose requests are spans, and whose metrics are sent."""
        self._send(registry)
        return Traced(app, self._tracer)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Measure a request that was answered."""
        self._requests.record(seconds, _build_attributes(scope, status))

    def reloaded(self, result: str, seconds: float) -> None:
        """Note a reload."""
        self._reloads.record(seconds, {"result": result})
        now = time.time_ns()
        began = now - int(seconds * 1e9)
        reload = self._tracer.start_span("reload", start_time=began, attributes={"orgkernel.result": result})
        reload.end(now)

    def _send(self, registry: CollectorRegistry) -> None:
        """Send the counters and gauges of `/metrics` too."""
        for family in registry.collect():
            if family.type in ("counter", "gauge") and not family.name.endswith("_created"):
                make = (
                    self._meter.create_observable_counter
                    if family.type == "counter"
                    else self._meter.create_observable_gauge
                )
                make(
                    family.name, [self._build_reader(registry, family.name)], description=family.documentation
                )

    def close(self) -> None:
        """Send remaining data. It does not wait long for a collector that does not answer."""
        set_tracer(None)
        closing = [Thread(target=each.shutdown, daemon=True) for each in (self._traces, self._metrics)]
        for thread in closing:
            thread.start()
        end = time.monotonic() + _CLOSING_SECONDS
        for thread in closing:
            thread.join(max(0.0, end - time.monotonic()))

    def _build_reader(
        self, registry: CollectorRegistry, name: str
    ) -> Callable[[CallbackOptions], Iterable[Observation]]:
        from opentelemetry.metrics import Observation

        def read(options: CallbackOptions) -> Iterable[Observation]:
            if time.monotonic() - self._collected > _FRESH_SECONDS:
                self._families = {family.name: family for family in registry.collect()}
                self._collected = time.monotonic()
            family = self._families.get(name)
            samples = () if family is None else family.samples
            return [
                Observation(each.value, each.labels) for each in samples if not each.name.endswith("_created")
            ]

        return read


class Traced:
    """A span for each request. It continues the trace of the caller, if there is one."""

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        self._app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, StatusCode

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        # By default, the message of an exception would be recorded, which could contain anything.
        with self._tracer.start_as_current_span(
            scope["method"], context=extract(headers), kind=SpanKind.SERVER, record_exception=False,
            set_status_on_exception=False,
        ) as request:  # fmt: skip
            try:
                await self._app(scope, receive, send_noting)
            finally:
                route = get_route(scope)
                if route != NO_ROUTE:
                    request.update_name(f"{scope['method']} {route}")
                request.set_attributes(
                    {
                        **_build_attributes(scope, status),
                        "url.path": clean(scope["path"][:_MAX_VALUE_LENGTH]),
                        "orgkernel.request_id": clean(
                            scope.get(REQUEST_ID, b"")[:_MAX_VALUE_LENGTH].decode("latin-1")
                        ),
                        "orgkernel.caller": clean(get_caller_name(scope)),
                    }
                )
                if status >= 500 or not status:
                    request.set_status(StatusCode.ERROR)


def _build_attributes(scope: Scope, status: int) -> dict[str, str | int]:
    """The attributes of a request by the semantic conventions. None of them is a string from the client."""
    attributes: dict[str, str | int] = {
        "http.request.method": scope["method"],
        "http.route": get_route(scope),
        "http.response.status_code": status,
        "url.scheme": scope.get("scheme", "http"),
    }
    if PROBLEM in scope and status >= 400:
        attributes["error.type"] = scope[PROBLEM]
    return attributes


def _open_traces(resource: Resource, exporters: Iterable[Any]) -> TracerProvider:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _open_metrics(resource: Resource, exporters: Iterable[Any]) -> MeterProvider:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader

    readers = [
        each if isinstance(each, MetricReader) else PeriodicExportingMetricReader(each) for each in exporters
    ]
    return MeterProvider(resource=resource, metric_readers=readers, shutdown_on_exit=False)
