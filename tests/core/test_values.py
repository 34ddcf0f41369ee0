"""A class of values is what the standard library would have made of it."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core import values

T = TypeVar("T")
Maker = Callable[..., Callable[[type[Any]], type[Any]]]
OURS: Maker = values.dataclass
THEIRS: Maker = dataclass
OPTIONS = [
    {"frozen": True, "slots": True},
    {"frozen": True},
    {"slots": True},
    {"slots": True, "repr": False},
    {"slots": True, "eq": False},
    {"frozen": True, "eq": False, "slots": True},
    {},
]


def point(make: Maker, **options: bool) -> type[Any]:
    @make(**options)
    class Point(Generic[T]):
        """Fields of each kind."""

        unit: ClassVar[str] = "mm"
        x: int
        y: T
        name: str = "p"
        tags: list[str] = field(default_factory=list)
        key: str = field(default="k", repr=False, compare=False)
        size: int = field(init=False, default=3)
        seen: list[int] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            self.seen.append(self.x)

    return Point


def outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except (TypeError, AttributeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(
    x=st.integers(), y=st.text(), name=st.text(), tags=st.lists(st.text()), other=st.integers(), change=st.booleans()
)
def test_it_is_as_the_standard_librarys(
    options: dict[str, bool], x: int, y: str, name: str, tags: list[str], other: int, change: bool
) -> None:
    def told(make: Maker) -> list[Any]:
        cls = point(make, **options)
        one, same = cls(x, y, name, tags=tags), cls(x=x, y=y, name=name, tags=tags, key="another")
        changed = replace(one, x=other) if change else one
        shown = repr(one) if options.get("repr", True) else ""
        equal = (one == same, one == changed, one == 3, one != same) if options.get("eq", True) else one == one
        parts = [(f.name, f.init, f.repr, f.compare, f.hash) for f in fields(cls)]
        return [
            *(shown, equal, cls.__match_args__, parts, [f.name for f in fields(cls(x, y)) if getattr(one, f.name)]),
            *(changed.seen, changed.size, cls(x, y).tags is cls(x, y).tags, cls.__init__.__annotations__, cls.__doc__),
            [(p.name, p.kind, p.default is p.empty) for p in inspect.signature(cls).parameters.values()],
            *(outcome(lambda: setattr(one, "x", 1)), one.x, cls.unit),
            *(outcome(lambda: delattr(one, "key")), outcome(cls), outcome(lambda: cls(x, y, size=1))),
            *(copy.deepcopy(one).tags, copy.copy(one).seen, dataclasses.astuple(cls(x, y)), cls.__hash__ is None),
        ]

    assert told(OURS) == told(THEIRS)


@values.dataclass(frozen=True, slots=True)
class Spot:
    x: int
    y: int = 0


@values.dataclass(frozen=True, slots=True)
class Empty:
    """Has no fields."""


@values.dataclass
class Bare:
    """Is decorated without a call."""

    x: int

    def __repr__(self) -> str:
        return "written by hand"


def test_values_are_keys_and_survive_being_stored() -> None:
    assert {Spot(1): "a", Spot(1, 0): "b", Empty(): "c", Empty(): "d"} == {Spot(1): "b", Empty(): "d"}
    assert pickle.loads(pickle.dumps(Spot(1, 2))) == Spot(1, 2)
    assert (repr(Empty()), repr(Bare(1)), Bare(1) == Bare(1), Spot.__doc__) == (
        "Empty()",
        "written by hand",
        True,
        "Spot",
    )
    with pytest.raises(TypeError, match="unhashable"):
        hash(Bare(1))


def test_whoever_inherits_fields_has_them_too() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Deep(Spot):
        z: int = 5

    @dataclass(frozen=True, slots=True)
    class Foreign(Spot):
        """By somebody who knows the standard library only."""

        z: int = 6

    assert (repr(Deep(1)).rpartition(".")[2], Deep(1), Foreign(2, z=7).z) == ("Deep(x=1, y=0, z=5)", Deep(1, 0, 5), 7)
    for each in (Deep(1), Foreign(1), Spot(1)):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
            each.x = 3  # type: ignore[misc]  # that is the point
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'y'"):
            del each.y
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'new'"):
        Spot(1).new = 1  # type: ignore[attr-defined]  # the standard library trips over itself here
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):

        @dataclass
        class Loose(Spot):  # type: ignore[misc]  # that is the point
            """May be set."""
