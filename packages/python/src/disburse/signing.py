"""Signatures and keys. The same bytes as packages/sdk/src/signing.ts: packages/cases holds both."""

import hashlib
import hmac
import re
import uuid
from collections.abc import Iterable
from urllib.parse import quote

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def hmac_hex(secret: str, signed: bytes) -> str:
    """Lower-case hex of HMAC-SHA256."""
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def string_to_sign(seconds: str, method: str, path: str, body: bytes) -> bytes:
    """What a call to the merchant API signs: Unix seconds, method and path, each with LF, then the body as it is sent."""
    return f"{seconds}\n{method}\n{path}\n".encode() + body


def sign_address(secret: str, address: str) -> str:
    """``signature`` of the exchange API: over the address alone (docs/contract.md 21.3)."""
    return hmac_hex(secret, f"withdraw_address={address}".encode())


def sign_query(secret: str, path: str, query: Iterable[tuple[str, str]]) -> str:
    """``signature_v2``: over the path and all other parameters of the query."""
    # Only letters, digits and -._~ remain as they are.
    encoded = sorted(
        f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query if name != "signature_v2"
    )
    return hmac_hex(secret, f"{path}?{'&'.join(encoded)}".encode())


def idempotency_key_of(own_id: str, method: str, path: str) -> str:
    """The Idempotency-Key of a caller's own id: the same for the same id, method and path, another for any other."""
    if _UUID.fullmatch(own_id):
        return own_id.lower()
    digest = bytearray(hashlib.sha256(f"{method} {path}\n{own_id}".encode()).digest()[:16])
    # Version and variant of a uuid that is named by a hash (RFC 9562, version 8).
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))
