"""Reports whose transaction hash is none."""

import unittest

from disburse import ConnectionError, Disburse, RetryOptions

DIGITS = "ab" * 32


class HashesTest(unittest.TestCase):
    def report(self, transaction_hash: str) -> None:
        client = Disburse("http://127.0.0.1:9", "k", "p", retries=RetryOptions(attempts=1))
        client.payouts.report({"user_id": "u", "payout": {"amount": "1", "transaction_hash": transaction_hash}})

    def test_texts_that_are_no_hash_are_refused_before_they_are_sent(self) -> None:
        for text in (DIGITS[1:], f"0x{DIGITS}0", f"https://basescan.org/tx/0x{DIGITS}", "[object Object]", ""):
            with self.subTest(text), self.assertRaises(ValueError):
                self.report(text)

    def test_hashes_in_every_form_are_sent(self) -> None:
        for text in (DIGITS, f"0X{DIGITS}", f" 0x{DIGITS.upper()} ", f"\u200e0x{DIGITS}\u2069"):
            with self.subTest(text), self.assertRaises(ConnectionError):
                self.report(text)
