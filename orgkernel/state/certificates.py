"""Birth certificates: who an agent is, signed with the key of its organization, and verified without a store.

Keys are Ed25519. A `did:key` is the public key itself: `z`, then base 58 of the two bytes that name the kind of key and
the 32 bytes of the key. The signature is over the certificate as JSON with sorted keys, without the signature. A document
with anything that the signature does not cover is refused. Whether a certificate was revoked is in the store only.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Refused, UsageError
from orgkernel.prepared_types import prepared
from orgkernel.runtime.ed25519 import KEY_BYTES, find_key_fault, find_signature_fault
from orgkernel.runtime.utc import as_seconds

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SEED_BYTES = 32
BAD_CERTIFICATE = "BAD_CERTIFICATE"
_ASK_AGAIN = "ask the organization for the certificate again"
_MAX_LENGTH = 16_384
_SIGNATURE = re.compile("[0-9a-f]{128}")
_MISSING = ("identities of agents need `cryptography`", "install the extra `orgkernel[signing]`")
_ED25519 = b"\xed\x01"
_PREFIX = "did:key:z"
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_canonical = msgspec.json.Encoder(order="deterministic").encode


class BirthCertificate(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    tag="orgkernel:birth_certificate",
    tag_field="type",
):
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
    expires_at: str
    """UTC, in ISO 8601."""
    signature: str = ""
    """128 hexadecimal digits."""


def derive_did(seed: bytes) -> str:
    """The `did:key` of a private key. Raises `UsageError` if `cryptography` is not installed."""
    return encode_did(_load_private_key(seed).public_key().public_bytes_raw())


def encode_did(public: bytes) -> str:
    """The `did:key` of a public key.

    >>> encode_did(bytes(32))
    'did:key:z6MkeTG3bFFSLYVU7VqhgZxqr6YzpaGrQtFMh1uvqGy1vDnP'
    """
    if len(public) != KEY_BYTES:
        raise Refused("this is not an Ed25519 public key", "it has 32 bytes", "BAD_VALUE")
    number = int.from_bytes(_ED25519 + public)
    text = ""
    while number:
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return _PREFIX + text


def decode_did(did: str) -> bytes:
    """The public key in a `did:key`. Raises `Refused` for anything else, and for a key that anyone can sign for.

    >>> decode_did(encode_did(bytes(range(32)))) == bytes(range(32))
    True
    """
    number = 0
    # A valid name is shorter. The cut bounds the work on a long one, which then differs from its own encoding below.
    for each in did.removeprefix(_PREFIX)[:60]:
        digit = _ALPHABET.find(each)
        if digit < 0:
            break
        number = number * len(_ALPHABET) + digit
    size = len(_ED25519) + KEY_BYTES
    raw = number.to_bytes(size) if number < 1 << (8 * size) else b""
    # Encoded once more, so each key has exactly one name and two spellings cannot pass for two keys.
    if not raw.startswith(_ED25519) or encode_did(raw[len(_ED25519) :]) != did:
        raise Refused(
            f"{quote(did)} is not the `did:key` of an Ed25519 key",
            "it begins with `did:key:z6Mk`",
            "BAD_VALUE",
        )
    public = raw[len(_ED25519) :]
    fault = find_key_fault(public)
    if fault is not None:
        raise Refused(f"the key of {quote(did)} {fault}", "make a new key", "BAD_VALUE")
    return public


def sign_certificate(certificate: BirthCertificate, issuer: bytes) -> BirthCertificate:
    """The certificate with the signature of the organization."""
    return msgspec.structs.replace(
        certificate, signature=_load_private_key(issuer).sign(_get_signed_part(certificate)).hex()
    )


def read_certificate(content: bytes | str) -> BirthCertificate:
    """A certificate, not yet verified. Raises `Refused` (`BAD_CERTIFICATE`) for a document with a missing, repeated or further
    member, because two readers could take it for different certificates.
    """
    try:
        if len(content) > _MAX_LENGTH:
            raise ValueError(f"it is longer than {_MAX_LENGTH} characters")
        certificate = msgspec.json.decode(content, type=prepared(BirthCertificate))
        if json.loads(content, object_pairs_hook=_build_object) != msgspec.to_builtins(certificate):
            raise ValueError("it has no member `type` or `signature`")
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise Refused(f"this is not a birth certificate: {error}", _ASK_AGAIN, BAD_CERTIFICATE) from None
    return certificate


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object has a member more than once")
    return members


def verify_certificate(certificate: BirthCertificate, now: float, issuer: str | None = None) -> None:
    """Raise `Refused` (`BAD_CERTIFICATE`) unless the certificate has not expired and the signature of its issuer is valid.

    Any key can sign a certificate, so `issuer` is the `did:key` of the trusted organization.
    """
    key = _load_public_key(certificate.issuer)
    decode_did(certificate.did)
    from cryptography.exceptions import InvalidSignature

    if issuer is not None and certificate.issuer != issuer:
        raise Refused(
            f"{name_certificate(certificate)} was issued by {quote(certificate.issuer)}",
            f"the organization {quote(certificate.org_id)} signs with {quote(issuer)}",
            BAD_CERTIFICATE,
        )
    try:
        key.verify(_decode_signature(certificate.signature), _get_signed_part(certificate))
    except (InvalidSignature, ValueError) as error:
        fault = f": it {error}" if isinstance(error, ValueError) else ""
        raise Refused(
            f"the signature of {quote(certificate.issuer)} on {name_certificate(certificate)} is not valid{fault}",
            _ASK_AGAIN,
            BAD_CERTIFICATE,
        ) from None
    # Checked after the signature: the time in a certificate that is not genuine means nothing.
    expires_at = as_seconds(certificate.expires_at)
    if expires_at is None or expires_at <= now:
        raise Refused(
            f"{name_certificate(certificate)}, issued by {quote(certificate.issuer)}, expired at {quote(certificate.expires_at)}",
            f"`orgkernel agent renew-certificate {certificate.agent_id}` issues a new one",
            BAD_CERTIFICATE,
        )


def name_certificate(certificate: BirthCertificate) -> str:
    """The name of a certificate in messages, with the agent and its key."""
    return f"the certificate of {quote(certificate.agent_id)} ({quote(certificate.did)})"


def _decode_signature(text: str) -> bytes:
    """The bytes of a signature in its only spelling. Raises ValueError."""
    if not _SIGNATURE.fullmatch(text):
        raise ValueError("is not 128 hexadecimal digits in lower case")
    signature = bytes.fromhex(text)
    fault = find_signature_fault(signature)
    if fault is not None:
        raise ValueError(fault)
    return signature


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
