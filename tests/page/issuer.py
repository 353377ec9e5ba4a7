"""An identity provider on loopback: it signs a person in at once, and gives a token for a code and its verifier."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

AUDIENCE, CLIENT = "https://registry.example", "registry-page"


class Issuer:
    """The provider, and what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        public = jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        (folder / "keys.json").write_text(json.dumps({"keys": [{**public, "kid": "one"}]}), encoding="utf-8")
        self.url = ""
        self.scope = "orgkernel:read"
        """The scopes of its tokens."""
        self.changed: dict[str, Any] = {}
        """What its metadata have instead."""
        self.added: dict[str, str] = {}
        """What its answers to the page have instead."""
        self.asked: list[dict[str, str]] = []
        """The questions for a person to sign in, and for tokens."""
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: list[str] = []

    @property
    def settings(self) -> dict[str, str | list[str]]:
        """The settings of a server that trusts it."""
        return {
            "issuer": self.url, "audience": AUDIENCE, "jwks": "keys.json", "algorithms": ["ES256"], "page_client": CLIENT,
            "page_scope": "openid orgkernel:read",
        }  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """Its metadata."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "code_challenge_methods_supported": ["S256"],
        } | self.changed

    def sign_in(self, asked: dict[str, str]) -> str:
        """The address that a person is sent back to."""
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": self.url} | self.added
        return f"{asked['redirect_uri']}#{urlencode(answer)}"

    def trade(self, asked: dict[str, str]) -> dict[str, Any] | None:
        """A token for a code, once, for the client that has its verifier. None without."""
        self.asked.append(asked)
        start = self.codes.pop(asked.get("code", ""), None)
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if start is None or (start["code_challenge"], start["redirect_uri"], start["client_id"]) != (
            challenge, asked["redirect_uri"], asked["client_id"],
        ):  # fmt: skip
            return None
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 600, "scope": self.scope,
        }  # fmt: skip
        self.tokens.append(jwt.encode(claims, self.key, "ES256", {"kid": "one"}))
        return {"access_token": self.tokens[-1], "token_type": "Bearer", "expires_in": 600}


@contextmanager
def issuing(folder: Path) -> Iterator[Issuer]:
    """A running provider, whose keys are in the folder."""
    issuer = Issuer(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = urlsplit(self.path)
            if place.path == "/authorize":
                self.send_response(302)
                self.send_header(
                    "Location",
                    issuer.sign_in({name: each[0] for name, each in parse_qs(place.query).items()}),
                )
                self.end_headers()
            else:
                self._send(issuer.describe())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            self._send(issuer.trade({name: each[0] for name, each in parse_qs(body).items()}))

        def _send(self, answer: dict[str, Any] | None) -> None:
            self.send_response(400 if answer is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(json.dumps(answer or {"error": "invalid_grant"}).encode())

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
