"""Certificates made by the tests themselves."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from manifest_api.guards.tls import TlsFiles

DAY = datetime.timedelta(days=1)


def make_certificate(
    folder: Path,
    *,
    begins: float = -1,
    ends: float = 90,
    password: bytes = b"",
    is_for_servers: bool = True,
) -> TlsFiles:
    """A certificate of this machine, signed by itself, valid between two days counted from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    purpose = ExtendedKeyUsageOID.SERVER_AUTH if is_for_servers else ExtendedKeyUsageOID.CLIENT_AUTH
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins * DAY)
        .not_valid_after(now + ends * DAY)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .sign(key, SHA256())
    )
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    written = folder / "server.pem"
    secret = folder / "server.key"
    written.write_bytes(certificate.public_bytes(Encoding.PEM))
    secret.touch(mode=0o600)
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    return TlsFiles(str(written), str(secret))
