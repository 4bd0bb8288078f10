"""Verifies messages by the Python client: one JSON per line in, the reason for refusing (or null) out."""

import base64
import json
import sys
import time

from disburse import WebhookError, verify_webhook

for line in sys.stdin:
    message = json.loads(line)
    body, now = base64.b64decode(message["body"]), message["now"]
    time.time = lambda now=now: now
    try:
        verify_webhook(message["secrets"], body, message["headers"])
        print("null", flush=True)
    except WebhookError as error:
        print(json.dumps(str(error)), flush=True)
