"""What a call returns."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Data = TypeVar("Data")


@dataclass(frozen=True)
class Result(Generic[Data]):
    """A successful response."""

    data: Data
    status: int
    #: Header ``Request-Id``: name it when you ask for help.
    request_id: str | None
    #: The first response to this Idempotency-Key, sent again (docs/contract.md 4.3): the write was not done twice.
    replayed: bool
