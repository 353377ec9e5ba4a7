"""Servers to measure: `python -m benchmarks.serving KIND FOLDER [HEAD BODY]` prints its port and answers until killed.

All of them run under uvicorn with the settings `orgkernel serve` uses, one worker each.
"""

from __future__ import annotations

import gc
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
import uvicorn

from benchmarks.questions import ORG, open_kernel
from manifest_api import create_app
from manifest_api.guards.authentication import Rates
from manifest_api.response_cache import ResponseCache
from manifest_api.server import build_config
from orgkernel.kernel.manifest_cache import ManifestCache
from orgkernel.kernel.stored import open_store
from orgkernel.manifest.v1 import RoleManifest
from orgkernel.state.location import parse_location

_UNLIMITED = 1e9
"""Requests per second: what is measured here is not the limit."""
ASKED = 200
"""How many roles the servers that keep nothing are asked for in turn."""


def ours(folder: Path) -> Any:
    """The product."""
    return create_app(open_kernel(folder), rate=_UNLIMITED)


def ours_writing_down(folder: Path) -> Any:
    """The product with a store: what it answers about access is on the disk before."""
    location = parse_location("state.db", tempfile.mkdtemp(dir=folder.parent))
    open_store(location).close()
    app = create_app(open_kernel(folder), store=location, rate=_UNLIMITED)
    app.state.auditor._without_key = Rates(_UNLIMITED, _UNLIMITED)
    return app


def ours_keeping_nothing(folder: Path) -> Any:
    """The product with no room to keep an answer: every request is a miss."""
    kernel = open_kernel(folder)
    kernel._kept = ManifestCache(0)
    app = create_app(kernel, rate=_UNLIMITED)
    app.state.answers.cache = ResponseCache(0)
    app.state.evaluator.cache = ResponseCache(0)
    return app


def bare(head: bytes, body: bytes) -> Any:
    """An ASGI application that says one answer: these headers, this body."""
    lines = [line.split(b": ", 1) for line in head.split(b"\r\n")[1:]]
    headers = [(name.lower(), value) for name, value in lines if name.lower() != b"date"]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def response_model(folder: Path) -> Any:
    """What a user of FastAPI writes over the same kernel: a route with a `response_model`."""
    kernel = open_kernel(folder)
    return _fastapi(lambda role: msgspec.to_builtins(kernel.manifest(ORG, role)))


def response_model_of_ready(folder: Path) -> Any:
    """The same where the answers were put together beforehand, as dicts."""
    kernel = open_kernel(folder)
    roles = kernel.organization(ORG).snapshot.index.roles[:ASKED]
    ready = {role: msgspec.json.decode(kernel.manifest_bytes(ORG, role)) for role in roles}
    return _fastapi(ready.__getitem__)


def _fastapi(find: Callable[[str], Any]) -> Any:
    from fastapi import FastAPI

    app = FastAPI()

    @app.get("/v1/orgs/{org}/roles/{role}", response_model=model_of(RoleManifest))
    async def get_role(org: str, role: str) -> Any:
        return find(role)

    return app


def model_of(shape: type[msgspec.Struct]) -> Any:
    """The pydantic model of a struct."""
    from pydantic import Field, create_model

    made: dict[Any, Any] = {}

    def translate(hint: Any) -> Any:
        origin, arguments = get_origin(hint), get_args(hint)
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            if hint not in made:
                made[hint] = build(hint)
            return made[hint]
        if origin in (Union, UnionType):
            return Union[tuple(translate(each) for each in arguments)]  # noqa: UP007
        if origin in (tuple, dict, list):
            return origin[tuple(translate(each) if each is not Ellipsis else each for each in arguments)]
        return hint if hint is not NoneType else None

    def build(struct: type[msgspec.Struct]) -> Any:
        hints = get_type_hints(struct)
        fields: dict[str, Any] = {}
        for field in msgspec.structs.fields(struct):
            default = ... if field.default is msgspec.NODEFAULT else field.default
            alias = field.encode_name if field.encode_name != field.name else None
            name = f"{field.name}_" if field.name in ("schema",) else field.name
            fields[name] = (translate(hints[field.name]), Field(default, alias=alias or field.encode_name))
        return create_model(struct.__name__, **fields)

    return build(shape)


def main() -> None:
    """Serve one of them."""
    kind, folder = sys.argv[1], Path(sys.argv[2])
    apps = {
        each.__name__: each
        for each in (ours, ours_writing_down, ours_keeping_nothing, response_model, response_model_of_ready)
    }
    app = bare(*(Path(each).read_bytes() for each in sys.argv[3:5])) if kind == "bare" else apps[kind](folder)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    gc.freeze()  # as `serve` does, for all of them
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(build_config(app)).run([listener])


if __name__ == "__main__":
    main()
