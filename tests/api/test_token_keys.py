"""Keys of an identity provider over https: what is read, and what is given up."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.utils import base64url_encode

from manifest_api.guards import token_keys
from manifest_api.guards.token_keys import build_key_set, fetch, find_key
from tests.cli.running import run
from tests.support.certificates import make_certificate
from tests.support.trees import copy_template

KEY = jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True)
ANSWERS = {
    "/keys": json.dumps({"keys": [{**KEY, "kid": "one"}, {**KEY, "kid": "two"}]}).encode(),
    "/list": b"[]",
    "/large": b" " * 1_048_577,
    "/private": json.dumps(
        {"keys": [jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()), as_dict=True)]}
    ).encode(),
    "/doubled": json.dumps({"keys": [{**KEY, "kid": "one"}, {**KEY, "kid": "one"}]}).encode(),
}


class Provider(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "/keys")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(ANSWERS[self.path])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a provider whose certificate is trusted here."""
    files = make_certificate(tmp_path_factory.mktemp("provider"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    with HTTPServer(("127.0.0.1", 0), Provider) as server, pytest.MonkeyPatch.context() as patch:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        patch.setenv("SSL_CERT_FILE", str(files.certificate))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_keys_are_fetched(provider: str) -> None:
    """A token names its key; without an id there must be only one."""
    keys = build_key_set(json.loads(fetch(f"{provider}/keys")))
    assert [each.key_id for each in keys.keys] == ["one", "two"]
    assert find_key(keys, "two", "ES256") is not None
    assert find_key(keys, "three", "ES256") is None
    assert find_key(keys, None, "ES256") is None
    only = jwt.PyJWKSet.from_dict({"keys": [KEY]})
    assert find_key(only, None, "ES256") is not None
    assert find_key(only, "one", "ES256") is None


def test_a_redirect_is_not_followed(provider: str) -> None:
    """Not even to https, as in PyJWT's own fetch."""
    with pytest.raises(URLError, match="302"):
        fetch(f"{provider}/elsewhere")


def test_an_answer_that_is_too_large_is_given_up(provider: str) -> None:
    """One byte more than a mebibyte is refused."""
    with pytest.raises(ValueError, match="too large or too slow"):
        fetch(f"{provider}/large")


def test_an_answer_that_takes_too_long_is_given_up(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole answer has five seconds, however quickly its parts arrive."""
    seconds = count(0, 6)
    monkeypatch.setattr(token_keys, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    with pytest.raises(ValueError, match="too large or too slow"):
        fetch(f"{provider}/keys")


def test_something_else_than_keys_is_an_error(provider: str) -> None:
    """It is refused, and what was known stays."""
    with pytest.raises(ValueError, match="JSON object"):
        build_key_set(json.loads(fetch(f"{provider}/list")))


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/keys", "file:///etc/hostname"])
def test_nothing_but_https_is_fetched(url: str) -> None:
    """Signing keys are fetched over https only, because they could be replaced in transit otherwise."""
    with pytest.raises(ValueError, match="not https"):
        fetch(url)


PRIVATE = jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()), as_dict=True)


def _make_rsa_key(bits: int) -> dict[str, str]:
    key = rsa.generate_private_key(65_537, bits).public_key()
    made: dict[str, str] = jwt.algorithms.RSAAlgorithm.to_jwk(key, as_dict=True)
    return made


@pytest.mark.parametrize(
    "keys",
    [
        [PRIVATE],
        [{"kty": "oct", "k": "c2VjcmV0"}],
        [KEY, PRIVATE],
        [{**KEY, "kid": "a"}, {**KEY, "kid": "a"}],
        ["x"],
        None,
    ],
)
def test_a_set_that_must_not_be_is_refused(keys: object) -> None:
    """Private and symmetric keys, two keys of one id, and something that is no key."""
    with pytest.raises(ValueError, match=r"it contains|two keys|not an object|not a JSON object"):
        build_key_set({"keys": keys})


def _make_ed25519_key(public: int) -> dict[str, str]:
    return {"kty": "OKP", "crv": "Ed25519", "x": base64url_encode(public.to_bytes(32, "little")).decode()}


LONG = _make_rsa_key(2_048)


@pytest.mark.parametrize(
    "key",
    [
        {**KEY, "use": "enc"}, {**KEY, "use": None}, {**KEY, "key_ops": ["encrypt"]}, {**KEY, "key_ops": []},
        {**KEY, "key_ops": "verify"}, {**KEY, "key_ops": None}, _make_rsa_key(1_024), {**LONG, "e": "AQ"}, {**LONG, "e": "Ag"},
        {**LONG, "alg": "HS256"}, {**LONG, "alg": "ES256"}, _make_ed25519_key(1), _make_ed25519_key(2**255 - 19 + 3),
        {**_make_ed25519_key(9), "crv": "X25519"},
    ],
    ids=[
        "use", "no use", "key_ops", "no key_ops", "key_ops that is no list", "key_ops that is null", "short", "exponent 1", "exponent 2",
        "symmetric algorithm", "algorithm of another type", "small order", "second spelling", "key agreement",
    ],
)  # fmt: skip
def test_a_key_for_something_else_verifies_nothing(key: dict[str, str]) -> None:
    """It is left out of the set, and another key of the set is used."""
    keys = build_key_set({"keys": [{**key, "kid": "one"}, {**KEY, "kid": "two"}]})
    assert [each.key_id for each in keys.keys] == ["two"]
    with pytest.raises(jwt.PyJWTError):
        build_key_set({"keys": [key]})


def test_a_key_is_for_its_algorithm() -> None:
    """If it states one."""
    keys = build_key_set({"keys": [{**_make_rsa_key(2_048), "kid": "one", "alg": "RS256"}]})
    assert find_key(keys, "one", "RS256") is not None
    assert find_key(keys, "one", "PS256") is None
    assert find_key(keys, None, "PS256") is None


def test_an_algorithm_has_its_own_curve() -> None:
    """RFC 7518, section 3.4: `ES256` is for P-256 only, also if the key states no algorithm."""
    private = ec.generate_private_key(ec.SECP384R1())
    public = jwt.algorithms.ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    key = find_key(build_key_set({"keys": [public]}), None, "ES256")
    signed = jwt.encode({}, private, "ES384")
    with pytest.raises(jwt.PyJWTError):
        jwt.decode(signed.replace(signed.partition(".")[0], _ES256_HEADER), key, algorithms=["ES256"])


_ES256_HEADER = base64url_encode(b'{"alg":"ES256","typ":"JWT"}').decode()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([PRIVATE], "contains a private or symmetric key"),
        ([{"kty": "oct", "k": "c2VjcmV0"}], "contains a private or symmetric key"),
        ([{**KEY, "kid": "a"}, {**KEY, "kid": "a"}], "two keys have the id `a`"),
        ([_make_rsa_key(1_024)], "is not a set of public keys"),
    ],
    ids=["private", "symmetric", "two of one id", "none that is long"],
)
def test_the_server_does_not_start_with_such_a_set(tmp_path: Path, keys: object, message: str) -> None:
    """The installed command states the reason, and never the key."""
    copy_template(tmp_path / "shop", "blank")
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": keys}), encoding="utf-8")
    (tmp_path / "orgkernel.toml").write_text(
        '[oidc]\nissuer = "https://id.invalid"\naudience = "orgkernel"\njwks = "jwks.json"\n',
        encoding="utf-8",
    )
    done = run("serve", "--path", "shop", "--port", "0", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "`[oidc]`" in done.stderr
    assert PRIVATE["d"] not in done.stderr


@pytest.mark.parametrize(
    ("path", "message"),
    [("private", "contains a private or symmetric key"), ("doubled", "two keys have the id `one`")],
)
def test_the_server_does_not_start_with_such_a_set_of_its_provider(
    tmp_path: Path, provider: str, path: str, message: str
) -> None:
    """The installed command fetches the keys before it starts, and states the reason, and never the key."""
    copy_template(tmp_path / "shop", "blank")
    (tmp_path / "orgkernel.toml").write_text(
        f'[oidc]\nissuer = "https://id.invalid"\naudience = "orgkernel"\njwks = "{provider}/{path}"\n',
        encoding="utf-8",
    )
    done = run("serve", "--path", "shop", "--port", "0", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"`[oidc]`: `{provider}/{path}` is not a set of public keys: " in done.stderr
    assert message in done.stderr
    assert json.loads(ANSWERS[f"/{path}"])["keys"][0].get("d", "no key") not in done.stderr


def test_keys_of_a_provider_that_does_not_answer_are_fetched_later(provider: str) -> None:
    """The start does not depend on it."""
    missing = token_keys.open_keys("https://127.0.0.1:1/keys")
    assert missing.current() is None
    first = token_keys.open_keys(f"{provider}/keys").current()
    assert first is not None
    assert [each.key_id for each in first.keys] == ["one", "two"]
