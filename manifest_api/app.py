"""`create_app`: the ASGI application over one kernel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from manifest_api.access_log import AccessLog
from manifest_api.answering import Answers
from manifest_api.guards.faults import Faults
from manifest_api.guards.gate import Gate
from manifest_api.guards.head import HeadAsGet
from manifest_api.guards.headers import StandardHeaders
from manifest_api.guards.limits import BodyLimits
from manifest_api.openapi import ROUTERS, TITLE, build_openapi
from manifest_api.refusals import install_refusals
from manifest_api.reloading import Reloader
from manifest_api.representing import Representing
from orgkernel import __version__
from orgkernel.kernel.kernel import Kernel


class _Registry(FastAPI):
    """The application with the gate before everything the framework does."""

    gate: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.gate(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What the gate lets in."""
        await super().__call__(scope, receive, send)


def create_app(kernel: Kernel, *, watch: bool = False, access_log: bool = False) -> FastAPI:
    """An application that answers from a kernel; with `watch` it reads the documents again when they change.

    With `access_log` every request is logged to `orgkernel.access`, a line of JSON each.

    It answers loopback only. Run it behind nothing: a proxy's headers are refused (design §10).
    """
    answers = Answers(kernel)
    reloader = Reloader(answers)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(reloader.watch()) if watch else None
        yield
        reloader.stop()
        if watching is not None:
            await watching

    app = _Registry(
        title=TITLE,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.answers = answers
    app.state.reloader = reloader
    app.openapi = build_openapi  # type: ignore[method-assign]
    for router in ROUTERS:
        app.include_router(router)
    install_refusals(app)
    gate = Gate(app.answer, answers)
    app.gate = AccessLog(gate) if access_log else gate
    # From the inside out.
    app.add_middleware(BodyLimits)
    app.add_middleware(Faults)
    app.add_middleware(StandardHeaders)
    app.add_middleware(Representing, answers=answers)
    app.add_middleware(HeadAsGet)
    return app
