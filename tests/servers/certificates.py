"""A certificate for the servers of one test run, and the key that belongs to it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "deltaworks tests")])


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files that prove who answers on 127.0.0.1; clients trust `certificate` itself."""

    certificate: Path
    key: Path

    @property
    def both(self) -> str:
        """Key and certificate as one text, which Kafka wants."""
        return self.key.read_text(encoding="utf-8") + self.certificate.read_text(encoding="utf-8")


def new_certificate(folder: Path) -> Certificate:
    """Make a key and a certificate that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    today = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(NAME, NAME, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=7))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    found = Certificate(folder / "server.crt", folder / "server.key")
    found.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    found.key.touch(mode=0o600)
    found.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return found
