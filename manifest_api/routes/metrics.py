"""The metrics of this server."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from manifest_api.metrics import Metrics
from manifest_api.questions import KNOWN_PARAMETERS

router = APIRouter(tags=["metrics"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])


@router.get(
    "/metrics",
    responses={
        200: {
            "description": "The metrics, in the text format of Prometheus or OpenMetrics.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        }
    },
)
async def get_metrics(request: Request) -> Response:
    """Get the metrics of this server for Prometheus."""
    metrics: Metrics = request.app.state.metrics
    body, media_type = await run_in_threadpool(metrics.render, request.headers.get("accept", ""))
    return Response(body, headers={"Content-Type": media_type})
