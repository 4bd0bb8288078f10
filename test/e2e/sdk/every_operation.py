"""
Calls every operation of merchants through the Python client. Reads where the service is from standard input, as JSON, and
writes what it called and received. Every statement that is not so ends it with its traceback.
"""

import json
import sys
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import urlsplit

from disburse import (
    AuthenticationError,
    Disburse,
    DisburseExchange,
    ExpectedPayout,
    InvalidRequestError,
    NotFoundError,
    Reconciliation,
    Request,
    Response,
    verify_webhook,
)
from disburse.connections import Connections

Value = TypeVar("Value")
GIVEN = json.load(sys.stdin)
ADDRESS = GIVEN["address"]
TODAY = datetime.now(timezone.utc).date().isoformat()
called: set[str] = set()
deliveries: list[dict[str, Any]] = []
connections = Connections()


def send(request: Request, timeout: float) -> Response:
    called.add(f"{request.method} {urlsplit(request.url).path}")
    return connections.send(request, timeout)


class Receiver(BaseHTTPRequestHandler):
    """A receiver of webhooks as a merchant writes it."""

    secret = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        event = verify_webhook(self.secret, body, self.headers)
        deliveries.append({"headers": dict(self.headers.items()), "body": body.decode(), "event": event})
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def eventually(read: Callable[[], Value | None]) -> Value:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if value := read():
            return value
        time.sleep(0.1)
    raise AssertionError("it did not come to be within a minute")


def now_iso(offset: timedelta = timedelta()) -> str:
    return (datetime.now(timezone.utc) + offset).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def pay(disburse: Disburse, receiver_url: str) -> dict[str, Any]:
    """Reports a payout, reads it everywhere, and receives its webhook."""
    own = disburse.webhook_endpoints.register({"webhook_endpoint": {"url": receiver_url}})
    endpoint = own.data["webhook_endpoint"]
    Receiver.secret = endpoint["signing_secret"]
    theirs = disburse.webhook_endpoints.register({"webhook_endpoint": {"url": GIVEN["receiver_url"]}})
    other = theirs.data["webhook_endpoint"]

    created = disburse.users.create(
        {"phone_number": "+15551230001", "email": "zoë@example.com", "external_id": "player-1"},
        idempotency_key="Zoë 1",
    )
    user_id = created.data["user"]["id"]
    disburse.sandbox.complete_onboarding(user_id)
    user = disburse.users.get(user_id).data["user"]
    assert user["account_state"] == "active", user
    wallet = user["issuer_wallet_address"]
    assert wallet is not None
    assert disburse.users.find_by_wallet(wallet).data["user"]["id"] == user_id

    sent = disburse.sandbox.transfer({"to": wallet, "amount": "12.5"}).data
    transaction_hash = sent["transaction_hash"]
    first, repeat = [
        disburse.payouts.report(
            {
                "user_id": user_id,
                "payout": {"amount": "12.50", "transaction_hash": transaction_hash, "currency_code": "USDC"},
            },
            idempotency_key="invoice 1",
        )
        for _ in range(2)
    ]
    assert (first.status, first.replayed, repeat.replayed) == (201, False, True)
    assert first.data == repeat.data and first.request_id
    payout_id = first.data["payout"]["id"]
    eventually(lambda: disburse.payouts.get(payout_id).data["payout"]["status"] == "received")
    assert disburse.users.balance(user_id).data["balance"]["confirmed"] == "12.5"
    assert disburse.payouts.evidence(payout_id).data["evidence"]["transaction_hash"] == transaction_hash
    assert disburse.payouts.proof(payout_id).data["proof"]["payout_id"] == payout_id
    head = disburse.audit.head().data["head"]
    disburse.audit.consistency(from_=head["size"], to=head["size"])
    expected: list[ExpectedPayout] = [{"transaction_hash": transaction_hash, "user_id": user_id, "amount": "12.5"}]
    assert disburse.payouts.reconcile(TODAY, TODAY, expected) == Reconciliation(matched=1)

    received = eventually(
        lambda: next((each for each in deliveries if each["event"]["type"] == "payout.received"), None)
    )
    assert received["event"]["data"]["payout_id"] == payout_id
    manage(disburse, endpoint["id"])
    return {"user_id": user_id, "transaction_hash": transaction_hash, "secret": endpoint["signing_secret"], "other_secret": other["signing_secret"]}


def manage(disburse: Disburse, endpoint_id: str) -> None:
    """All that an endpoint and its deliveries have."""
    endpoints, webhooks = disburse.webhook_endpoints, disburse.webhook_deliveries
    delivery = webhooks.list(endpoint_id, type="payout.received").all()[0]
    assert len(webhooks.get(delivery["id"]).data["webhook_delivery"]["attempts"]) == 1
    assert webhooks.resend(delivery["id"]).status == 202
    endpoints.test(endpoint_id)
    eventually(lambda: any(each["event"]["type"] == "webhook_endpoint.test" for each in deliveries))
    rotated = endpoints.rotate_secret(endpoint_id, {"overlap_seconds": 60}).data["webhook_endpoint"]
    assert rotated["signing_secret"] != Receiver.secret
    assert endpoints.stats(endpoint_id, since=now_iso(-timedelta(hours=1))).status == 200
    endpoints.recover(endpoint_id, {"since": now_iso(-timedelta(minutes=1))})
    endpoints.update(endpoint_id, {"webhook_endpoint": {"description": "ours"}})
    assert endpoints.get(endpoint_id).data["webhook_endpoint"]["description"] == "ours"
    broken = disburse.sandbox.break_webhook_endpoint(endpoint_id).data["webhook_endpoint"]
    assert broken["status"] == "disabled"
    assert len(endpoints.list().data["webhook_endpoints"]) == 2
    assert endpoints.delete(endpoint_id).status == 204


