"""Compares the payouts of a caller's own books with those of the service."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from .generated.types import Payout


_HASH = re.compile("(?:0x)?([0-9a-f]{64})", re.IGNORECASE)
#: Marks without a glyph, which copying from a page or a chat adds.
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")


def hash_digits(text: str) -> str | None:
    """
    Returns the digits of a transaction hash in lower case, or None for a text that is none. The prefix, and invisible
    marks and spaces that copying adds, change nothing.
    """
    hash = _HASH.fullmatch(_INVISIBLE.sub("", text).strip())
    return hash[1].lower() if hash else None


class ExpectedPayout(TypedDict):
    """A payout as your own books have it."""

    transaction_hash: str
    user_id: str
    #: A decimal, such as ``12.5``.
    amount: str


@dataclass
class Difference:
    """The same transfer and user with another amount."""

    expected: ExpectedPayout
    payout: Payout


@dataclass
class Reconciliation:
    #: In both, with the same amount.
    matched: int = 0
    #: In your books alone: report them again under their own Idempotency-Key.
    missing: list[ExpectedPayout] = field(default_factory=list)
    #: At the service alone.
    unexpected: list[Payout] = field(default_factory=list)
    different: list[Difference] = field(default_factory=list)
    #: Of those that match: the outcome is not there yet, or is that the transfer was not found in time.
    pending: list[Payout] = field(default_factory=list)
    expired: list[Payout] = field(default_factory=list)


def reconcile(listed: Iterable[Payout], own: Iterable[ExpectedPayout]) -> Reconciliation:
    """Compares two lists of payouts by transfer and user. The caller's list is held in memory, the service's is not."""
    expected: dict[tuple[str, str], list[ExpectedPayout]] = {}
    for each in own:
        expected.setdefault(_key_of(each["transaction_hash"], each["user_id"]), []).append(each)
    result = Reconciliation()
    unmatched: list[Payout] = []
    for payout in listed:
        candidates = expected.get(_key_of(payout["transaction_hash"], payout["user_id"]), [])
        amount = _decimal(payout["amount"])
        at = next((n for n, each in enumerate(candidates) if _decimal(each["amount"]) == amount), None)
        if at is None:
            unmatched.append(payout)
            continue
        del candidates[at]
        result.matched += 1
        if payout["status"] == "pending":
            result.pending.append(payout)
        if payout["status"] == "expired":
            result.expired.append(payout)
    # Last: an equal amount of the same transfer comes first.
    for payout in unmatched:
        candidates = expected.get(_key_of(payout["transaction_hash"], payout["user_id"]), [])
        if candidates:
            result.different.append(Difference(candidates.pop(0), payout))
        else:
            result.unexpected.append(payout)
    result.missing = [each for candidates in expected.values() for each in candidates]
    return result


def _key_of(transaction_hash: str, user_id: str) -> tuple[str, str]:
    return hash_digits(transaction_hash) or transaction_hash.lower(), user_id.lower()


def _decimal(amount: str) -> str:
    """Without leading zeros and zeros at its end: ``12.50`` is ``12.5``."""
    whole, *parts = amount.split(".")
    return f"{re.sub(r'^0+(?=[0-9])', '', whole)}.{(parts[0] if parts else '').rstrip('0')}"
