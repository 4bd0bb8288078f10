"""HTTP/1.1 with a time limit for the whole exchange, over connections that are kept open."""

import http.client
import io
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from .errors import ResponseTooLargeError

_MAX_IDLE = 8
MAX_RESPONSE_BYTES = 1 << 25
_CHUNK = 65_536
#: What a connection raises that the service closed while it was idle.
_STALE = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    status: int
    #: By names in lower case; several of one name are joined by a comma.
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


#: Sends a request within a time in seconds. Raises ``OSError`` or ``http.client.HTTPException`` without a whole response.
Send = Callable[[Request, float], Response]


class Connections:
    """A :data:`Send` for any number of threads. A process that is forked opens connections of its own."""

    def __init__(self, max_response_bytes: int = MAX_RESPONSE_BYTES) -> None:
        self._max_bytes = max_response_bytes
        self._lock = threading.Lock()
        self._idle: list[tuple[object, http.client.HTTPConnection]] = []

    def send(self, request: Request, timeout: float) -> Response:
        deadline = time.monotonic() + timeout
        url = urlsplit(request.url)
        origin = (os.getpid(), url.scheme, url.netloc)
        while (idle := self._take(origin)) is not None:
            try:
                return self._exchange(origin, idle, url, request, deadline)
            except _STALE:
                continue
        return self._exchange(origin, _open(url, timeout), url, request, deadline)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def __del__(self) -> None:
        self.close()

    def _take(self, origin: object) -> http.client.HTTPConnection | None:
        with self._lock:
            for at in reversed(range(len(self._idle))):
                if self._idle[at][0] == origin:
                    return self._idle.pop(at)[1]
        return None

    def _exchange(
        self,
        origin: object,
        connection: http.client.HTTPConnection,
        url: SplitResult,
        request: Request,
        deadline: float,
    ) -> Response:
        try:
            limited: Any = connection.sock
            limited.deadline = deadline
            target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
            connection.request(request.method, target, request.body or None, dict(request.headers))
            response = connection.getresponse()
            body = self._read(response, f"{request.method} {url.path}")
        except BaseException:
            connection.close()
            raise
        self._keep(origin, connection)
        return Response(response.status, _joined(response.getheaders()), body)

    def _read(self, response: http.client.HTTPResponse, call: str) -> bytes:
        """The whole body or an error: one that is cut off is none."""
        body = bytearray()
        while chunk := response.read(_CHUNK):
            body += chunk
            if len(body) > self._max_bytes:
                raise ResponseTooLargeError(f"{call}: the response is larger than {self._max_bytes} bytes")
        if response.length:
            raise http.client.IncompleteRead(bytes(body), response.length)
        return bytes(body)

    def _keep(self, origin: object, connection: http.client.HTTPConnection) -> None:
        # http.client has closed one that the service does not keep open.
        if connection.sock is None:
            return
        with self._lock:
            if len(self._idle) < _MAX_IDLE:
                self._idle.append((origin, connection))
                return
        connection.close()


def _open(url: SplitResult, timeout: float) -> http.client.HTTPConnection:
    if url.hostname is None or url.scheme not in ("http", "https"):
        raise ValueError(f"not the URL of a service: {url.geturl()}")
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection: http.client.HTTPConnection = kind(url.hostname, url.port, timeout=timeout)
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    connection.sock = cast(socket.socket, _LimitedSocket(connection.sock))
    return connection


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        joined[lower] = f"{joined[lower]}, {value}" if lower in joined else value
    return joined


class _LimitedSocket:
    """What http.client uses of a socket. The time limit of a socket is for one read; this one is for all of them."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain = plain
        self.deadline = 0.0

    def limit(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the exchange took too long")
        self._plain.settimeout(left)

    def sendall(self, data: Any) -> None:
        self.limit()
        self._plain.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_LimitedReader(self, self._plain.makefile("rb", buffering=0)))

    def close(self) -> None:
        self._plain.close()


class _LimitedReader(io.RawIOBase):
    def __init__(self, limited: _LimitedSocket, raw: socket.SocketIO) -> None:
        self._limited = limited
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._limited.limit()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
