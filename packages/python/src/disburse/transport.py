"""Attempts of a call: when one is repeated, and after how long."""

import http.client
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import quote_plus

from .connections import MAX_RESPONSE_BYTES, Connections, Request, Response, Send
from .errors import ConnectionError, ResponseTooLargeError, api_error, problem_of, signature_hint

_FIRST_WAIT = 0.2
#: With these the service has not done the write, or a repeat under the same key gets the first response.
_RETRIED = frozenset((429, 500, 502, 503, 504))
#: A write must not follow to where something between us and the service sends it.
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_IN_FLIGHT = "Idempotency-Key is in flight"
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class RetryOptions:
    """How often and for how long a call is tried."""

    #: Attempts in all.
    attempts: int = 6
    #: The time that one attempt has, in seconds.
    timeout: float = 30.0
    #: The longest that the client waits because of ``Retry-After``, in seconds.
    max_wait: float = 60.0
    #: The largest body of a response. A larger one is a ``ResponseTooLargeError``.
    max_response_bytes: int = MAX_RESPONSE_BYTES


@dataclass
class Outgoing:
    """One attempt, before it is sent: a signature adds to its headers or its query."""

    method: str
    origin: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes = b""

    @property
    def target(self) -> str:
        return self.path + query_text(self.query)


#: Adds what authenticates an attempt, and returns the bytes that were signed; ``None`` where none were.
Sign = Callable[[Outgoing], bytes | None]


def query_text(query: list[tuple[str, str]]) -> str:
    """As browsers encode forms, which is how packages/sdk sends a query: both send the same bytes."""
    return "?" + "&".join(f"{_form(name)}={_form(value)}" for name, value in query) if query else ""


def _form(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


@dataclass
class RetryingTransport:
    """
    Signs and retries. A write is repeated under its Idempotency-Key alone: nothing is done twice, even if something happened to the
    response. Raises an ``ApiError`` for a status from 400 and a ``ConnectionError``.
    """

    sign: Sign
    options: RetryOptions = RetryOptions()
    send: Send | None = None

    def __post_init__(self) -> None:
        self._send = self.send or Connections(self.options.max_response_bytes).send

    def __call__(self, prepare: Callable[[], Outgoing]) -> Response:
        attempt = 1
        while True:
            outgoing = prepare()
            signed = self.sign(outgoing)
            is_last = attempt >= self.options.attempts
            received = self._exchange(outgoing)
            if isinstance(received, Exception):
                if is_last:
                    where = f"{outgoing.method} {outgoing.path}"
                    raise ConnectionError(f"{where}: no response in {attempt} attempts") from received
                time.sleep(_jittered(attempt))
            elif received.status < 400:
                return received
            else:
                text = text_of(received.body)
                wait = wait_of(received.status, received.headers, text, attempt, self.options.max_wait)
                if wait is None or is_last:
                    is_signature = received.status == 401 and signed is not None
                    hint = signature_hint(text, signed or b"") if is_signature else None
                    problem = problem_of(received.status, text)
                    raise api_error(problem, received.headers.get("request-id"), hint)
                time.sleep(wait)
            attempt += 1

    def _exchange(self, outgoing: Outgoing) -> Response | Exception:
        """The whole response, or why there is none."""
        url = outgoing.origin + outgoing.target
        request = Request(outgoing.method, url, outgoing.headers, outgoing.body)
        try:
            response = self._send(request, self.options.timeout)
        except ResponseTooLargeError:
            raise
        except (OSError, http.client.HTTPException) as error:
            return error
        if response.status in _REDIRECTS:
            return http.client.HTTPException(f"HTTP {response.status}: redirects are not followed")
        return response


def text_of(body: bytes) -> str:
    return body.decode("utf-8-sig", "replace")


def wait_of(
    status: int, headers: Mapping[str, str], text: str, attempt: int, max_wait: float
) -> float | None:
    """How long to wait before the next attempt, in seconds; ``None`` where a repeat would get the same response."""
    is_in_flight = status == 409 and _IN_FLIGHT in text
    if status not in _RETRIED and not is_in_flight:
        return None
    demanded = _demanded(headers.get("retry-after", "").strip())
    if not demanded > 0:
        return _jittered(attempt)
    return None if demanded > max_wait else demanded + random.random() * _FIRST_WAIT


def _demanded(header: str) -> float:
    """Seconds of ``Retry-After``, which is a number of them or a date; 0 where it is neither."""
    if _NUMBER.fullmatch(header):
        seconds = float(header)
        return seconds if seconds != float("inf") else 0.0
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            date = parse(header)
        except (TypeError, ValueError, IndexError):
            continue
        # A date of HTTP is in GMT, named or not.
        return (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp() - time.time()
    return 0.0


def _jittered(attempt: int) -> float:
    """Doubles from attempt to attempt; between half of it and all."""
    return float(_FIRST_WAIT * 2 ** (attempt - 1) * (0.5 + random.random() / 2))
