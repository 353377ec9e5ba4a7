"""Signatures of cards: ES256 (JWS) over the canonical card, and the public keys that verify them, as a JWKS.

`cryptography` is an extra. The same card and the same key give the same signature (RFC 6979), so a signed export
changes only when its card changes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from orgkernel.errors import UsageError
from orgkernel.exchange.a2a.canonical import encode_canonical_card

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

ALGORITHM = "ES256"
_BYTES = 32
_MISSING = ("signed cards need `cryptography`", "install the extra `orgkernel[signing]`")
_NO_KEY = (
    "the key is not a private key of the curve P-256 in PEM form",
    "make one with `orgkernel key card create FILE`",
)


class CardSigner:
    """A private key that signs cards."""

    def __init__(self, pem: bytes) -> None:
        """Load a private key. Raises `UsageError` if it is not a P-256 key, or if `cryptography` is not installed."""
        self._key = _read_pem(pem)
        self.public_key = _build_public_jwk(self._key)
        """The key that verifies its signatures, as a JWK."""
        header = {"alg": ALGORITHM, "kid": self.public_key["kid"], "typ": "JOSE"}
        self._protected = _encode_base64(json.dumps(header, separators=(",", ":")).encode())

    def sign(self, card: dict[str, Any]) -> dict[str, Any]:
        """The card with the signature of this key, and no other."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, utils

        signed = f"{self._protected}.{_encode_base64(encode_canonical_card(card))}".encode()
        pair = self._key.sign(signed, ec.ECDSA(hashes.SHA256(), deterministic_signing=_is_repeatable()))
        numbers = b"".join(number.to_bytes(_BYTES) for number in utils.decode_dss_signature(pair))
        return {**card, "signatures": [{"protected": self._protected, "signature": _encode_base64(numbers)}]}


def create_key() -> bytes:
    """A new private key, in PEM form. Raises `UsageError` where `cryptography` is not installed."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise UsageError(*_MISSING) from None
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _is_repeatable() -> bool:
    from cryptography.hazmat.backends.openssl.backend import backend

    return backend.ecdsa_deterministic_supported()


def _read_pem(pem: bytes) -> EllipticCurvePrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise UsageError(*_MISSING) from None
    try:
        key = serialization.load_pem_private_key(pem, None)
    except TypeError:
        raise UsageError("the key is encrypted", "write it without a password to a private file") from None
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError(*_NO_KEY) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise UsageError(*_NO_KEY)
    return key


def _build_public_jwk(key: EllipticCurvePrivateKey) -> dict[str, str]:
    """The public key as a JWK. Its id is its thumbprint (RFC 7638), so operators need not choose names for keys."""
    numbers = key.public_key().public_numbers()
    jwk = {
        "crv": "P-256",
        "kty": "EC",
        "x": _encode_base64(numbers.x.to_bytes(_BYTES)),
        "y": _encode_base64(numbers.y.to_bytes(_BYTES)),
    }
    thumbprint = hashlib.sha256(json.dumps(jwk, sort_keys=True, separators=(",", ":")).encode()).digest()
    return {**jwk, "kid": _encode_base64(thumbprint), "use": "sig", "alg": ALGORITHM}


def _encode_base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
