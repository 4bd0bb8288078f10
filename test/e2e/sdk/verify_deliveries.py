"""Verifies deliveries with the Python client: a JSON list in, for each the error or null out."""

import json
import sys

from disburse import WebhookError, verify_webhook

outcomes: list[str | None] = []
for delivery in json.load(sys.stdin):
    try:
        verify_webhook(delivery["secret"], delivery["body"], delivery["headers"])
        outcomes.append(None)
    except WebhookError as error:
        outcomes.append(str(error))
print(json.dumps(outcomes))
