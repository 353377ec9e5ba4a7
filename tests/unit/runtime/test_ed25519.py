"""Ed25519 keys and signatures that a library accepts although they identify no signer."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from orgkernel.runtime.ed25519 import find_key_fault, find_signature_fault

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
ORDER_8 = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
IDENTITY = (1).to_bytes(32, "little")
# All encodings of small order that "Taming the many EdDSAs" (IACR 2020/1244, table 6) lists.
SMALL = [
    IDENTITY,
    (1 | 1 << 255).to_bytes(32, "little"),
    (PRIME - 1).to_bytes(32, "little"),
    (PRIME - 1 | 1 << 255).to_bytes(32, "little"),
    bytes(32),
    (1 << 255).to_bytes(32, "little"),
    bytes.fromhex(ORDER_8),
    bytes.fromhex(ORDER_8[:-2] + "85"),
    (PRIME - int.from_bytes(bytes.fromhex(ORDER_8), "little")).to_bytes(32, "little"),
    (PRIME - int.from_bytes(bytes.fromhex(ORDER_8), "little") | 1 << 255).to_bytes(32, "little"),
]
NOT_CANONICAL = [
    (y | sign << 255).to_bytes(32, "little")
    for y in (PRIME, PRIME + 1, PRIME + 3, 2**255 - 1)
    for sign in (0, 1)
]


@pytest.mark.parametrize("key", SMALL, ids=bytes.hex)
def test_a_key_of_small_order_is_refused(key: bytes) -> None:
    """Anyone can sign for it."""
    assert find_key_fault(key) == "has a small order"


def test_the_library_accepts_a_forged_signature_for_a_weak_key() -> None:
    """Which is why the key is looked at first: the identity point verifies every message with one fixed signature."""
    Ed25519PublicKey.from_public_bytes(IDENTITY).verify(IDENTITY + bytes(32), b"any message")


@pytest.mark.parametrize("key", NOT_CANONICAL, ids=bytes.hex)
def test_another_spelling_of_a_key_is_refused(key: bytes) -> None:
    """An identity has one name."""
    assert find_key_fault(key) == "is not in its canonical form"


def test_real_keys_and_signatures_are_accepted() -> None:
    """Nothing that a library makes is refused."""
    for number in range(200):
        key = Ed25519PrivateKey.from_private_bytes(number.to_bytes(32))
        public = key.public_key().public_bytes_raw()
        signature = key.sign(b"text")
        assert (find_key_fault(public), find_signature_fault(signature)) == (None, None)
        scalar = int.from_bytes(signature[32:], "little") + ORDER
        assert (
            find_signature_fault(signature[:32] + scalar.to_bytes(32, "little"))
            == "has a number above the order of the group"
        )


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33), (2).to_bytes(32, "little")], ids=bytes.hex)
def test_something_else_is_no_key(key: bytes) -> None:
    """Another length, or no point of the curve."""
    assert find_key_fault(key) in ("does not have 32 bytes", "is not a point of the curve")
