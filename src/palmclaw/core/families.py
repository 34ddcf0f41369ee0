"""What the owner changes about the families of tools, and whether all of them fit together."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Annotated

from palmclaw.core.errors import ConfigError
from palmclaw.core.keywords import KINDS, can_be_heard, unknown_kinds
from palmclaw.core.schema import Doc
from palmclaw.core.tools import Module
from palmclaw.core.values import dataclass

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True)
class ModuleSettings:
    """[modules.NAME]: more of what a family has, or a family of the owner's own."""

    about: Annotated[str, Doc("what the model reads of it, a few words")] = ""
    keywords: Annotated[tuple[str, ...], Doc("words that wake it, beside those it has")] = ()
    tools: Annotated[tuple[str, ...], Doc("tools it has, beside its own")] = ()
    requires: Annotated[tuple[str, ...], Doc("families that come along")] = ()
    prompt: Annotated[str, Doc("a rule for the model while it is awake")] = ""
    pinned: Annotated[bool, Doc("always there")] = False
    barred: Annotated[bool, Doc("never there, and not to be found")] = False


def configured(
    modules: Mapping[str, Module], settings: Mapping[str, ModuleSettings], tools: Collection[str]
) -> dict[str, Module]:
    """The families as the owner wants them, the barred ones among them. Raises ConfigError for what cannot be."""
    for name, wanted in settings.items():
        _check(name, wanted, modules, tools)
    changed = {name: _changed(modules.get(name, Module(name, "")), wanted) for name, wanted in settings.items()}
    found = {**modules, **changed}
    check(found)
    return found


def check(modules: Mapping[str, Module]) -> None:
    """Whether every family that is required is there, and none by way of itself. Raises ConfigError."""
    for name, module in modules.items():
        for required in module.requires:
            if required not in modules:
                raise ConfigError(
                    f"modules.{name}.requires", f"there is no family {required!r}", _near(required, modules)
                )
    for name in modules:
        if circle := _circle(modules, (name,)):
            way = " → ".join(circle)
            raise ConfigError(f"modules.{name}.requires", f"a circle: {way}", "Take one of them out.")


def gone(modules: Mapping[str, Module], settings: Mapping[str, ModuleSettings]) -> frozenset[str]:
    """The tools that only barred families have."""
    left = {tool for module in unbarred(modules, settings).values() for tool in module.tools}
    return frozenset(tool for module in modules.values() for tool in module.tools if tool not in left)


def unbarred(modules: Mapping[str, Module], settings: Mapping[str, ModuleSettings]) -> dict[str, Module]:
    """The families that the owner has not barred."""
    return {name: module for name, module in modules.items() if name not in settings or not settings[name].barred}


def without(modules: Mapping[str, Module], off: Collection[str]) -> dict[str, Module]:
    """The families without the tools that are `off`; one that had some and has none left is not there at all."""
    left = {n: replace(m, tools=tuple(t for t in m.tools if t not in off)) for n, m in modules.items()}
    return {name: module for name, module in left.items() if module.tools or not modules[name].tools}


def _changed(module: Module, wanted: ModuleSettings) -> Module:
    return replace(
        module,
        about=wanted.about or module.about,
        keywords=tuple(dict.fromkeys((*module.keywords, *wanted.keywords))),
        tools=tuple(dict.fromkeys((*module.tools, *wanted.tools))),
        requires=tuple(dict.fromkeys((*module.requires, *wanted.requires))),
        prompt=wanted.prompt or module.prompt,
        always=module.always or wanted.pinned,
    )


def _check(name: str, wanted: ModuleSettings, modules: Mapping[str, Module], tools: Collection[str]) -> None:
    at = f"modules.{name}"
    if not _NAME.fullmatch(name):
        raise ConfigError(at, "a name has letters, digits, _ and - only, at most 32")
    if name not in modules and not wanted.tools and not wanted.requires:
        hint = _near(name, modules) or "Name the tools of a family of your own: tools = […]"
        raise ConfigError(at, "there is no such family, and it has no tools", hint)
    if wanted.barred and name in modules and modules[name].always:
        raise ConfigError(f"{at}.barred", f"the family {name} is always needed", "palmclaw tools lists the others.")
    if wanted.pinned and wanted.barred:
        raise ConfigError(f"{at}.pinned", "a family cannot be pinned and barred", "Take one of them out.")
    for tool in wanted.tools:
        if tool not in tools:
            raise ConfigError(f"{at}.tools", f"there is no tool named {tool!r}", _near(tool, tools) or "palmclaw tools")
    for keyword in wanted.keywords:
        if unknown := unknown_kinds(keyword):
            hint = f"Kinds of words: {' '.join(KINDS)}"
            raise ConfigError(f"{at}.keywords", f"{unknown[0]} in {keyword!r} is no kind of word", hint)
        if not can_be_heard(keyword):
            raise ConfigError(f"{at}.keywords", f"{keyword!r} does not begin with a word")


def _near(name: str, names: Collection[str]) -> str:
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"Did you mean {', '.join(near)}?" if near else ""


def _circle(modules: Mapping[str, Module], way: tuple[str, ...]) -> tuple[str, ...]:
    """The first way from a family back to itself; empty: there is none."""
    for required in modules[way[-1]].requires:
        if required == way[0]:
            return (*way, required)
        if required not in way and (found := _circle(modules, (*way, required))):
            return found
    return ()
