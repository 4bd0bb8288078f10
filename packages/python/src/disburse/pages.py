"""Lists, page after page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from .result import Result

Page = TypeVar("Page")
Item = TypeVar("Item")


class Pages(Generic[Page, Item]):
    """All items of a list: ``for payout in disburse.payouts.list(): ...``."""

    def __init__(
        self, fetch: Callable[[str | None], Result[Page]], member: str, first: str | None = None
    ) -> None:
        self._fetch = fetch
        self._member = member
        self._first = first

    def pages(self) -> Iterator[Result[Page]]:
        """The pages themselves; a page may be shorter than ``page_size``, or empty, and others follow (docs/contract.md 6.1)."""
        cursor = self._first
        while True:
            page = self._fetch(cursor)
            yield page
            cursor = _members(page.data).get("next_cursor")
            if not cursor:
                return

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from cast(Sequence[Item], _members(page.data)[self._member])

    def all(self) -> list[Item]:
        """All items in memory."""
        return list(self)


def _members(page: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], page)
