"""The virtual phone: the capability port over one JSON document, with a clock and faults that can be set."""

import asyncio
import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any, TypeVar

from palmclaw.core.device import Capability, Code, Support
from palmclaw.core.errors import ConfigError, DeviceError
from palmclaw.core.ports import Grant
from palmclaw.core.times import WEEKDAYS
from palmclaw.devices.virtual.faults import Fault, Sleep, check_grant, forever, grant, name_of, suffer, switch
from palmclaw.devices.virtual.state import Scene, State, loaded, moment, seeded, zone_named
from palmclaw.devices.virtual.store import Store

R = TypeVar("R")


class VirtualPhone:
    """A Device without hardware; `real` is the time where the state does not set another."""

    name = "virtual"

    def __init__(self, store: Store, real: Callable[[], datetime], sleep: Sleep = asyncio.sleep) -> None:
        self._store = store
        self._real = real
        self._sleep = sleep

    async def do(self, request: Capability[R]) -> R:
        """Reads see the newest file; a change is on the disk before this returns."""
        kind = type(request)
        if self.supports(kind) is Support.NO:
            raise DeviceError(Code.UNSUPPORTED, f"the virtual phone has no {name_of(kind)}")
        state = self._look()
        check_grant(state, kind.permission)
        acts = _acts()
        await suffer(state, kind, self._sleep, stores=kind in acts.STORING)
        if (read := acts.READS.get(kind)) is not None:
            known: R = read(self._scene(self._look()), request)
            return known
        done: R = await asyncio.to_thread(self._change, lambda s: acts.WRITES[kind](self._scene(s), request))
        return done

    def supports(self, kind: type[Capability[Any]]) -> Support:
        acts = _acts()
        return Support.DONE if kind in acts.READS or kind in acts.WRITES else Support.NO

    def now(self) -> datetime:
        return self._now(self._look())

    async def state(self, permission: str) -> Grant:
        return grant(self._look(), permission)

    async def request(self, permission: str) -> Grant:
        """The dialog's answer is set by the fault `dialog`; without one it is no."""
        state = self._look()
        if grant(state, permission) is not Grant.ASK:
            return grant(state, permission)
        answers = state["faults"]["dialog"]
        answer = answers.get(permission, answers.get("*", "deny"))
        if answer == "hang":
            await forever()
        given = Grant.GRANTED if answer == "allow" else Grant.DENIED
        await asyncio.to_thread(self._change, lambda s: s["permissions"].update({permission: given.value}))
        return given

    def show(self) -> State:
        """The whole phone as the evaluation suite writes it, with the time filled in."""
        state = self.dump()
        del state["serial"]
        now = self._now(state)
        precision = "seconds" if now.second else "minutes"
        clock = {"now": now.isoformat(timespec=precision), "zone": state["clock"]["zone"]}
        return {**state, "clock": {**clock, "weekday": WEEKDAYS[now.weekday()]}}

    def dump(self) -> State:
        """The stored state as it is: what `load` takes to bring it back exactly."""
        return copy.deepcopy(self._look())

    def load(self, state: State) -> None:
        """Replace everything; a `clock.now` freezes the clock there. `ConfigError` says what is wrong where."""
        self._store.replace(loaded(state))

    def reset(self) -> None:
        """A phone as new, seeded around the present."""
        self._store.replace(self._fresh())

    def set_fault(self, fault: Fault, on: str = "*", value: bool | float | str = True) -> None:
        """Switch a fault (see faults.switch) for a capability, a permission or all; False switches it off."""
        acts = _acts()
        known = {"*", *(name_of(kind) for kind in (*acts.READS, *acts.WRITES))}
        if fault in ("slow", "hang", "storage_full") and on not in known:
            raise ConfigError("fault", f"there is no capability {on!r}")
        self._change(lambda state: switch(state, fault, on, value))

    def set_clock(self, now: datetime | None = None, *, frozen: bool = False, zone: str = "") -> None:
        """Freeze the clock at `now`, let it run on from there, or (without `now`) follow the real time again."""
        clock: dict[str, Any] = {"zone": zone or self._look()["clock"]["zone"]}
        named = zone_named(clock["zone"])
        if now is not None:
            now = now.replace(tzinfo=named) if now.tzinfo is None else now.astimezone(named)
            ahead = (now - self._real().astimezone(UTC)).total_seconds()
            clock |= {"now": now.isoformat()} if frozen else {"offset_s": ahead}
        self._change(lambda state: state.update(clock=clock))

    def _fresh(self) -> State:
        return seeded(self._real())

    def _look(self) -> State:
        return self._store.look(self._fresh)

    def _change(self, act: Callable[[State], R]) -> R:
        return self._store.change(self._fresh, act)

    def _scene(self, state: State) -> Scene:
        return Scene(state, self._now(state))

    def _now(self, state: State) -> datetime:
        clock = state["clock"]
        zone = zone_named(clock["zone"])
        real = self._real().astimezone(UTC) + timedelta(seconds=clock.get("offset_s") or 0)
        here = real.astimezone(zone)
        return moment(clock["now"], here) if clock.get("now") else here


def _acts() -> ModuleType:
    """The families with their hundred small classes, which telling the time does not need."""
    from palmclaw.devices.virtual import acts  # noqa: PLC0415  # start-up

    return acts
