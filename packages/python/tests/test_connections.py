"""Connections to a service that behaves well or badly, over the loopback interface."""

import random
import socket
import threading
import time
import unittest
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

from disburse import ConnectionError, Disburse, Request, ResponseTooLargeError, RetryOptions
from disburse.connections import Connections

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nX-A: 2\r\n\r\n{}"


class Listener:
    """Hands each connection to a function in a thread, which gets the socket; counts connections."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.connections = 0
        self._serve = serve
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._serve(connection)
            except OSError:
                pass

    def close(self) -> None:
        self._socket.close()


def read_request(connection: socket.socket) -> bytes:
    """Head and body of a request; empty when the client closed the connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65_536)
        if not chunk:
            return b""
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


class ConnectionsTest(unittest.TestCase):
    def test_an_empty_key_is_refused_before_any_call(self) -> None:
        for keys in ("", "private"), ("api", ""):
            with self.subTest(keys), self.assertRaisesRegex(ValueError, "is missing"):
                Disburse("http://127.0.0.1:1", *keys)

    def listener(self, serve: Callable[[socket.socket], None]) -> Listener:
        listener = Listener(serve)
        self.addCleanup(listener.close)
        return listener

    def connections(self) -> Connections:
        connections = Connections()
        self.addCleanup(connections.close)
        return connections

    def test_one_connection_serves_calls_one_after_the_other(self) -> None:
        def serve(connection: socket.socket) -> None:
            while read_request(connection):
                connection.sendall(OK)

        listener, connections = self.listener(serve), self.connections()
        for _ in range(5):
            response = connections.send(Request("GET", f"{listener.url}/a?b=c", {}), 5)
        self.assertEqual((response.status, response.body, response.headers["x-a"]), (200, b"{}", "1, 2"))
        self.assertEqual(listener.connections, 1)

    def test_a_connection_that_the_service_closed_while_it_was_idle_is_replaced(self) -> None:
        def serve(connection: socket.socket) -> None:
            read_request(connection)
            connection.sendall(OK)

        listener, connections = self.listener(serve), self.connections()
        for _ in range(3):
            self.assertEqual(connections.send(Request("GET", f"{listener.url}/", {}), 5).status, 200)
            time.sleep(0.02)
        self.assertEqual(listener.connections, 3)

    def test_threads_share_a_client_without_mixing_responses(self) -> None:
        def serve(connection: socket.socket) -> None:
            while request := read_request(connection):
                body = b'"' + request.split(b" ")[1] + b'"'
                time.sleep(0.001)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

        listener = self.listener(serve)
        client = Disburse(listener.url, "a", "p")
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda n: client.users.get(f"u{n}").data, range(100)))
        self.assertEqual(results, [f"/merchants/v1/users/u{n}" for n in range(100)])

    def test_a_body_that_is_cut_off_is_no_response(self) -> None:
        def serve(connection: socket.socket) -> None:
            read_request(connection)
            connection.sendall(OK[:-1])

        client = Disburse(self.listener(serve).url, "a", "p", retries=RetryOptions(attempts=1))
        with self.assertRaises(ConnectionError) as raised:
            client.users.get("u")
        self.assertIsNotNone(raised.exception.__cause__)

    def test_a_response_that_never_ends_is_read_to_its_bound_once(self) -> None:
        forms = {
            "of no length": (b"", b"x" * 1000),
            "in chunks": (b"Transfer-Encoding: chunked\r\n", b"3e8\r\n" + b"x" * 1000 + b"\r\n"),
            "of a length that is too large": (b"Content-Length: 1000000000000\r\n", b"x" * 1000),
        }
        for name, (header, part) in forms.items():
            for status in (b"200", b"503"):

                def serve(connection: socket.socket) -> None:
                    read_request(connection)
                    connection.sendall(b"HTTP/1.1 " + status + b" OK\r\n" + header + b"\r\n")
                    while True:
                        connection.sendall(part)

                listener = self.listener(serve)
                client = Disburse(listener.url, "a", "p", retries=RetryOptions(max_response_bytes=100_000))
                with self.subTest(name, status=status), self.assertRaises(ConnectionError) as raised:
                    client.users.get("u")
                self.assertIsInstance(raised.exception, ResponseTooLargeError)
                self.assertEqual(
                    str(raised.exception),
                    "GET /merchants/v1/users/u: the response is larger than 100000 bytes",
                )
                self.assertEqual(listener.connections, 1)

    def test_an_id_that_would_be_another_path_is_refused_before_it_is_sent(self) -> None:
        client = Disburse("http://127.0.0.1:9", "a", "p", retries=RetryOptions(attempts=1))
        ids: tuple[Any, ...] = ("", ".", "..", None, 7)
        for id in ids:
            with self.subTest(id), self.assertRaisesRegex(ValueError, " is not a valid id: expected a text"):
                client.users.get(id)
            with self.subTest(id), self.assertRaises(ValueError):
                client.webhook_endpoints.delete(id)

    def test_the_time_limit_is_for_the_whole_exchange(self) -> None:
        def serve(connection: socket.socket) -> None:
            read_request(connection)
            for byte in OK:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)

        listener, connections = self.listener(serve), self.connections()
        begun = time.monotonic()
        with self.assertRaises(TimeoutError):
            connections.send(Request("GET", f"{listener.url}/", {}), 0.3)
        self.assertLess(time.monotonic() - begun, 1.5)

    def test_a_service_that_does_not_respond_is_a_connection_error_after_all_attempts(self) -> None:
        def serve(connection: socket.socket) -> None:
            read_request(connection)
            time.sleep(2)

        listener = self.listener(serve)
        client = Disburse(listener.url, "a", "p", retries=RetryOptions(attempts=2, timeout=0.2))
        with self.assertRaises(OSError):
            client.users.get("u")
        self.assertEqual(listener.connections, 2)

    def test_no_service_is_a_connection_error(self) -> None:
        listener = self.listener(lambda connection: None)
        listener.close()
        client = Disburse(listener.url, "a", "p", retries=RetryOptions(attempts=1))
        with self.assertRaisesRegex(ConnectionError, "GET /merchants/v1/users/u: no response in 1 attempts"):
            client.users.get("u")

    def test_a_write_is_repeated_under_one_key_with_the_same_body(self) -> None:
        received: list[bytes] = []

        def serve(connection: socket.socket) -> None:
            received.append(read_request(connection))
            if len(received) > 1:
                connection.sendall(OK)

        client = Disburse(self.listener(serve).url, "a", "p")
        client.users.create({"phone_number": "+15551230001"}, idempotency_key="customer 7")
        self.assertEqual(len(received), 2)
        key, *others = [line for line in received[0].split(b"\r\n") if line.startswith(b"idempotency-key")]
        self.assertEqual(others, [])
        self.assertIn(key, received[1])
        self.assertEqual(received[0].split(b"\r\n\r\n")[1], received[1].split(b"\r\n\r\n")[1])

    def test_writes_through_a_service_at_fault_are_done_once_and_have_the_first_response(self) -> None:
        chance = random.Random(1)
        done: dict[bytes, int] = {}
        faults: Counter[str] = Counter()

        def serve(connection: socket.socket) -> None:
            while request := read_request(connection):
                fault = chance.choice(("none", "cut", "half", "lost", "busy", "in flight", "late", "idle"))
                faults[fault] += 1
                [key] = [line for line in request.split(b"\r\n") if line.startswith(b"idempotency-key")]
                if fault == "cut":
                    return
                if fault in ("busy", "in flight"):
                    status = b"503 Busy" if fault == "busy" else b"409 Conflict"
                    body = b'{"detail":"A request with this Idempotency-Key is in flight"}'
                    connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
                    continue
                is_replayed = b"true" if key in done else b"false"
                body = b"%d" % done.setdefault(key, len(done))
                head = b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\nIdempotent-Replayed: %s\r\n\r\n"
                response = head % (len(body), is_replayed) + body
                if fault == "late":
                    threading.Event().wait(0.09)
                connection.sendall({"half": response[:-1], "lost": b""}.get(fault, response))
                if fault in ("half", "lost", "idle"):
                    return

        retries = RetryOptions(attempts=60, timeout=0.06)
        client = Disburse(self.listener(serve).url, "a", "p", retries=retries)
        with mock.patch("time.sleep"):
            results = [client.users.create({"phone_number": "+1"}, idempotency_key=f"n {n}") for n in range(100)]
        self.assertEqual([result.data for result in results], list(range(100)))
        self.assertEqual(len(done), 100)
        self.assertTrue(any(result.replayed for result in results))
        self.assertGreater(min(faults.values()), 5)

    def test_an_address_that_is_none_is_refused_at_once(self) -> None:
        for address in ("api.example.com", "ftp://api.example.com", ""):
            with self.assertRaises(ValueError):
                Disburse(address, "a", "p")


if __name__ == "__main__":
    unittest.main()
