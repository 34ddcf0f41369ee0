"""Which item an event speaks of, whatever the service does with ids and places."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from palmclaw.core.answers import text_in
from palmclaw.providers.openai_responses.items import Call, Item, Thought, Words, begun

T = TypeVar("T", Words, Thought, Call)


class Assembly:
    """The items of one answer in the order in which they were begun.

    An event names an item by its id and its place (`output_index`). Some services leave one of the two out, some give
    every item the same place, and some write the id anew in each event.
    """

    def __init__(self) -> None:
        self._items: list[Item] = []

    def of(self, kind: type[T]) -> list[T]:
        """The items of one kind."""
        return [item for item in self._items if isinstance(item, kind)]

    def ordered(self) -> list[Item]:
        """All items in the order in which the service counts them."""
        return sorted(self._items, key=lambda item: item.index)

    def opened(self, wire: Any, place: int | None) -> Item | None:
        """An item begins, unless it is only announced again."""
        known = self._named(wire, place)
        if known is None or place not in (None, known.index) or not known.may_be(wire):
            known = self._begun(wire, place)
        return known

    def settled(self, wire: Any, place: int | None) -> Item | None:
        """The item that is told as a whole; begun now where its beginning was not told."""
        found = self._named(wire, place)
        if found is None:
            item_id = text_in(wire, "id")
            there = [i for i in self._like(wire) if i.index == place or (place is None and not (i.id and item_id))]
            found = next((i for i in reversed(there) if i.may_be(wire)), None) or self._begun(wire, place)
        return found

    def spoken_of(self, kind: type[T], item_id: str, place: int | None) -> T:
        """The item that a piece belongs to; begun now where its beginning was not told."""
        own = self.of(kind)
        named = [i for i in own if item_id and i.id == item_id]
        found = [i for i in named or own if place in (None, i.index)] or named
        if not found:
            found = [kind(item_id, len(self._items) if place is None else place)]
            self._items += found
        return found[-1]

    def recognised(self, wires: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Item | None]]:
        """Each item of the final list with the one of ours that it is; begun now where it was not streamed."""
        left = list(self._items)
        for place, wire in enumerate(wires):
            own = [i for i in self._like(wire) if i in left]
            named = [i for i in own if i.id and i.id == text_in(wire, "id")]
            there = [i for i in own if i.index == place and i.may_be(wire)]
            found = next(iter((*named, *(i for i in own if i.is_same(wire)), *there)), None)
            if found is None:
                found = self._begun(wire, place)
            else:
                left.remove(found)
            yield wire, found

    def _like(self, wire: Any) -> list[Item]:
        """The items of the same kind."""
        model = begun(wire, 0) if isinstance(wire, dict) else None
        return [i for i in self._items if type(i) is type(model)]

    def _named(self, wire: Any, place: int | None) -> Item | None:
        """The item that bears this id, best the one in this place."""
        named = [i for i in self._like(wire) if i.id and i.id == text_in(wire, "id")]
        return next((i for i in reversed(named) if i.index == place), named[-1] if named else None)

    def _begun(self, wire: Any, place: int | None) -> Item | None:
        found = begun(wire, len(self._items) if place is None else place) if isinstance(wire, dict) else None
        if found is not None:
            self._items.append(found)
        return found
