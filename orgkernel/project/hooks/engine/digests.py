"""SHA-256 by the module in C that `hashlib` would choose without OpenSSL: to import `hashlib` takes longer than the hook has.

Where no such module is there, and if this engine is off, `hashlib` is used.
"""

from __future__ import annotations

from orgkernel.engines import is_on


def sha256_hex(content: bytes) -> str:
    """The digest of some bytes, in hexadecimal digits."""
    try:
        if not is_on("digests"):
            from hashlib import sha256
        else:
            from _sha256 import sha256  # type: ignore[import-not-found,no-redef]
    except ImportError:
        try:
            from _sha2 import sha256  # type: ignore[import-not-found,no-redef]
        except ImportError:
            from hashlib import sha256
    digest: str = sha256(content).hexdigest()
    return digest
