"""Splits a request into parts and counts the tokens of each, with a real tokenizer where one is installed."""

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from palmclaw.core.messages import user_message
from palmclaw.core.ports import Request
from palmclaw.core.text import tokens
from palmclaw.core.values import dataclass
from palmclaw.core.wire import as_bytes

VOCABULARY = "o200k_base"
ESTIMATE = "estimate"
FETCHED = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""The name under which tiktoken keeps that vocabulary once it has fetched it."""

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Who counts; its name is `estimate` where nobody really does."""

    name: str
    count: Count


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a request's body: what it is, the family of its tools if it is one, and what each of these costs."""

    kind: str
    tokens: int
    family: str = ""
    tools: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.family}" if self.family else self.kind


def tokenizer(environ: Mapping[str, str]) -> Tokenizer:
    """The first real tokenizer that works without the network, else our estimate."""
    for found in (_bpe_openai(), _tiktoken(environ)):
        if found is not None:
            return Tokenizer(VOCABULARY, found)
    return Tokenizer(ESTIMATE, tokens)


def _bpe_openai() -> Count | None:
    """It brings its vocabulary with it, and reads it in a way that Python warns of."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            encode = import_module("bpe_openai").get_encoding(VOCABULARY).encode_ordinary
    except ImportError:
        return None
    return lambda text: len(encode(text))


def _tiktoken(environ: Mapping[str, str]) -> Count | None:
    """Only where the vocabulary has been fetched before: showing a request must not make one."""
    kept = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR"))
    folder = Path(tempfile.gettempdir(), "data-gym-cache") if kept is None else Path(kept)
    if kept == "" or not (folder / FETCHED).is_file():
        return None
    try:
        encode = import_module("tiktoken").get_encoding(VOCABULARY).encode_ordinary
    except (ImportError, OSError, ValueError):
        return None
    return lambda text: len(encode(text))


def shares(request: Request, to_wire: Callable[[Request], object], count: Count) -> tuple[Share, ...]:
    """What each part adds to the body, whatever the protocol; the shares add up to the whole."""
    steps = list(_growing(request))
    sizes = [0, *(count(as_bytes(to_wire(grown)).decode()) for _, grown in steps)]
    added = {name: after - before for (name, _), (before, after) in zip(steps, pairwise(sizes), strict=True)}
    return (
        Share("policy", added["policy"]),
        *(_family(family, request, added) for family in sorted({t.module for t in request.tools})),
        *(Share(kind, added[kind]) for kind in ("history", "message", "rest")),
    )


def _family(family: str, request: Request, added: Mapping[str, int]) -> Share:
    tools = tuple((t.name, added[f"tool {t.name}"]) for t in request.tools if t.module == family)
    return Share("tools", sum(cost for _, cost in tools), family, tools)


def _growing(request: Request) -> Iterator[tuple[str, Request]]:
    """The request built up again, each time with one part more; every step is a request that a protocol can write."""
    grown = replace(request, system="", tools=(), messages=(user_message("."),))
    yield "rest", grown
    grown = replace(grown, messages=request.messages[-1:])
    yield "message", grown
    grown = replace(grown, system=request.system)
    yield "policy", grown
    for number, tool in enumerate(request.tools, 1):
        grown = replace(grown, tools=request.tools[:number])
        yield f"tool {tool.name}", grown
    yield "history", request
