"""A stream of datagrams -> the present state: finds new, late, duplicate and foreign datagrams, and the game's phase.

Datagrams and their times of arrival are arguments: live wires, recorded files and tests use the same code. Source:
protocol page forza-data-out, sections 2, 3.2 and 4.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from trailbrake.errors import WireError
from trailbrake.roles import LONGEST_LOSS_S, LinkCounters
from trailbrake.sims.forza import codec, convert
from trailbrake.sims.forza.codec import Packet, StateSubset
from trailbrake.sims.forza.packet_clock import PacketClock, PacketKind
from trailbrake.sims.forza.signals import PacketSignalReader
from trailbrake.sims.forza.spec import LOST_S, NAME, SHIFTING
from trailbrake.state import CarState, Phase
from trailbrake.transport.udp import SenderGuard

FIRST_PERIOD = 1.0 / 60.0  # s, before the first estimate from the stream
_PERIOD_GAIN = 0.02  # share by which each step moves the period up or down; it settles at the steps' median
_MAX_EVENTS = 1000


@dataclass(slots=True)
class ForzaLinkCounters(LinkCounters):
    """Counts of datagrams.

    `lost` is an estimate by the packets' clock, as the wire has no sequence numbers; time between packets of a paused
    game counts no loss. `resyncs` are jumps of that clock: gaps, rewinds, restarts; `torn` is always 0.
    """

    datagrams: int = 0  # of any kind
    paused: int = 0  # packets with IsRaceOn 0
    late: int = 0  # overtaken on the way, dropped
    duplicates: int = 0
    rejected: int = 0  # of an unknown length, or with values that are not finite
    foreign: int = 0  # from a second sender, while the first one sends
    formats: dict[str, int] = field(default_factory=dict)  # packets of each format
    lengths: dict[int, int] = field(default_factory=dict)  # rejected datagrams by length


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """A change of phase, or a jump of the clock, with its time of arrival in s and a text for the user."""

    time: float
    phase: Phase
    text: str


class TelemetryStream:
    """Keeps the newest sample of a stream.

    Args:
        say: takes a line for the user when a second sender is heard.

    Attributes:
        counters: counts of datagrams.
        phase: DRIVING, PAUSED (IsRaceOn 0) or LOST (no datagram for half a second, or none yet).
        events: the newest changes of phase and jumps; the reader removes them.
        period: s between packets, estimated from the stream.
        time: s of simulator time of the newest packet: starts at its race clock and advances by packet time.
        sequence: number of accepted samples.
        was_driving: in phase LOST, whether the phase before it was DRIVING.
        signal_reader: fills `CarState.signals`; None where no signal is selected.
    """

    def __init__(self, say: Callable[[str], None] = lambda line: None) -> None:
        self.counters = ForzaLinkCounters()
        self.phase = Phase.LOST
        self.events: deque[StreamEvent] = deque(maxlen=_MAX_EVENTS)
        self._data = b""  # of the newest sample
        self._subset: StateSubset | None = None  # its decoded fields
        self.period = FIRST_PERIOD
        self.time = 0.0
        self.sequence = 0
        self.was_driving = False
        self.signal_reader: PacketSignalReader | None = None
        self._clock = PacketClock()
        self._heard_at = 0.0  # time of the newest datagram of the sender
        self._sampled_at = 0.0  # time of arrival of the newest sample
        self._guard = SenderGuard(NAME, say)
        self._gear: int | None = None
        self._paused = False  # whether the newest packet of the sender has IsRaceOn 0

    def silence(self, now: float) -> float:
        """Return the time (s) since the newest sample."""
        return now - self._sampled_at

    @property
    def packet(self) -> Packet | None:
        """The newest packet of a driven car; None before the first."""
        return codec.decode_packet(self._data) if self._data else None

    def feed_datagram(self, data: bytes, now: float, sender: object = None) -> bool:
        """Process one datagram; return whether it is a new sample of a driven car.

        Args:
            data: the datagram.
            now: s, time of arrival by any steady clock.
            sender: its sender. Datagrams of other senders are ignored and counted until the first one is silent.
        """
        counters = self.counters
        counters.datagrams += 1
        guard = self._guard
        if not guard.admit(sender, now):
            counters.foreign = guard.foreign
            return False
        try:
            seen = codec.decode_state_subset(data)
        except WireError:
            counters.rejected += 1
            counters.lengths[len(data)] = counters.lengths.get(len(data), 0) + 1
            return False
        if sender != guard.sender:
            self._clock, self._paused = PacketClock(), False
        guard.hold(sender, now)
        self._heard_at = now
        name = codec.FORMATS[len(data)]
        counters.formats[name] = counters.formats.get(name, 0) + 1
        if seen[codec.IS_RACE_ON] == 0:
            counters.paused += 1
            self._paused = True
            self._set_phase(Phase.PAUSED, now)
            return False
        return self._accept_sample(data, seen, now)

    def _accept_sample(self, data: bytes, subset: StateSubset, now: float) -> bool:
        counters = self.counters
        if not codec.is_finite(subset):
            counters.rejected += 1
            return False
        race = codec.race_time(subset)
        step = self._clock.step(subset[codec.TIMESTAMP_MS], race)
        if step.kind is PacketKind.SAME:
            counters.duplicates += 1
            return False
        if step.kind is PacketKind.LATE:
            counters.late += 1
            return False
        if self._paused:
            self._paused = False
            # Some clocks run on while the game is paused, and the car does not move: one step, and no loss.
            step = step._replace(kind=PacketKind.NEXT, dt=self.period) if step.dt > self.period else step
        self._set_phase(Phase.DRIVING, now)
        if step.kind is PacketKind.FIRST:
            if self._subset is None and race == race:  # not NaN
                self.time = max(race, 0.0)
        elif step.kind is PacketKind.JUMP:
            counters.resyncs += 1
            self.events.append(StreamEvent(now, Phase.DRIVING, f"the game's clock jumped; {step.dt:.2f} s passed"))
        if step.dt > 0.0:
            self._count_lost(step.dt, step.kind)
            self.time += step.dt
        self._data, self._subset = data, subset
        self._sampled_at = now
        self.sequence += 1
        counters.received += 1
        return True

    def _count_lost(self, dt: float, kind: PacketKind) -> None:
        missing = round(dt / self.period) - 1
        if missing > 0 and dt <= LONGEST_LOSS_S:
            self.counters.lost += missing
        if kind is PacketKind.NEXT:
            self.period *= 1.0 + _PERIOD_GAIN if dt > self.period else 1.0 - _PERIOD_GAIN

    def _set_phase(self, phase: Phase, now: float) -> None:
        if phase != self.phase:
            text = {Phase.DRIVING: "driving", Phase.PAUSED: "not driving: IsRaceOn is 0"}.get(phase, "no packets")
            self.events.append(StreamEvent(now, phase, text))
            self.phase = phase

    def update_phase(self, now: float) -> None:
        """Set the phase to LOST after half a second without a datagram."""
        self._guard.observe(now)
        if self.phase is not Phase.LOST and now - self._heard_at > LOST_S:
            self.counters.stale += 1
            self.was_driving = self.phase is Phase.DRIVING
            self._set_phase(Phase.LOST, now)

    def current_state(self, now: float) -> CarState:
        """Return the newest sample, with `age` and `phase` at `now`."""
        self.update_phase(now)
        seen = self._subset
        if seen is None:
            return CarState(phase=self.phase)
        state = convert.state_from_wire(seen, self.time, self.sequence)
        if len(seen) > codec.SLED_SUBSET_SIZE:
            if seen[codec.GEAR] == SHIFTING:
                state.gear = self._gear
            else:
                self._gear = state.gear
        if self.signal_reader is not None:
            state.signals = self.signal_reader.read(codec.decode_packet(self._data))
        state.age, state.phase = now - self._sampled_at, self.phase
        return state
