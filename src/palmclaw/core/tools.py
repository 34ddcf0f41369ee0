"""What a tool is: a name, an effect, an argument dataclass and one async function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from palmclaw.core.schema import Textual, brief_schema
from palmclaw.core.values import dataclass

T = TypeVar("T")


class Effect(StrEnum):
    """The worst a call can do; the policy decides on it (guard/policy).

    `link` is the strict half of `device` (switching a network link), `contact` that of `personal`.
    """

    READ = "read"
    CAPTURE = "capture"
    READ_EGRESS = "read_egress"
    WRITE_WORKSPACE = "write_workspace"
    WRITE_OUTSIDE = "write_outside"
    DEVICE = "device"
    LINK = "link"
    PERSONAL = "personal"
    CONTACT = "contact"
    SEND = "send"
    DELETE = "delete"
    EXECUTE = "execute"
    PERSIST = "persist"
    DELEGATE = "delegate"


class Access(Textual, StrEnum):
    """How a path argument will be used."""

    READ = "read"
    WRITE = "write"


class Outward(Textual, StrEnum):
    """An argument through which something can leave the phone."""

    URL = "url"
    RECIPIENT = "recipient"
    GUEST = "guest"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class CheckedPath:
    """A path that the workspace guard has let through.

    `root` names an allowed root (`session`, `shared`, or an approved outside folder), `parts` lead from it to the
    file without links; only the guard can open it, and it checks again while it opens.
    """

    root: str
    parts: tuple[str, ...]
    access: Access

    @property
    def shown(self) -> str:
        """How the model and the person see it."""
        inner = "/".join(self.parts)
        if self.root == "session":
            return inner or "."
        return f"shared://{inner}" if self.root == "shared" else f"{self.root.rstrip('/')}/{inner}"

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else self.shown


ReadPath = Annotated[CheckedPath, Access.READ]
WritePath = Annotated[CheckedPath, Access.WRITE]
Url = Annotated[str, Outward.URL]
Recipient = Annotated[str, Outward.RECIPIENT]
Guest = Annotated[str, Outward.GUEST]
Place = Annotated[str, Outward.PLACE]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a person is shown before a call: the action, whom or what it touches, and the whole content.

    `target` is what a lasting approval is bound to (a number, a host, a folder). `revision` changes when the thing
    acted upon changes; the gate compares it once more just before the call runs. `effect` is set when the facts make
    the call a stricter one than its arguments told (moving an event tells its guests).
    """

    action: str
    target: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    revision: str = ""
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A handler's answer when the plain value is not enough.

    `tainted`: it holds outside content; `private`: it holds the owner's personal data; `said`: words already put
    before the person; `terminal`: the turn ends after this round.
    """

    value: Any
    tainted: bool = False
    private: bool = False
    said: str = ""
    terminal: bool = False


@dataclass(frozen=True, slots=True)
class Service(Generic[T]):
    """The typed name of something a handler may be granted: `ctx.need(DEVICE)`."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a handler may use: ids, and the services granted at wiring time."""

    session: str
    turn: str
    call_id: str
    services: Mapping["Service[Any]", Any] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda text: None
    tainted: bool = False
    private: bool = False

    def need(self, service: "Service[T]") -> T:
        granted: T = self.services[service]
        return granted


Handler = Callable[[Any, ToolContext], Awaitable[Any]]
Previewer = Callable[[Any, ToolContext], Awaitable[Preview]]
EffectOf = Callable[[Any], Effect]


@dataclass(frozen=True, slots=True)
class Tool:
    """A capability offered to the model.

    `permissions` are the device's words for what must be granted first. `private` results are the owner's personal
    data; `outside` results come from strangers and taint the conversation; `fenced` ones are the owner's own stores
    that hold words of others (titles, names): data to the model, but no taint. `bindable` is False where an approval
    may never outlive the one call. `here`: it touches nothing but the conversation itself.
    """

    name: str
    description: str
    module: str
    arguments: type
    handler: Handler
    effect: Effect | EffectOf | None = None
    permissions: tuple[str, ...] = ()
    preview: Previewer | None = None
    timeout: float | None = None
    private: bool = False
    outside: bool = False
    fenced: bool = False
    bindable: bool = True
    here: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """What the model reads of the arguments; the codec checks more."""
        return brief_schema(self.arguments)

    def effect_of(self, args: Any) -> Effect | None:
        return self.effect(args) if callable(self.effect) and not isinstance(self.effect, Effect) else self.effect


@dataclass(frozen=True, slots=True)
class Module:
    """A family of tools that is offered together when one of its keywords is heard.

    `keywords` are lower case, in English and Chinese (core/keywords tells how they are written); `hints` are others
    that count only where a sentence speaks of hardly anything for certain. Both may stand in `words/NAME.txt` beside
    the file. `common`: it comes with a wish that speaks of nothing known. `requires` names modules that come along;
    `prompt` is the one rule that the specifications cannot say (mostly empty). `tools` are filled in when the family
    is found.
    """

    name: str
    about: str
    keywords: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    prompt: str = ""
    always: bool = False
    tools: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    common: bool = False


def tool(
    *,
    module: str,
    effect: Effect | EffectOf | None = None,
    preview: Previewer | None = None,
    permissions: tuple[str, ...] = (),
    **more: Any,
) -> Callable[[Handler], Tool]:
    """Turn `async def f(args: Args, ctx: ToolContext) -> value` into a Tool described by its docstring.

    `more` are the other fields of `Tool`: timeout, private, outside, fenced, bindable, here, name.
    """

    def wrap(handler: Handler) -> Tool:
        arguments = get_type_hints(handler)["args"]
        name = more.pop("name", handler.__name__)
        text = " ".join((handler.__doc__ or "").split())
        return Tool(name, text, module, arguments, handler, effect, permissions, preview, **more)

    return wrap
