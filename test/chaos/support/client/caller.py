"""
Calls the service in 64 threads until its standard input ends, and prints one JSON object per call: its `outcome`, or the
`error` of a call that did not end as with a service without faults.
"""

import json
import secrets
import sys
from itertools import count
from threading import Event, Lock, Thread

from disburse import Disburse, NotFoundError, RetryOptions

AT_ONCE = 64
ABSENT = "00000000-0000-4000-8000-000000000000"
given = json.loads(sys.stdin.readline())
client = Disburse(given["baseUrl"], given["apiKey"], given["privateKey"], retries=RetryOptions(attempts=12, timeout=2))
numbers = count()
lock = Lock()
stopped = Event()


def call(number: int) -> str:
    user = given["userId"]
    if number % 4 == 0:
        try:
            client.users.get(ABSENT)
        except NotFoundError:
            return "not found"
        raise AssertionError("a user that is not there was found")
    if number % 4 == 1:
        assert client.users.get(user).data["user"]["id"] == user, "another user"
        return "read"
    payout = {"amount": f"{1 + number % 7}.5", "transaction_hash": f"0x{secrets.token_hex(32)}", "currency_code": "USDC"}
    result = client.payouts.report({"user_id": user, "payout": payout})
    got = result.data["payout"]
    same = got["amount"] == payout["amount"] and got["transaction_hash"] == payout["transaction_hash"]
    assert result.status == 201 and same, f"another payout: {got}"
    return "reported"


def work() -> None:
    while not stopped.is_set():
        with lock:
            number = next(numbers)
        try:
            line = {"outcome": call(number)}
        except Exception as error:
            line = {"error": f"call {number}: {error!r}"}
        with lock:
            print(json.dumps(line), flush=True)


threads = [Thread(target=work) for _ in range(AT_ONCE)]
for thread in threads:
    thread.start()
sys.stdin.read()
stopped.set()
for thread in threads:
    thread.join()
