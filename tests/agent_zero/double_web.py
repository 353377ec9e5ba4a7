"""The web side of a third-generation host: it serves pages of plugins, inserts them as hosts do, and calls handlers.

Two insertion orders are known. Older builds insert the body while module scripts still run; newer ones wait for them
first. In both, an inline module becomes a blob whose imports are made absolute, and page and module are cached: a second
opening inserts the body again and runs no script again.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

PLUGIN = "usr/plugins/orgkernel"

INDEX = """<!doctype html><html><head><meta charset="utf-8"><title>host</title><style>
:root { --color-background: #131313; --color-text: #ffffff; --color-text-muted: #d4d4d4e4; --color-primary: #737a81;
  --color-panel: #1a1a1a; --color-border: #444444a8; --color-accent: #cf6679; --color-highlight: #2b5ab9; }
body { background: #212121; color: var(--color-text); font-family: Arial, sans-serif; margin: 0; }
.modal { max-width: 52rem; margin: 2rem auto; background: var(--color-panel); border: 1px solid var(--color-border);
  border-radius: 0.5rem; padding: 1rem 1.5rem; }
.field { display: grid; grid-template-columns: 60% 1fr; align-items: center; margin-block: 1rem; }
.field-title, .section-title { font-weight: bold; color: var(--color-primary); }
.section-title { font-size: 1.25rem; }
.field-description { font-size: 0.875rem; opacity: 0.8; margin: 0.25rem 0 0.5rem; padding-right: 0.5rem; }
select { padding: 0.5rem; border: 1px solid var(--color-border); border-radius: 0.25rem; color: var(--color-text);
  background: var(--color-background); width: 100%; }
.button { background: var(--color-panel); color: var(--color-text); border: 1px solid var(--color-border); cursor: pointer;
  border-radius: 6px; padding: 0.5rem 1.5rem; }
.button.confirm { background: var(--color-highlight); }
.button.cancel { color: var(--color-accent); }
.toggle { position: relative; display: inline-block; width: 60px; height: 34px; }
.toggle input { opacity: 0; width: 0; height: 0; }
.toggler { position: absolute; inset: 0; background: #ccc; border-radius: 34px; }
.toggler:before { content: ""; position: absolute; height: 26px; width: 26px; left: 4px; bottom: 4px; background: white;
  border-radius: 50%; }
input:checked + .toggler { background: #2196f3; }
input:checked + .toggler:before { transform: translateX(26px); }
</style></head><body><script type="module" src="/js/host.js"></script></body></html>"""

HOST_JS = """
const ORDER = new URLSearchParams(location.search).get("order");
const pages = {}, modules = {}, filling = new WeakSet();
globalThis.getContext = () => new URLSearchParams(location.search).get("chat") ?? "";
globalThis.failed = [];
globalThis.ran = 0;
addEventListener("error", (event) => failed.push(String(event.message)));
addEventListener("unhandledrejection", (event) => failed.push(String(event.reason)));

function run(script, name) {
  if (!(name in modules)) {
    const absolute = script.textContent.replace(/from\\s+(["'])(\\/[^"']+)\\1/g, (_, mark, path) => `from "${location.origin}${path}?v=1"`);
    const url = URL.createObjectURL(new Blob([absolute], { type: "text/javascript" }));
    globalThis.ran += 1;
    modules[name] = import(url).finally(() => URL.revokeObjectURL(url));
  }
  return modules[name];
}

async function fill(component) {
  if (filling.has(component)) return;
  filling.add(component);
  const path = component.getAttribute("path");
  component.innerHTML = '<div class="loading"></div>';
  pages[path] ??= await (await fetch(path)).text();
  const page = new DOMParser().parseFromString(pages[path], "text/html");
  const running = [...page.querySelectorAll("script[type=module]")].map((script, number) => run(script, `${path}#${number}`));
  if (ORDER === "modules-first") await Promise.all(running);
  component.append(...[...page.body.childNodes].map((node) => node.cloneNode(true)));
  await Promise.all(running);
  component.querySelector(":scope > .loading")?.remove();
}

new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes)
      if (node.nodeType === 1)
        for (const each of [node, ...node.querySelectorAll("x-component")])
          if (each.matches("x-component")) fill(each).catch((error) => failed.push(String(error)));
}).observe(document.body, { childList: true, subtree: true });

globalThis.openPage = (path) => {
  document.querySelector(".modal")?.remove();
  const modal = document.createElement("div");
  modal.className = "modal";
  document.body.append(modal);
  modal.innerHTML = `<x-component path="${path}"></x-component>`;
};
"""

API_JS = """
let token = null;
export async function callJsonApi(endpoint, data) {
  token ??= (await (await fetch("/api/csrf_token")).json()).token;
  const answer = await fetch(`/api${endpoint}`, {
    method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": token }, body: JSON.stringify(data),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json();
}
"""


class ApiHandler:
    """The base class of handlers, with a host's defaults."""

    def __init__(self, app: Any, thread_lock: Any) -> None: ...

    @classmethod
    def requires_auth(cls) -> bool:
        return True

    @classmethod
    def requires_csrf(cls) -> bool:
        return cls.requires_auth()

    @classmethod
    def requires_api_key(cls) -> bool:
        return False

    @classmethod
    def requires_loopback(cls) -> bool:
        return False

    @classmethod
    def get_methods(cls) -> list[str]:
        return ["POST"]


def load_handler(root: Path, name: str, base: type = ApiHandler) -> type | None:
    """The class in a plugin's handler file, found as a host finds it."""
    file = root / PLUGIN / "api" / f"{name}.py"
    if not file.is_file():
        return None
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, base) and each is not base
    ]
    return found[0] if found else None


@contextmanager
def serving(root: Path) -> Iterator[SimpleNamespace]:
    """A server of that host, on a port of this machine. The host must be running."""
    token = secrets.token_hex(8)

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            fixed = {
                "/": ("text/html", INDEX),
                "/js/host.js": ("text/javascript", HOST_JS),
                "/js/api.js": ("text/javascript", API_JS),
            }
            if path == "/api/csrf_token":
                self.answer(200, "application/json", json.dumps({"ok": True, "token": token}))
            elif path in fixed:
                self.answer(200, *fixed[path])
            elif path.startswith("/plugins/orgkernel/"):
                file = root / PLUGIN / path.removeprefix("/plugins/orgkernel/")
                kind = "text/javascript" if file.suffix == ".js" else "text/html"
                self.answer(200, kind, file.read_text(encoding="utf-8")) if file.is_file() else self.answer(
                    404, "text/plain", "none"
                )
            else:
                self.answer(404, "text/plain", "none")

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            handler = load_handler(root, self.path.removeprefix("/api/plugins/orgkernel/"))
            if handler is None:
                self.answer(404, "text/plain", "API endpoint not found")
            elif handler.requires_csrf() and self.headers.get("X-CSRF-Token") != token:  # type: ignore[attr-defined]
                self.answer(403, "text/plain", "CSRF token missing or invalid")
            else:
                try:
                    given = json.loads(content)
                except ValueError:
                    given = {}
                done = asyncio.run(handler(None, None).process(given, None))  # type: ignore[attr-defined]
                self.answer(200, "application/json", json.dumps(done))

        def answer(self, status: int, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the output of tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", token=token)
    finally:
        server.shutdown()
        server.server_close()
