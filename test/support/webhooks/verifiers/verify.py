"""Verifies messages by examples/verify_webhook.py: one JSON per line in, the reason for refusing (or null) out."""

import base64
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "examples"))

from verify_webhook import NotGenuine, verify  # noqa: E402

for line in sys.stdin:
    message = json.loads(line)
    try:
        verify(message["secrets"], message["headers"], base64.b64decode(message["body"]), message.get("now"))
        print("null", flush=True)
    except NotGenuine as error:
        print(json.dumps(str(error)), flush=True)
