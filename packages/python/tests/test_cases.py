"""The recorded cases that hold every client."""

import base64
import json
import re
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from disburse import ApiError, DisburseError, Pages, Result, WebhookError, verify_webhook
from disburse.errors import signature_hint
from disburse.reconcile import reconcile
from disburse.signing import hmac_hex, idempotency_key_of, sign_address, sign_query, string_to_sign
from disburse.transport import wait_of
from recorded import CASES, Service, query_of

Case = dict[str, Any]


class RecordedCases(unittest.TestCase):
    maxDiff = None

    def test_merchant_signatures(self) -> None:
        def run(each: Case) -> None:
            body = base64.b64decode(each["body_base64"])
            signed = string_to_sign(each["seconds"], each["method"], each["path"], body)
            self.assertEqual(signed, base64.b64decode(each["signed_base64"]))
            self.assertEqual(hmac_hex(each["secret"], signed), each["signature"])

        self.each("merchant_signatures", run)

    def test_address_signatures(self) -> None:
        def run(each: Case) -> None:
            self.assertEqual(sign_address(each["secret"], each["address"]), each["signature"])

        self.each("address_signatures", run)

    def test_query_signatures(self) -> None:
        def run(each: Case) -> None:
            query = [(name, value) for name, value in each["query"]]
            self.assertEqual(sign_query(each["secret"], each["path"], query), each["signature"])

        self.each("query_signatures", run)

    def test_own_ids(self) -> None:
        def run(each: Case) -> None:
            self.assertEqual(idempotency_key_of(each["id"], each["method"], each["path"]), each["key"])

        self.each("own_ids", run)

    def test_retries(self) -> None:
        def run(each: Case) -> None:
            for random, bound in ((0.0, each["at_least"]), (1.0, each["at_most"])):
                with (
                    mock.patch("time.time", return_value=each["now_ms"] / 1000),
                    mock.patch("random.random", return_value=random),
                ):
                    wait = wait_of(
                        each["status"],
                        each["headers"],
                        each["body"],
                        each["attempt"],
                        each["max_wait_ms"] / 1000,
                    )
                self.assertEqual(None if wait is None else round(wait * 1000, 3), bound)

        self.each("retries", run)

    def test_attempts(self) -> None:
        def run(each: Case) -> None:
            service = Service(each["steps"])
            with mock.patch("time.sleep") as sleep:
                try:
                    service.merchant(each["attempts"]).users.get("u")
                    outcome = "ok"
                except DisburseError as error:
                    outcome = type(error).__name__
            self.assertEqual((outcome, len(service.requests)), (each["outcome"], each["sent"]))
            waits = [call.args[0] * 1000 for call in sleep.call_args_list]
            self.assertEqual(len(waits), len(each["waits"]))
            for wait, (at_least, at_most) in zip(waits, each["waits"]):
                self.assertGreaterEqual(wait, at_least)
                self.assertLessEqual(wait, at_most)

        self.each("attempts", run)

    def test_pages(self) -> None:
        def run(each: Case) -> None:
            service = Service([{"status": 200, "body": json.dumps(body)} for body in each["bodies"]])
            listed = service.merchant().payouts.list(page_cursor=each["first"])
            self.assertEqual([payout["id"] for payout in listed], each["ids"])
            queries = [dict(query_of(request)) for request in service.requests]
            self.assertEqual([query.get("page_cursor") for query in queries], each["cursors"])

        self.each("pages", run)

    def test_webhooks(self) -> None:
        def run(each: Case) -> None:
            secrets = each["secrets"]
            content = each["body"].encode()
            for body in (each["body"], content, bytearray(content), memoryview(content)):
                with mock.patch("time.time", return_value=each["now"] + 0.5):
                    try:
                        event: Any = verify_webhook(
                            secrets[0] if len(secrets) == 1 else secrets, body, each["headers"]
                        )
                    except WebhookError as error:
                        self.assertEqual(str(error), each["reason"])
                        continue
                self.assertIsNone(each["reason"])
                self.assertEqual(event, json.loads(each["body"]))

        self.each("webhooks", run)

    def test_webhook_bodies_that_were_parsed_are_named_as_such(self) -> None:
        [first, *_] = CASES["webhooks"]
        bodies: tuple[Any, ...] = ({"id": "e"}, [1], None, 7)
        for body, name in zip(bodies, ("dict", "list", "NoneType", "int")):
            with self.subTest(name), self.assertRaisesRegex(WebhookError, f"^The body is of type {name}: expected"):
                verify_webhook(first["secrets"], body, first["headers"])

    def test_results(self) -> None:
        def run(each: Case) -> None:
            result = Service([each]).merchant().users.get("u")
            self.assertEqual(result, Result(**each["expected"]))

        self.each("results", run)

    def test_errors(self) -> None:
        def run(each: Case) -> None:
            with self.assertRaises(ApiError) as raised:
                Service([each]).merchant().users.get("u")
            error = raised.exception
            members = ("status", "title", "detail", "errors", "request_id")
            got = {"kind": type(error).__name__, "message": str(error)}
            self.assertEqual(got | {name: getattr(error, name) for name in members}, each["expected"])

        self.each("errors", run)

    def test_hints(self) -> None:
        def run(each: Case) -> None:
            self.assertEqual(
                signature_hint(each["body"], base64.b64decode(each["signed_base64"])), each["hint"]
            )

        self.each("hints", run)

    def test_reconciliations(self) -> None:
        def run(each: Case) -> None:
            own = each["own"]
            result = reconcile(each["listed"], own)
            place = {id(expected): n for n, expected in enumerate(own)}
            got = {
                "matched": result.matched,
                "missing": [place[id(expected)] for expected in result.missing],
                "unexpected": [payout["id"] for payout in result.unexpected],
                "different": [[place[id(both.expected)], both.payout["id"]] for both in result.different],
                "pending": [payout["id"] for payout in result.pending],
                "expired": [payout["id"] for payout in result.expired],
            }
            self.assertEqual(got, each["expected"])

        self.each("reconciliations", run)

    def test_calls(self) -> None:
        def run(each: Case) -> None:
            expected = each["expected"]
            service = Service([{"status": 200, "body": '{"orders":[],"payouts":[],"events":[]}'}])
            with mock.patch("time.time", return_value=each["now"] + 0.9):
                called = call(service, each)
                if isinstance(called, Pages):
                    called.all()
            [request] = service.requests
            self.assertEqual(
                (request.method, urlsplit(request.url).path, request.body.decode()),
                (expected["method"], expected["path"], expected["body"]),
            )
            self.assertEqual(query_of(request), expected["query"])
            self.assertEqual({name: request.headers.get(name) for name in expected["headers"]}, expected["headers"])
            key = request.headers.get("idempotency-key")
            self.assertEqual(key is None, request.method == "GET")
            self.assertRegex(key or '"' + "0" * 36 + '"', re.compile(r'^"[0-9a-f-]{36}"$'))

        self.each("calls", run)

    def test_every_kind_has_a_test(self) -> None:
        self.assertEqual({f"test_{kind}" for kind in CASES} - set(dir(self)), set())

    def each(self, kind: str, run: Callable[[Case], None]) -> None:
        for each in CASES[kind]:
            with self.subTest(kind, name=each["name"]):
                run(each)
                print(f"case {kind}: {each['name']}")


def call(service: Service, each: Case) -> Any:
    if each["client"] == "merchant":
        node: Any = service.merchant(api_key=each["api_key"], private_key=each["secret"])
    else:
        node = service.exchange(each["api_key"], each["secret"])
    for name in each["operation"].split("."):
        node = getattr(node, name)
    positional: list[Any] = [each["id"]] if "id" in each else []
    if "address" in each:
        positional = [{"id": each["id"], "withdraw_address": each["address"]}]
    if "body" in each:
        positional.append(each["body"])
    named = dict(each["query"])
    if "own_id" in each:
        named["idempotency_key"] = each["own_id"]
    return node(*positional, **named)


if __name__ == "__main__":
    unittest.main()
