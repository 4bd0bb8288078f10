"""What calls take of resources."""

from typing import TypedDict


class OrderReference(TypedDict):
    """What an action needs of an order: the three actions are signed over the address that it was created with."""

    id: str
    withdraw_address: str
