"""From datagrams to the state of now: what is new, what is late, twice or foreign, and what the game is doing.

Pure: datagrams and the time of their arrival come in as arguments, so that a live wire, a recorded file and a test go
through the same code. Source: protocol page forza-data-out, sections 2, 3.2 and 4.
"""

from collections import deque
from dataclasses import dataclass, field

from trailbrake.errors import WireError
from trailbrake.roles import LinkCounters
from trailbrake.sims.forza import codec, convert
from trailbrake.sims.forza.clock import Clock, Kind
from trailbrake.sims.forza.codec import Packet, Seen
from trailbrake.sims.forza.spec import LOST_S, SHIFTING
from trailbrake.state import CarState, Phase

FIRST_PERIOD = 1.0 / 60.0  # s, until the stream has told its own
_LEARN = 0.02  # share by which the period follows, up or down: settles at the median of the steps
_LONGEST_LOSS_S = 60.0  # a longer gap is a pause, or a clock that was set: nobody lost its packets
_EVENTS = 1000


@dataclass(slots=True)
class Counters(LinkCounters):
    """What came in, beside the counters of every link.

    `lost` is judged by the packets' clock, since the wire has no numbers; `resyncs` are its jumps: gaps, rewinds,
    restarts; `torn` stays 0.
    """

    datagrams: int = 0  # of any kind
    paused: int = 0  # packets with IsRaceOn 0
    late: int = 0  # overtaken on the way, dropped
    duplicates: int = 0
    rejected: int = 0  # of a length that no title sends, or with values that are no numbers
    foreign: int = 0  # from a second sender, while the first one sends
    formats: dict[str, int] = field(default_factory=dict)  # packets of each format
    lengths: dict[int, int] = field(default_factory=dict)  # rejected datagrams by length


@dataclass(frozen=True, slots=True)
class Event:
    """A change of phase, or a jump: `time` in s of arrival, and what happened in a few words."""

    time: float
    phase: Phase
    text: str


class Intake:
    """Keeps the newest sample.

    Attributes:
        counters: what came in.
        phase: DRIVING, PAUSED (IsRaceOn 0) or LOST (nothing for half a second, or nothing yet).
        events: the newest changes of phase and jumps; taken out by whoever wants them.
        period: s between packets, learned from the stream.
        time: s of simulator time of the newest packet: begins at its race clock, and goes on by packet time from there.
        sequence: number of samples taken.
    """

    def __init__(self) -> None:
        self.counters = Counters()
        self.phase = Phase.LOST
        self.events: deque[Event] = deque(maxlen=_EVENTS)
        self._data = b""  # of the newest sample
        self._seen: Seen | None = None  # the same, decoded as far as a state needs it
        self.period = FIRST_PERIOD
        self.time = 0.0
        self.sequence = 0
        self._clock = Clock()
        self._heard = 0.0  # when the sender was last heard, whatever it said
        self._sampled = 0.0  # when the newest sample came
        self._sender: object = None
        self._gear: int | None = None

    @property
    def packet(self) -> Packet | None:
        """The newest packet of a driven car, decoded whole."""
        return codec.decode(self._data) if self._data else None

    def feed(self, data: bytes, now: float, sender: object = None) -> bool:
        """Take one datagram; return whether it is a new sample of a driven car.

        Args:
            data: the datagram.
            now: s, when it came; any steady clock.
            sender: who sent it. While one sends, others are counted and left; they take over when it falls silent.
        """
        counters = self.counters
        counters.datagrams += 1
        if sender != self._sender:
            if self._sender is not None and now - self._heard <= LOST_S:
                counters.foreign += 1
                return False
            self._sender, self._clock = sender, Clock()
        try:
            seen = codec.decode_seen(data)
        except WireError:
            counters.rejected += 1
            counters.lengths[len(data)] = counters.lengths.get(len(data), 0) + 1
            return False
        self._heard = now
        name = codec.FORMATS[len(data)]
        counters.formats[name] = counters.formats.get(name, 0) + 1
        if seen[codec.IS_RACE_ON] == 0:
            counters.paused += 1
            self._enter(Phase.PAUSED, now)
            return False
        return self._sample(data, seen, now)

    def _sample(self, data: bytes, seen: Seen, now: float) -> bool:
        counters = self.counters
        if not codec.is_finite(seen):
            counters.rejected += 1
            return False
        race = codec.race_time(seen)
        step = self._clock.step(seen[codec.TIMESTAMP_MS], race)
        if step.kind is Kind.SAME:
            counters.duplicates += 1
            return False
        if step.kind is Kind.LATE:
            counters.late += 1
            return False
        self._enter(Phase.DRIVING, now)
        if step.kind is Kind.FIRST:
            if self._seen is None and race == race:  # not NaN
                self.time = max(race, 0.0)
        elif step.kind is Kind.JUMP:
            counters.resyncs += 1
            self.events.append(Event(now, Phase.DRIVING, f"the game's clock jumped; {step.dt:.2f} s passed"))
        if step.dt > 0.0:
            self._count_lost(step.dt, step.kind)
            self.time += step.dt
        self._data, self._seen = data, seen
        self._sampled = now
        self.sequence += 1
        counters.received += 1
        return True

    def _count_lost(self, dt: float, kind: Kind) -> None:
        missing = round(dt / self.period) - 1
        if missing > 0 and dt <= _LONGEST_LOSS_S:
            self.counters.lost += missing
        if kind is Kind.NEXT:
            self.period *= 1.0 + _LEARN if dt > self.period else 1.0 - _LEARN

    def _enter(self, phase: Phase, now: float) -> None:
        if phase != self.phase:
            text = {Phase.DRIVING: "driving", Phase.PAUSED: "not driving: IsRaceOn is 0"}.get(phase, "no packets")
            self.events.append(Event(now, phase, text))
            self.phase = phase

    def look(self, now: float) -> None:
        """Notice that nothing came for half a second."""
        if self.phase is not Phase.LOST and now - self._heard > LOST_S:
            self.counters.stale += 1
            self._enter(Phase.LOST, now)

    def state(self, now: float) -> CarState:
        """Return the newest sample as it looks at `now`: `age` since it came, `phase` of now."""
        self.look(now)
        seen = self._seen
        if seen is None:
            return CarState(phase=self.phase)
        state = convert.state_from_seen(seen, self.time, self.sequence)
        if len(seen) > codec.NO_DASH:
            if seen[codec.GEAR] == SHIFTING:
                state.gear = self._gear
            else:
                self._gear = state.gear
        state.age, state.phase = now - self._sampled, self.phase
        return state
