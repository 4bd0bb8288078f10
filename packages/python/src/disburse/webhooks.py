"""Verification of webhooks (standardwebhooks.com)."""

import base64
import hashlib
import hmac
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, cast

from .errors import DisburseError, parse_json
from .generated.types import WebhookEvent

TOLERANCE_SECONDS = 5 * 60
_SECONDS = re.compile(r"\s*([+-]?[0-9]+)")
_PREFIX = "whsec_"
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)


class WebhookError(DisburseError):
    """
    The delivery is not one that the service sent with this secret, or it is more than five minutes old. Respond with 400.
    """


class Headers(Protocol):
    """The headers of a request: a ``dict``, those of ``http.server``, Flask, Django or Starlette."""

    def items(self) -> Iterable[tuple[str, str | Sequence[str] | None]]: ...


def verify_webhook(
    secret: str | Sequence[str],
    body: str | bytes | bytearray | memoryview,
    headers: Headers,
) -> WebhookEvent:
    """
    The event of a delivery, once its signature is verified. ``body`` is exactly what arrived, as text or bytes, not JSON that
    was parsed and maybe written again; ``headers`` are those of the request. ``secret`` is ``whsec_...`` of the endpoint, or several during a
    rotation. An event may arrive more than once: receive each ``id`` once. Events of a type that was added later than this
    client arrive too: a ``match`` over ``type`` needs its default.

    Raises :class:`WebhookError`.
    """
    content = _bytes_of(body)
    lower = {name.lower(): _text_of(value) for name, value in headers.items()}
    reason = WebhookError("The secret is no signing secret")
    for each in [secret] if isinstance(secret, str) else secret:
        try:
            return _verified(each, content, lower)
        except WebhookError as error:
            reason = error
    raise reason


def _bytes_of(body: object) -> bytes:
    """Frameworks that parse JSON hand over a dict: the bytes that were signed are lost by then."""
    if isinstance(body, str):
        return body.encode("utf-8", "replace")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    expected = "expected the text or bytes that arrived, before they are parsed"
    raise WebhookError(f"The body is of type {type(body).__name__}: {expected}")


def _verified(secret: str, body: bytes, headers: Mapping[str, str]) -> WebhookEvent:
    key = _key_of(secret)
    delivery_id = headers.get("webhook-id")
    signatures = headers.get("webhook-signature")
    timestamp = headers.get("webhook-timestamp")
    if not delivery_id or not signatures or not timestamp:
        raise WebhookError("Missing required headers")
    seconds = _seconds_of(timestamp)
    signed = f"{delivery_id}.{seconds}.".encode("utf-8", "replace") + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    if not any(hmac.compare_digest(each, expected) for each in _versioned(signatures)):
        raise WebhookError("No matching signature found")
    try:
        return cast(WebhookEvent, parse_json(body.decode()))
    except ValueError as error:
        raise WebhookError("The body is no JSON") from error


def _key_of(secret: str) -> bytes:
    text = secret.removeprefix(_PREFIX)
    bare = text.rstrip("=")
    if bare == "" or len(bare) % 4 == 1 or not _BASE64.fullmatch(text):
        raise WebhookError("The secret is no signing secret")
    return base64.b64decode(bare + "=" * (-len(bare) % 4))


def _seconds_of(timestamp: str) -> int:
    match = _SECONDS.match(timestamp)
    if match is None:
        raise WebhookError("Invalid Signature Headers")
    # Not an integer: one of thousands of digits is refused by int() in another way.
    seconds = float(match.group(1))
    now = math.floor(time.time())
    if now - seconds > TOLERANCE_SECONDS:
        raise WebhookError("Message timestamp too old")
    if seconds > now + TOLERANCE_SECONDS:
        raise WebhookError("Message timestamp too new")
    return int(seconds)


def _versioned(signatures: str) -> list[bytes]:
    """The signatures of version 1 in the header."""
    entries = [entry.split(",") for entry in signatures.split(" ")]
    return [entry[1].encode("utf-8", "replace") for entry in entries if entry[0] == "v1" and len(entry) > 1]


def _text_of(value: str | Sequence[str] | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else ",".join(value)
