"""packages/cases/cases.json, and a service that responds with its steps. packages/sdk runs the same cases."""

import json
import pathlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from disburse import Disburse, DisburseExchange, Request, Response, RetryOptions

CASES: dict[str, list[dict[str, Any]]] = json.loads(
    (pathlib.Path(__file__).parents[2] / "cases" / "cases.json").read_text(encoding="utf-8")
)


class Service:
    """Responds with these steps; a step with ``cut`` is a connection that is cut. Keeps what it receives."""

    def __init__(self, steps: Sequence[dict[str, Any]]) -> None:
        self._left = list(steps)
        self.requests: list[Request] = []

    def send(self, request: Request, timeout: float) -> Response:
        self.requests.append(request)
        step = self._left.pop(0)
        if step.get("cut"):
            raise ConnectionResetError("cut")
        headers = {name.lower(): value for name, value in step.get("headers", {}).items()}
        return Response(step["status"], headers, step.get("body", "").encode())

    def merchant(self, attempts: int = 1, api_key: str = "pk", private_key: str = "sk") -> Disburse:
        retries = RetryOptions(attempts=attempts)
        return Disburse("http://localhost", api_key, private_key, retries=retries, send=self.send)

    def exchange(self, api_key: str, secret: str | None) -> DisburseExchange:
        return DisburseExchange("http://localhost", api_key, secret, send=self.send)


def query_of(request: Request) -> list[list[str]]:
    pairs = parse_qsl(urlsplit(request.url).query, keep_blank_values=True, strict_parsing=True) if "?" in request.url else []
    return sorted([name, value] for name, value in pairs)
