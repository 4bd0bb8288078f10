"""Calls of operations: the methods that are generated from the document use this."""

import json
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from .connections import Response
from .errors import DisburseError, parse_json
from .pages import Pages
from .result import Result
from .signing import idempotency_key_of
from .transport import Outgoing, RetryingTransport, query_text, text_of

_AGENT = "disburse-python/0.1.0"


class Api:
    """Calls are signed, have an Idempotency-Key, and are retried. ``base_url`` is such as ``https://api.example.com``."""

    def __init__(self, base_url: str, transport: RetryingTransport) -> None:
        url = urlsplit(base_url.rstrip("/"))
        if url.scheme not in ("http", "https") or not url.netloc:
            raise ValueError(f"not the URL of a service: {base_url}")
        self._origin = f"{url.scheme}://{url.netloc}"
        self._prefix = url.path
        self._transport = transport

    def call(
        self,
        method: str,
        template: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, object] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Result[Any]:
        """An operation by method and path, also one that has no method yet. Raises ``ApiError`` and ``ConnectionError``."""
        filled = self._prefix + _filled(template, path or {})
        pairs = [(name, _text(value)) for name, value in (query or {}).items() if value is not None]
        content = b"" if body is None else _json(body)
        headers = {"user-agent": _AGENT}
        if content:
            headers["content-type"] = "application/json"
        if method != "GET":
            # The exchange API has its inputs in the query: the same ones in any order are the same write.
            pairs.sort(key=lambda pair: pair[0])
            target = filled + query_text(pairs) if filled.startswith("/v1/") else filled
            key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key_of(idempotency_key, method, target)
            headers["idempotency-key"] = f'"{key}"'
        return _result_of(
            self._transport(lambda: Outgoing(method, self._origin, filled, list(pairs), dict(headers), content))
        )

    def pages(
        self, template: str, member: str, *, path: Mapping[str, str] | None = None, query: Mapping[str, object]
    ) -> Pages[Any, Any]:
        """All pages of a list whose items are in ``member``."""
        first = query.get("page_cursor")

        def fetch(cursor: str | None) -> Result[Any]:
            return self.call("GET", template, path=path, query={**query, "page_cursor": cursor})

        return Pages(fetch, member, None if first is None else str(first))


def _filled(template: str, path: Mapping[str, str]) -> str:
    for name, value in path.items():
        _require_segment(name, value)
        template = template.replace(f"{{{name}}}", quote(value, safe="!'()*~"))
    return template


def _require_segment(name: str, value: object) -> None:
    """An empty segment and one of dots would be a call of another operation."""
    if isinstance(value, str) and value not in ("", ".", ".."):
        return
    found = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else type(value).__name__
    raise ValueError(f'{found} is not a valid {name}: expected a text that is not empty, "." or ".."')


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _json(body: Any) -> bytes:
    """The same bytes that ``JSON.stringify`` writes."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _result_of(response: Response) -> Result[Any]:
    text = text_of(response.body)
    try:
        data = parse_json(text) if text else None
    except ValueError as error:
        raise DisburseError(f"{response.status} and a body that is no JSON") from error
    headers = response.headers
    return Result(
        data, response.status, headers.get("request-id"), headers.get("idempotent-replayed") == "true"
    )
