"""The clients of both APIs."""

import time
from collections.abc import Iterable

from .calls import Api
from .connections import Send
from .generated.exchange import ExchangeOperations
from .generated.merchant import MerchantOperations, Payouts
from .generated.types import PayoutResponse, ReportPayoutBody
from .reconcile import ExpectedPayout, Reconciliation, hash_digits, reconcile
from .result import Result
from .signing import hmac_hex, sign_address, sign_query, string_to_sign
from .transport import Outgoing, RetryingTransport, RetryOptions


class ReconciledPayouts(Payouts):
    def report(self, body: ReportPayoutBody, *, idempotency_key: str | None = None) -> Result[PayoutResponse]:
        """
        Records a payout for a transfer that you have broadcast. Raises a ``ValueError`` before it is sent where
        ``transaction_hash`` is not a transaction hash: the service records any text, and pays out nothing for it.
        """
        payout = body.get("payout")
        hash = payout.get("transaction_hash") if isinstance(payout, dict) else None
        if isinstance(hash, str) and hash_digits(hash) is None:
            raise ValueError("transaction_hash is not a transaction hash: expected 64 hexadecimal digits after 0x")
        return super().report(body, idempotency_key=idempotency_key)

    def reconcile(self, created_from: str, created_to: str, own: Iterable[ExpectedPayout]) -> Reconciliation:
        """What differs between your own list of a period and the service's. Days in UTC, ``YYYY-MM-DD``, both inclusive."""
        return reconcile(self.list(created_from=created_from, created_to=created_to), own)


class Disburse(MerchantOperations):
    """
    The merchant API (docs/contract.md 2 to 17): users, payouts, events, webhook endpoints and deliveries, portal sessions,
    audit. Calls are signed and retried; every write has an Idempotency-Key. They raise an ``ApiError`` or a
    ``ConnectionError``. One client serves any number of threads.
    """

    payouts: ReconciledPayouts

    def __init__(
        self,
        base_url: str,
        api_key: str,
        #: Keep it on a server: with it anyone can report payouts in your name.
        private_key: str,
        *,
        retries: RetryOptions = RetryOptions(),
        send: Send | None = None,
    ) -> None:
        if not api_key or not private_key:
            raise ValueError("api_key or private_key is missing")

        def sign(outgoing: Outgoing) -> bytes:
            seconds = str(int(time.time()))
            signed = string_to_sign(seconds, outgoing.method, outgoing.path, outgoing.body)
            outgoing.headers |= {
                "svc-api-key": api_key,
                "svc-timestamp": seconds,
                "svc-signature": hmac_hex(private_key, signed),
            }
            return signed

        #: Every path of the document, for what the methods lack.
        self.api = Api(base_url, RetryingTransport(sign, retries, send))
        super().__init__(self.api)
        self.payouts = ReconciledPayouts(self.api)


class DisburseExchange(ExchangeOperations):
    """
    The exchange and on-ramp API (docs/contract.md 21 to 25). ``api_key`` is the public part of a key of the exchange,
    ``secret`` its secret: calls are signed where there is one, and a key that demands no signatures works without.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        secret: str | None = None,
        *,
        retries: RetryOptions = RetryOptions(),
        send: Send | None = None,
    ) -> None:
        def sign(outgoing: Outgoing) -> None:
            """Signs the whole query where the API takes that (``signature_v2``), and the list in its header."""
            if outgoing.path == "/v1/merchant/orders":
                outgoing.headers["x-api-key"] = api_key
                if secret is not None:
                    outgoing.headers["x-signature"] = sign_address(secret, "")
                return
            outgoing.query.append(("api_key", api_key))
            if secret is not None and any(name == "withdraw_address" for name, _ in outgoing.query):
                outgoing.query.append(("signature_v2", sign_query(secret, outgoing.path, outgoing.query)))

        def signature_of(address: str) -> str | None:
            return None if secret is None else sign_address(secret, address)

        #: Every path of the document, for what the methods lack.
        self.api = Api(base_url, RetryingTransport(sign, retries, send))
        super().__init__(self.api, signature_of)
