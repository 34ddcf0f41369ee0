"""`dataclass` as the standard library's, for those parameters that we use, made in less than half of the time.

There are some 300 on the way to the first request, and each method that the standard library writes for one is compiled
when the module is imported. Here that is `__init__` alone; the other methods are the same for all classes.
"""

from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as _standard
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, repr=True):
        """Without a call, or with one; a class that inherits fields is left to the standard library."""

        def made(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__  # else one is worked out from the signature, which is slow
            if any(hasattr(base, "__dataclass_fields__") for base in cls.__mro__[1:]):
                return _standard(frozen=frozen, slots=slots, eq=eq, repr=repr)(cls)
            return _made(cls, frozen, slots, eq, repr)

        return made if cls is None else made(cls)


def _made(cls: type[Any], frozen: bool, slots: bool, eq: bool, shown: bool) -> type[Any]:
    written = frozenset(vars(cls))
    cls = _standard(init=False, repr=False, eq=False, slots=slots)(cls)
    methods: dict[str, Any] = {"__init__": _init(cls, frozen)}
    if shown:
        methods["__repr__"] = _repr
    if eq:
        methods |= _comparing(cls, frozen)
    if frozen:
        cls.__dataclass_params__.frozen = True  # who inherits from it must know
        methods |= {"__setattr__": _no_set, "__delattr__": _no_delete}
        if slots:
            methods |= {"__getstate__": _state, "__setstate__": _restored}
    for name, method in methods.items():
        if name not in written:
            setattr(cls, name, method)
    return cls


def _init(cls: type[Any], frozen: bool) -> Any:
    """`__init__`, compiled; a frozen class sets what may not be set."""
    names: dict[str, Any] = {"MISSING": MISSING, "put": object.__setattr__}
    parameters, body = ["self"], []
    for f in fields(cls):
        value = _value(f, names, parameters)
        if value:
            body.append(f"put(self, {f.name!r}, {value})" if frozen else f"self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = [f"def __init__({', '.join(parameters)}):", *(body or ["pass"])]
    exec("\n ".join(lines), names)
    init = names["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {f.name: f.type for f in fields(cls) if f.init} | {"return": None}
    return init


def _value(f: "Field[Any]", names: dict[str, Any], parameters: list[str]) -> str:
    """What a field is set to, empty for nothing; its parameter and the names for both are added."""
    if f.default_factory is not MISSING:
        names[f"make_{f.name}"] = f.default_factory
        if not f.init:
            return f"make_{f.name}()"
        parameters.append(f"{f.name}=MISSING")
        return f"make_{f.name}() if {f.name} is MISSING else {f.name}"
    if f.default is MISSING:
        parameters += [f.name] if f.init else []
        return f.name if f.init else ""
    default = f"default_{f.name}"
    names[default] = f.default
    if not f.init:
        return default
    parameters.append(f"{f.name}={default}")
    return f.name


def _comparing(cls: type[Any], frozen: bool) -> dict[str, Any]:
    names = [f.name for f in fields(cls) if f.compare]
    seen: Any = attrgetter(*names) if names else lambda self: ()

    def equal(self: object, other: object) -> bool:
        return seen(self) == seen(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(seen(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _no_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _restored(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
