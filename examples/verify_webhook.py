#!/usr/bin/env python3
"""Verifies webhooks with Python's standard library alone. Copy it into your application.

Rules: docs/contract.md 13.4, which are those of Standard Webhooks. Two things are left to you: remember the
webhook-ids that you have handled, as each delivery may come more than once, and respond within 30 seconds.

A receiver to try it with:  WEBHOOK_SECRET=whsec_... python3 examples/verify_webhook.py 8080
"""

import base64
import hashlib
import hmac
import time

TOLERANCE_SECONDS = 5 * 60


class NotGenuine(Exception):
    """Respond with 400. The message says why, for your log."""


def verify(secrets, headers, body, now=None):
    """Returns the webhook-id, or raises NotGenuine.

    secrets: your endpoint's signing secrets ("whsec_..."): one, or two while one replaces the other
    headers: a mapping that finds names in lower case
    body: the bytes as they came. Parsed and written again they would no longer fit the signature.
    """
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    webhook_id, timestamp, signatures = (headers.get(name) or "" for name in names)
    if not (webhook_id and timestamp and signatures):
        raise NotGenuine("a header is missing")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise NotGenuine("the timestamp is no number of seconds")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise NotGenuine("the timestamp is more than 5 minutes off")

    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = [_signature(secret, signed) for secret in secrets]
    given = [entry[3:].encode() for entry in signatures.split(" ") if entry.startswith("v1,")]
    # Every pair is compared, each in constant time: how long it takes tells nothing.
    if not sum(hmac.compare_digest(ours, theirs) for ours in expected for theirs in given):
        raise NotGenuine("no v1 signature fits")
    return webhook_id


def _signature(secret, signed):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def serve(secrets, port):
    """A receiver on this machine that returns 204 or 400 and prints what came."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            length = self.headers.get("content-length") or ""
            if not length.isdigit() or int(length) > 1_048_576:
                return self.respond(413, "too large, or of no known length")
            body = self.rfile.read(int(length))
            try:
                self.respond(204, verify(secrets, self.headers, body) + " " + body.decode("utf-8", "replace"))
            except NotGenuine as error:
                self.respond(400, str(error))

        def respond(self, status, line):
            print(status, line, flush=True)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()


if __name__ == "__main__":
    import os
    import sys

    serve(os.environ["WEBHOOK_SECRET"].split(), int(sys.argv[1]))
