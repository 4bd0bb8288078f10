"""What calls raise."""

import builtins
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class DisburseError(Exception):
    """Any failure of a call."""


class ConnectionError(DisburseError, builtins.ConnectionError):
    """
    The service did not respond, or not in time, in all attempts: whether a write was done is unknown. Repeat it under its key.
    """


class ResponseTooLargeError(ConnectionError):
    """A response was larger than ``max_response_bytes``. It is not read again; a write may have been done."""


@dataclass(frozen=True)
class Problem:
    """The members of a problem response (docs/contract.md 3.1)."""

    status: int
    title: str
    detail: str
    errors: Mapping[str, Sequence[str]]


class ApiError(DisburseError):
    """A response with a status from 400."""

    def __init__(self, problem: Problem, request_id: str | None = None, hint: str | None = None) -> None:
        super().__init__("; ".join([*_sentences(problem), *([hint] if hint else [])]))
        self.status = problem.status
        self.title = problem.title
        self.detail = problem.detail
        #: Messages by field, of a 422.
        self.errors = problem.errors
        #: Header ``Request-Id``: name it when you ask for help.
        self.request_id = request_id
        self.hint = hint


def _sentences(problem: Problem) -> list[str]:
    """The status, the detail, and messages of fields that the detail lacks."""
    detail = problem.detail
    named = re.match(rf"(HTTP )?{problem.status}\b", detail)
    # A message about one element begins with its index, as in ``event_types[1] must be ...``.
    fields = [
        f"{field}{'' if ''.join(messages).startswith('[') else ' '}{', '.join(messages)}"
        for field, messages in problem.errors.items()
    ]
    return [
        detail if named else f"{problem.status} {detail}",
        *(each for each in fields if f"; {each};" not in f"; {detail};"),
    ]


class AuthenticationError(ApiError):
    """401: the key, the time or the signature is wrong. The message says which byte of the string to sign differs."""


class ForbiddenError(ApiError):
    """403: the merchant is suspended, or the address not allowed."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409: the state of the resource does not allow it."""


class InvalidRequestError(ApiError):
    """400 and 422: see ``errors``."""


class RateLimitError(ApiError):
    """429, after all attempts."""


class ServerError(ApiError):
    """5xx, after all attempts."""


_CLASSES: Mapping[int, type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: InvalidRequestError,
    429: RateLimitError,
}


def api_error(problem: Problem, request_id: str | None, hint: str | None) -> ApiError:
    default = ServerError if problem.status >= 500 else ApiError
    return _CLASSES.get(problem.status, default)(problem, request_id, hint)


def problem_of(status: int, text: str) -> Problem:
    """The problem in a response's text; one of the status where something between us and the service responded."""
    body = _object_in(text)
    title = _text_or(body.get("title"), f"HTTP {status}")
    return Problem(status, title, _text_or(body.get("detail"), title), _errors_in(body.get("errors")))


def signature_hint(text: str, signed: bytes) -> str | None:
    """What differs between the bytes that were signed here and those that the service signed."""
    theirs = _object_in(text).get("string_to_sign_bytes")
    if not isinstance(theirs, list):
        return None
    ours = list(signed)
    longest = max(len(ours), len(theirs))
    at = next((n for n in range(longest) if ours[n : n + 1] != theirs[n : n + 1]), None)
    if at is None:
        return "both signed the same bytes: the private key is not that of this api key"
    here, there = _byte_at(ours, at), _byte_at(theirs, at)
    return f"byte {at} of the string to sign differs: {here} here, {there} at the service"


def parse_json(text: str) -> Any:
    """JSON as the standard has it: ``NaN`` and ``Infinity`` are none. Raises ``ValueError``."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _object_in(text: str) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text_or(value: Any, default: str) -> str:
    return value if isinstance(value, str) else default


def _errors_in(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    return {
        field: messages
        for field, messages in value.items()
        if isinstance(messages, list) and all(isinstance(each, str) for each in messages)
    }


def _byte_at(content: list[Any], at: int) -> str:
    byte = content[at] if at < len(content) else None
    if byte is None:
        return "nothing"
    return json.dumps(chr(byte), ensure_ascii=False) if isinstance(byte, int) and 0 <= byte < 256 else str(byte)
