"""Certificates and keys as text, in the one form that both clients of Kafka read."""

from __future__ import annotations

from deltaworks.errors import ConfigError

_TEXT = "Keep the text of the file in the credential, from -----BEGIN to -----END."


def certificates(text: str, name: str) -> str:
    """One or more certificates; refuses what holds none."""
    from cryptography.x509 import load_pem_x509_certificates

    try:
        load_pem_x509_certificates(text.encode())
    except ValueError as error:
        raise ConfigError(f"{name} holds no certificate in PEM.", hint=_TEXT) from error
    return text


def private_key(text: str, password: str | None) -> str:
    """A private key without its password, as PKCS#8: Java reads no other."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as spelled

    try:
        key = spelled.load_pem_private_key(text.encode(), password.encode() if password else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        # What went wrong is not repeated: it could show a part of the key.
        raise ConfigError("key holds no private key in PEM, or key_password is wrong.", hint=_TEXT) from error
    pem = key.private_bytes(spelled.Encoding.PEM, spelled.PrivateFormat.PKCS8, spelled.NoEncryption())
    return pem.decode()
