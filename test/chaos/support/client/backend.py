"""backend.mjs with the Python client."""

import json
import sys
import time
from pathlib import Path

from disburse import Disburse, Request, Response
from disburse.connections import Connections

#: Longer than the parent waits before it kills.
SETTLE_SECONDS = 0.1
given = json.loads(Path(sys.argv[1]).read_text())
done_file = Path(given["doneFile"])
connections = Connections()
current = ""


def send(request: Request, timeout: float) -> Response:
    # From now on the request may arrive. The parent kills this process at some time after that line.
    print(current, flush=True)
    return connections.send(request, timeout)


client = Disburse(given["baseUrl"], given["apiKey"], given["privateKey"], send=send)
done = set(done_file.read_text().split("\n")) if done_file.exists() else set()
for order in given["orders"]:
    if order["id"] in done:
        continue
    current = order["id"]
    payout = {"amount": order["amount"], "transaction_hash": order["transaction_hash"], "currency_code": "USDC"}
    client.payouts.report({"user_id": given["userId"], "payout": payout}, idempotency_key=current)
    with done_file.open("a") as file:
        file.write(f"{current}\n")
time.sleep(SETTLE_SECONDS)
print("complete")
