"""OpenTelemetry: what a collector receives when the environment names one, and that nothing happens otherwise."""

from __future__ import annotations

import gzip
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from manifest_api.telemetry import list_exporters, open_telemetry
from tests.api.asking import ORG
from tests.api.keys import bearer, first_key, location_of
from tests.api.running import Server, running, until
from tests.support.trees import REPOSITORY, copy_template

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
_SHAPES: dict[str, Any] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
}


class Collector:
    """A collector that speaks OTLP over HTTP."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            """Takes what is sent."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                message = _SHAPES[self.path]()
                message.ParseFromString(body)
                received.append(message)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self) -> list[Any]:
        """All spans."""
        traces = [each for each in self.received if isinstance(each, ExportTraceServiceRequest)]
        return [
            span
            for each in traces
            for of in each.resource_spans
            for scope in of.scope_spans
            for span in scope.spans
        ]

    @property
    def metrics(self) -> dict[str, Any]:
        """The latest metrics by name."""
        sent = [each for each in self.received if isinstance(each, ExportMetricsServiceRequest)]
        return {
            metric.name: metric
            for each in sent
            for of in each.resource_metrics
            for scope in of.scope_metrics
            for metric in scope.metrics
        }


class Told:
    """A server that tells a collector."""

    def __init__(self, server: Server, collector: Collector, key: str) -> None:
        self.server = server
        self.collector = collector
        self.secret = key
        self.key = bearer(key)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """One server for the module."""
    folder = tmp_path_factory.mktemp("telemetry")
    copy_template(folder / ORG, ORG)
    key = first_key(location_of(folder / "state.db"))
    collector = Collector()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        patch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "300")
        patch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
        with running(folder, folder / ORG, store=folder / "state.db") as server:
            yield Told(server, collector, key)
    collector.close()


def attributes(span: Any) -> dict[str, Any]:
    """The attributes of a span or a resource."""
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


def test_a_request_is_a_span_in_the_trace_of_its_caller(told: Told) -> None:
    """With the template of the path, the request id and the key id, and a part for the audit; never the query."""
    question = {
        "subject": {"type": "role", "id": "codegen_specialist"}, "action": {"name": "use"},
        "resource": {"type": "tool", "id": "text_editor"},
    }  # fmt: skip
    headers = {**told.key, "traceparent": f"00-{TRACE}-{PARENT}-01", "x-request-id": "mine"}
    assert told.server.client.post("/access/v1/evaluation", json=question, headers=headers).status_code == 200
    told.server.get(f"/v1/orgs/{ORG}/roles/{told.secret}?hidden={told.secret}", headers=told.key)
    spans = until(lambda: told.collector.spans, lambda found: sum(each.kind == 2 for each in found) >= 2)
    mine = {each.name: each for each in spans if each.trace_id.hex() == TRACE}
    assert set(mine) == {"POST /access/v1/evaluation", "audit"}
    request, audit = mine["POST /access/v1/evaluation"], mine["audit"]
    assert (request.parent_span_id.hex(), audit.parent_span_id) == (PARENT, request.span_id)
    said = attributes(request)
    assert said["orgkernel.caller"].startswith("caller:")
    assert {name: said[name] for name in ("http.route", "http.response.status_code", "orgkernel.request_id")} == {
        "http.route": "/access/v1/evaluation", "http.response.status_code": 200, "orgkernel.request_id": "mine",
    }  # fmt: skip
    (refused,) = (each for each in spans if each.name == "GET /v1/orgs/{org}/roles/{role}")
    assert attributes(refused)["error.type"] == "INVALID_REQUEST"
    everything = str(told.collector.received)
    assert told.secret not in everything
    assert "hidden" not in everything


def test_the_metrics_are_sent_too(told: Told) -> None:
    """The duration of requests by the semantic conventions, and the counters and gauges of `/metrics`."""
    told.server.get("/livez")
    wanted = {"http.server.request.duration", "orgkernel_organizations", "orgkernel_http_requests"}
    metrics = until(lambda: told.collector.metrics, lambda found: wanted <= set(found))
    assert {"orgkernel_store_readable", "orgkernel_audit_queue_length", "orgkernel_connections"} <= set(
        metrics
    )
    served = {
        attributes(point)["standing"]: point.as_double or point.as_int
        for point in metrics["orgkernel_organizations"].gauge.data_points
    }
    assert served == {"served": 1, "stale": 0, "refused": 0}


def test_the_server_has_a_name(told: Told) -> None:
    """Ours, unless the environment has another one; its other attributes are sent."""
    until(lambda: told.collector.received, bool)
    of = next(
        iter(
            getattr(told.collector.received[0], "resource_spans", None)
            or told.collector.received[0].resource_metrics
        )
    )
    said = attributes(of.resource)
    assert (said["service.name"], said["deployment.environment"]) == ("orgkernel", "test")


def test_what_is_left_is_sent_at_the_end(tmp_path: Path) -> None:
    """Remaining spans are sent when the server ends. A collector that does not answer delays the end only
    briefly, and the log reports the problem.
    """
    copy_template(tmp_path / ORG, ORG)
    collector = Collector()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.url}/v1/traces")
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
        with running(tmp_path, tmp_path / ORG) as server:
            server.get("/livez")
            collected = collector.spans
            assert server.stop() == 0
    collector.close()
    assert not [each for each in collected if each.name == "GET /livez"]
    assert [each.name for each in collector.spans if each.kind == 2] == ["GET /livez"]
    assert not collector.metrics


def test_nothing_is_imported_unless_it_is_asked_for(tmp_path: Path) -> None:
    """The framework imports the interface of OpenTelemetry by itself; what records and sends is not there."""
    copy_template(tmp_path, ORG)
    program = (
        "import sys, os\nfrom manifest_api import create_app\nfrom manifest_api.telemetry import open_telemetry\n"
        "from orgkernel.kernel.kernel import Kernel\ncreate_app(Kernel.open(sys.argv[1]), telemetry=open_telemetry({}))\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.replace("'", '"')) == []


ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize(
    ("environment", "traces", "metrics"),
    [
        ({}, (), ()),
        ({"OTEL_SERVICE_NAME": "x"}, (), ()),
        ({ENDPOINT: "http://c"}, ("otlp_proto_http",), ("otlp_proto_http",)),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c"}, (), ("otlp_proto_http",)),
        ({ENDPOINT: "http://c", "OTEL_METRICS_EXPORTER": "none"}, ("otlp_proto_http",), ()),
        ({ENDPOINT: "http://c", "OTEL_SDK_DISABLED": "true"}, (), ()),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, ("console", "otlp_proto_http"), ()),
        ({ENDPOINT: "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_METRICS_EXPORTER": "none"},
         ("otlp_proto_grpc",), ()),
    ],
)  # fmt: skip
def test_the_environment_says_what_is_sent(
    environment: dict[str, str], traces: tuple[str, ...], metrics: tuple[str, ...]
) -> None:
    """By the variables of the standard. An endpoint alone means OTLP over HTTP."""
    assert (list_exporters(environment, "TRACES"), list_exporters(environment, "METRICS")) == (
        traces,
        metrics,
    )


def test_an_exporter_that_is_not_installed_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """The server serves without it."""
    with caplog.at_level(logging.WARNING):
        assert open_telemetry({"OTEL_TRACES_EXPORTER": "carrier_pigeon"}) is None
    assert "carrier_pigeon is not installed; install the extra `orgkernel[otel]`" in caplog.text
