"""Never called: mypy checks it. A mistake that mypy does not find is an unused ``type: ignore``, which is an error too."""

from disburse import Disburse, DisburseExchange, WebhookEvent


def mistakes(client: Disburse, exchange: DisburseExchange, event: WebhookEvent) -> None:
    # A misspelt field.
    client.users.create({"phone": "+15551230001"})  # type: ignore[typeddict-item]
    # A field that is not there.
    client.users.get("u").data["user"]["name"]  # type: ignore[typeddict-item]
    # An amount is a string.
    client.payouts.report({"user_id": "u", "payout": {"amount": 1, "transaction_hash": "0x"}})  # type: ignore[typeddict-item]
    # No such currency.
    client.payouts.report(
        {"user_id": "u", "payout": {"amount": "1", "transaction_hash": "0x", "currency_code": "EUR"}}  # type: ignore[typeddict-item]
    )
    # No such filter, no such status.
    client.payouts.list(state="received")  # type: ignore[call-arg]
    client.payouts.list(status="done")  # type: ignore[arg-type]
    # A read is no write.
    client.users.get("u", idempotency_key="k")  # type: ignore[call-arg]
    # No such operation.
    client.payouts.cancel("p")  # type: ignore[attr-defined]
    # What the exchange requires.
    exchange.orders.create(pair_id="USDCSOL")  # type: ignore[call-arg]
    # No such event.
    if event["type"] == "payout.recieved":  # type: ignore[comparison-overlap]
        return
    if event["type"] == "payout.received":
        # Of a failed payout alone.
        event["data"]["reason"]  # type: ignore[typeddict-item]
    if event["type"] == "payout.failed":
        reason: str = event["data"]["reason"]
        print(reason)
    if event["type"] == "order.refundable":
        due: str = event["data"]["amount_refundable"]
        print(due)
        # Of a failed order alone.
        event["data"]["reason"]  # type: ignore[typeddict-item]
