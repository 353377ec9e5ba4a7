"""Birth certificates: who an agent is, signed with the key of its organization, and verified without a store.

Keys are Ed25519. A `did:key` is the public key itself: `z`, then base 58 of the two bytes that name the kind of key and
the 32 bytes of the key. The signature is over the certificate as JSON with sorted keys, without the signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Refused, UsageError
from orgkernel.prepared_types import prepared

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SEED_BYTES = 32
BAD_CERTIFICATE = "BAD_CERTIFICATE"
_MISSING = ("identities of agents need `cryptography`", "install the extra `orgkernel[signing]`")
_ED25519 = b"\xed\x01"
_PREFIX = "did:key:z"
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_canonical = msgspec.json.Encoder(order="deterministic").encode


class BirthCertificate(msgspec.Struct, frozen=True, tag="orgkernel:birth_certificate", tag_field="type"):
    """The identity of an agent, signed by its organization."""

    did: str
    agent_id: str
    org_id: str
    role_id: str
    """The role in which it was commissioned first."""
    commissioned_at: str
    """UTC, in ISO 8601."""
    commissioned_by: str
    snapshot: str
    """The digest of the documents by which it was commissioned."""
    issuer: str
    """The `did:key` of the organization."""
    signature: str = ""
    """Hexadecimal digits."""


def derive_did(seed: bytes) -> str:
    """The `did:key` of a private key. Raises `UsageError` if `cryptography` is not installed."""
    return encode_did(_load_private_key(seed).public_key().public_bytes_raw())


def encode_did(public: bytes) -> str:
    """The `did:key` of a public key.

    >>> encode_did(bytes(32))
    'did:key:z6MkeTG3bFFSLYVU7VqhgZxqr6YzpaGrQtFMh1uvqGy1vDnP'
    """
    if len(public) != SEED_BYTES:
        raise Refused("this is not an Ed25519 public key", "it has 32 bytes", "BAD_VALUE")
    number = int.from_bytes(_ED25519 + public)
    text = ""
    while number:
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return _PREFIX + text


def decode_did(did: str) -> bytes:
    """The public key in a `did:key`. Raises `Refused` for anything else.

    >>> decode_did(encode_did(bytes(range(32)))) == bytes(range(32))
    True
    """
    number = 0
    for each in did.removeprefix(_PREFIX)[:60]:
        digit = _ALPHABET.find(each)
        if digit < 0:
            break
        number = number * len(_ALPHABET) + digit
    size = len(_ED25519) + SEED_BYTES
    raw = number.to_bytes(size) if number < 1 << (8 * size) else b""
    if not raw.startswith(_ED25519) or encode_did(raw[len(_ED25519) :]) != did:
        raise Refused(
            f"{quote(did)} is not the `did:key` of an Ed25519 key",
            "it begins with `did:key:z6Mk`",
            "BAD_VALUE",
        )
    return raw[len(_ED25519) :]


def sign_certificate(certificate: BirthCertificate, issuer: bytes) -> BirthCertificate:
    """The certificate with the signature of the organization."""
    return msgspec.structs.replace(
        certificate, signature=_load_private_key(issuer).sign(_get_signed_part(certificate)).hex()
    )


def read_certificate(content: bytes | str) -> BirthCertificate:
    """A certificate, not yet verified. Raises `Refused` (`BAD_CERTIFICATE`)."""
    try:
        return msgspec.json.decode(content, type=prepared(BirthCertificate))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Refused(f"this is not a birth certificate: {error}", code=BAD_CERTIFICATE) from None


def verify_certificate(certificate: BirthCertificate, issuer: str | None = None) -> None:
    """Raise `Refused` (`BAD_CERTIFICATE`) unless the signature of the issuer is valid.

    Any key can sign a certificate, so `issuer` is the `did:key` of the trusted organization.
    """
    decode_did(certificate.did)
    key = _load_public_key(certificate.issuer)
    from cryptography.exceptions import InvalidSignature

    if issuer is not None and certificate.issuer != issuer:
        raise Refused(
            f"the certificate was issued by {quote(certificate.issuer)}",
            f"the organization {quote(certificate.org_id)} signs with {quote(issuer)}",
            BAD_CERTIFICATE,
        )
    try:
        key.verify(bytes.fromhex(certificate.signature), _get_signed_part(certificate))
    except (InvalidSignature, ValueError):
        raise Refused(
            f"the signature on the certificate of {quote(certificate.agent_id)} is not valid",
            "ask the organization for the certificate again",
            BAD_CERTIFICATE,
        ) from None


def render_certificate(certificate: BirthCertificate) -> str:
    """The certificate as JSON."""
    return _canonical(certificate).decode()


def _get_signed_part(certificate: BirthCertificate) -> bytes:
    parts: dict[str, Any] = msgspec.to_builtins(certificate)
    del parts["signature"]
    return _canonical(parts)


def _load_private_key(seed: bytes) -> Ed25519PrivateKey:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise UsageError(*_MISSING) from None
    return Ed25519PrivateKey.from_private_bytes(seed)


def _load_public_key(did: str) -> Any:
    public = decode_did(did)
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise UsageError(*_MISSING) from None
    return Ed25519PublicKey.from_public_bytes(public)