def track(disburse: Disburse, user_id: str) -> None:
    event_id = str(uuid.uuid4())
    sent = disburse.events.send(
        {
            "events": [
                {
                    "event_name": "level_up",
                    "payload": {},
                    "event_datetime": now_iso(),
                    "event_id": event_id,
                    "user_external_id": "player-1",
                }
            ]
        }
    )
    assert (sent.status, sent.data) == (202, None)
    assert eventually(lambda: disburse.users.events(user_id).all())[0]["event_id"] == event_id


def open_portal(disburse: Disburse) -> None:
    session = disburse.portal_sessions.create().data["portal_session"]
    assert [each["id"] for each in disburse.portal_sessions.list(page_size=1)] == [session["id"]]
    assert disburse.portal_sessions.revoke(session["id"]).status == 204


def exchange_tokens(disburse: Disburse, exchange: DisburseExchange) -> None:
    [token, *_] = exchange.tokens(to_token="sol").data["tokens"]
    pair_id = token["pair_ids"][0]
    order, paid = [exchange.orders.create(pair_id=pair_id, withdraw_address=ADDRESS).data["order"] for _ in range(2)]
    assert exchange.orders.get(order).data["order"] == order
    assert exchange.orders.refresh(order).data["order"]["id"] == order["id"]
    exchange.orders.mark_as_paid(paid)
    assert exchange.orders.cancel(order).data["order"]["status"] == "cancelled"
    listed = exchange.orders.list(start_date=TODAY, end_date=TODAY, page_size=1).all()
    assert {each["id"] for each in listed} == {order["id"], paid["id"]}
    [one, same] = [
        exchange.orders.create(
            pair_id="USDCSOL", withdraw_address=ADDRESS, user_id="für ~Ada & (1+1)", idempotency_key="order 1"
        )
        for _ in range(2)
    ]
    assert (one.replayed, same.replayed) == (False, True) and one.data == same.data
    assert disburse.sandbox.fail_order(paid["id"]).data["order"]["status"] == "failed"
    disburse.sandbox.transfer({"to": one.data["order"]["deposit_address"], "amount": "40"})
    eventually(lambda: exchange.orders.get(one.data["order"]).data["order"]["amount_received"] == "40" or None)
    assert disburse.sandbox.refund_order(one.data["order"]["id"]).data["order"]["status"] == "refunded"
    configuration = exchange.configuration(token="sol", withdraw_address=ADDRESS).data
    assert ADDRESS in configuration["signed_url"]


def walk_pages(disburse: Disburse) -> None:
    user_id = disburse.users.create({"phone_number": "+15551230002"}).data["user"]["id"]
    disburse.sandbox.complete_onboarding(user_id)
    hashes = [f"0x{uuid.uuid4().hex * 2}" for _ in range(5)]
    for transaction_hash in hashes:
        disburse.payouts.report(
            {"user_id": user_id, "payout": {"amount": "1", "transaction_hash": transaction_hash}}
        )
    expired = disburse.payouts.report(
        {"user_id": user_id, "payout": {"amount": "1", "transaction_hash": f"0x{uuid.uuid4().hex * 2}"}}
    ).data["payout"]
    assert disburse.sandbox.expire_payout(expired["id"]).data["payout"]["status"] == "expired"
    hashes.append(expired["transaction_hash"])
    listed = disburse.payouts.list(user_id=user_id, page_size=2)
    assert [each["transaction_hash"] for each in listed] == hashes[::-1]
    assert [len(page.data["payouts"]) for page in listed.pages()] == [2, 2, 2]


def refuse(disburse: Disburse) -> None:
    """Errors by kind, with the fields, the request id and the byte that differs."""
    error = raised(NotFoundError, lambda: disburse.users.get(str(uuid.uuid4())))
    assert error.status == 404
    wrong = raised(InvalidRequestError, lambda: disburse.users.create({"phone_number": "no number"}))
    assert wrong.status == 422 and wrong.errors["phone_number"] and wrong.request_id
    stranger = Disburse(GIVEN["url"], GIVEN["merchant"]["apiKey"], "wrong")
    unknown = raised(AuthenticationError, lambda: stranger.payouts.list().all())
    assert "the private key is not that of this api key" in str(unknown)

    def change(request: Request, timeout: float) -> Response:
        return connections.send(Request(request.method, request.url, request.headers, request.body + b" "), timeout)

    changed = Disburse(GIVEN["url"], GIVEN["merchant"]["apiKey"], GIVEN["merchant"]["privateKey"], send=change)
    differs = raised(AuthenticationError, lambda: changed.users.create({"phone_number": "+15551230003"}))
    assert 'of the string to sign differs: nothing here, " " at the service' in str(differs), differs


Raised = TypeVar("Raised", bound=Exception)


def raised(kind: type[Raised], run: Callable[[], object]) -> Raised:
    try:
        run()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    Thread(target=server.serve_forever, daemon=True).start()
    credentials = GIVEN["merchant"]
    disburse = Disburse(GIVEN["url"], credentials["apiKey"], credentials["privateKey"], send=send)
    exchange = DisburseExchange(GIVEN["url"], GIVEN["exchange"]["apiKey"], GIVEN["exchange"]["secret"], send=send)
    facts = pay(disburse, f"http://127.0.0.1:{server.server_port}/webhooks")
    track(disburse, facts["user_id"])
    open_portal(disburse)
    exchange_tokens(disburse, exchange)
    walk_pages(disburse)
    refuse(disburse)
    server.shutdown()
    print(json.dumps({"called": sorted(called), "deliveries": deliveries, **facts}))


main()
