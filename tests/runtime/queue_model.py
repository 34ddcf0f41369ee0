"""What a session's queue must do, written down a second time, as simply as possible: the reference of the machine."""

from dataclasses import dataclass, field

from palmclaw.core.traffic import Drop, Mode

SILENCE = 1.0
CAP = 3


@dataclass
class Said:
    """A message, by its row; `who` decides which ones may share a turn."""

    row: int
    text: str
    who: str
    mode: Mode
    cap: int


def may_displace(new: str, old: str) -> bool:
    """A guest neither ends the owner's turn nor pushes its messages out."""
    return new == "owner" or old != "owner"


@dataclass
class Turn:
    """The running turn; `tried`: it goes on with one that was broken off."""

    who: str
    tried: bool = False


@dataclass
class Reference:
    """The queue as the person understands it. `fates` has each message's last known one, `log` what a model reads."""

    now: float = 0.0
    heard: float = float("-inf")
    cap: int = CAP
    turn: Turn | None = None
    waiting: list[Said] = field(default_factory=list)
    left: list[Said] = field(default_factory=list)
    fates: dict[int, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)

    def say(self, said: Said, drop: Drop) -> None:
        """A new message: it waits, or somebody gives way; an idle session begins at once."""
        was_idle = self.turn is None and not self.waiting and not self.left
        self.heard, self.cap = self.now, said.cap
        too_many = max(0, len(self.waiting) + 1 - said.cap)
        weaker = [s for s in self.waiting if may_displace(said.who, s.who)]
        if too_many and (drop is Drop.NEW or len(weaker) < too_many):
            self.fates[said.row] = "dropped"
            return
        victims = weaker[:too_many]
        for victim in victims:
            self.fates[victim.row] = "summarized" if drop is Drop.SUMMARIZE else "dropped"
            self.left += [victim] if drop is Drop.SUMMARIZE else []
        self.waiting = [*(s for s in self.waiting if s not in victims), said]
        self.fates[said.row] = "waiting"
        if said.mode is Mode.INTERRUPT and self.turn is not None and may_displace(said.who, self.turn.who):
            self.end("stopped")
        elif was_idle:
            self.begin()
        else:
            self.move()

    def round(self) -> None:
        """The model has used a tool: who may joins now."""
        self.join()

    def answer(self) -> None:
        """The model has said its last word; whoever may join now is owed another."""
        if not self.join():
            self.end("done")

    def end(self, how: str) -> None:
        """The turn is over, and the next begins when it has been quiet long enough."""
        self.stops.append(how)
        self.turn = None
        self.move()

    def stop(self) -> None:
        """Nothing is left."""
        for said in (*self.waiting, *self.left):
            self.fates[said.row] = "cancelled"
        self.waiting, self.left = [], []
        if self.turn is not None:
            self.end("stopped")

    def withdraw(self, row: int) -> bool:
        """Take one back, if it still waits."""
        is_open = self.fates[row] in ("waiting", "summarized")
        if is_open:
            self.fates[row] = "cancelled"
            self.waiting = [s for s in self.waiting if s.row != row]
            self.left = [s for s in self.left if s.row != row]
        return is_open

    def crash(self) -> None:
        """The process dies and starts again: a broken turn is gone on with, but only once."""
        broken, self.turn, self.heard = self.turn, None, float("-inf")
        self.stops = []
        if still := sorted((*self.waiting, *self.left), key=lambda said: said.row):
            self.cap = still[-1].cap
        if broken is not None and not broken.tried:
            self.turn = Turn(broken.who, tried=True)
            self.join()
        elif still:
            self.begin()

    def move(self) -> None:
        """Begin the next turn if nothing runs and it has been quiet long enough."""
        is_urgent = any(s.mode is Mode.INTERRUPT for s in self.waiting)
        is_quiet = self.now - self.heard >= SILENCE - 1e-9
        if self.turn is None and (self.waiting or self.left) and (is_urgent or is_quiet):
            self.begin()

    def begin(self) -> None:
        """What waits becomes a turn."""
        items = self.next_items()
        left = self.left
        if not items or any(s.who != items[0].who for s in left):
            items = []
            left = self.same(left)
        self.turn = Turn((items or left)[0].who)
        self.waiting = [s for s in self.waiting if s not in items]
        self.left = [s for s in self.left if s not in left]
        if left:
            lines = "".join(f"\n- {s.text}" for s in left[-self.cap :])
            self.log.append(
                f"({len(left)} messages came while more than {self.cap} waited; this is left of them:){lines}"
            )
        self.log += [s.text for s in items]
        for n, said in enumerate(items):
            self.fates[said.row] = "merged" if n else "started"
        for said in left:
            self.fates[said.row] = "merged"
        self.join()

    def next_items(self) -> list[Said]:
        """The messages of the next turn."""
        urgent = [n for n, s in enumerate(self.waiting) if s.mode is Mode.INTERRUPT]
        if urgent:
            last = self.waiting[urgent[-1]]
            return [s for s in self.waiting[: urgent[-1] + 1] if s.who == last.who]
        if self.waiting and self.waiting[0].mode is Mode.COLLECT:
            same = self.same(self.waiting)
            other = next((n for n, s in enumerate(same) if s.mode is not Mode.COLLECT), len(same))
            return same[:other]
        return self.waiting[:1]

    @staticmethod
    def same(said: list[Said]) -> list[Said]:
        """The first of them, and those behind it of the same person."""
        other = next((n for n, s in enumerate(said) if s.who != said[0].who), len(said))
        return said[:other]

    def join(self) -> bool:
        """Who may joins the running turn; whether anybody did."""
        joined = False
        while self.turn and self.waiting and not self.left and self.may_join(self.waiting[0]):
            said = self.waiting.pop(0)
            self.fates[said.row] = "steered"
            self.log.append(said.text)
            joined = True
        return joined

    def may_join(self, said: Said) -> bool:
        return self.turn is not None and said.mode is Mode.STEER and said.who == self.turn.who
