"""Which Ed25519 keys and signatures are refused before a library verifies them (RFC 8032, section 5.1).

Libraries accept keys of small order, for which anyone can make signatures, and second spellings of a key. So equal
identities could have different names, and a key could belong to everyone.
"""

from __future__ import annotations

_PRIME = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME
_Y_OF_ORDER_8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
# The second coordinates of the eight points whose order divides 8.
_SMALL = frozenset({0, 1, _PRIME - 1, _Y_OF_ORDER_8, _PRIME - _Y_OF_ORDER_8})
_COORDINATE = (1 << 255) - 1
KEY_BYTES = 32
SIGNATURE_BYTES = 64


def find_key_fault(public: bytes) -> str | None:
    """Why 32 bytes are not an acceptable public key. None if they are.

    >>> find_key_fault(bytes(32))
    'has a small order'
    >>> find_key_fault(bytes([9]) + bytes(31)) is None
    True
    """
    if len(public) != KEY_BYTES:
        return "does not have 32 bytes"
    y = int.from_bytes(public, "little") & _COORDINATE
    if y >= _PRIME:
        return "is not in its canonical form"
    if y in _SMALL:
        return "has a small order"
    if not _is_on_curve(y):
        return "is not a point of the curve"
    return None


def find_signature_fault(signature: bytes) -> str | None:
    """Why 64 bytes are not an acceptable signature. None if they could be one.

    >>> find_signature_fault(bytes(64))
    'begins with a point that has a small order'
    """
    if len(signature) != SIGNATURE_BYTES:
        return "does not have 64 bytes"
    fault = find_key_fault(signature[:KEY_BYTES])
    if fault is not None:
        return f"begins with a point that {fault}"
    if int.from_bytes(signature[KEY_BYTES:], "little") >= _ORDER:
        return "has a number above the order of the group"
    return None


def _is_on_curve(y: int) -> bool:
    """Whether -x² + y² = 1 + d x² y² has a solution for x."""
    square = y * y % _PRIME
    numerator, denominator = square - 1, _D * square + 1
    return pow(numerator * pow(denominator, -1, _PRIME), (_PRIME - 1) // 2, _PRIME) == 1
