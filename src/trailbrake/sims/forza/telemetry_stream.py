"""A stream of datagrams -> the present state: finds new, late, duplicate and foreign datagrams, and the game's phase.

Datagrams and their times of arrival are arguments: live wires, recorded files and tests use the same code. Source:
protocol page forza-data-out, sections 2, 3.2 and 4.

The time between two packets, by the packets' own clocks: this wire has no sequence number.

Source: protocol page forza-data-out, sections 3.2 and 4. CurrentRaceTime has the finer resolution at first, and stops
or jumps with the race; it is a 32-bit float, so that after hours it advances in steps of milliseconds. TimestampMS runs
on, wraps, and in some titles advances in steps of 15.6 ms.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from trailbrake.errors import WireError
from trailbrake.roles import LONGEST_LOSS_S, LinkCounters
from trailbrake.sims.forza import codec, convert
from trailbrake.sims.forza.codec import Packet, StateSubset
from trailbrake.sims.forza.signals import PacketSignalReader
from trailbrake.sims.forza.spec import LOST_S, NAME, SHIFTING
from trailbrake.state import CarState, Phase
from trailbrake.transport.udp import SenderGuard

FIRST_PERIOD = 1.0 / 60.0  # s, before the first estimate from the stream
_PERIOD_GAIN = 0.02  # share by which each step moves the period up or down; it settles at the steps' median
_MAX_EVENTS = 1000
_MOST_LENGTHS = 3  # unknown ones that get a line
GAP_S = 0.5  # s of packet time, forwards or backwards, above which a step is a jump
_LATE_RUN_LENGTH = 5  # consecutive late packets in order that mean a clock set back by less than GAP_S
_WRAP = 1 << 32
_COARSE_RACE_TIME_S = 16384.0  # s of CurrentRaceTime from which its steps, 2 ms there, are coarser than TimestampMS's
_LONGEST_JUMP_S = 3600.0  # a longer jump is not a time


class PacketKind(Enum):
    """A packet's relation to the newest one."""

    FIRST = auto()
    NEXT = auto()
    JUMP = auto()  # silence, pause, rewind or restart: do not integrate over it
    SAME = auto()  # a duplicate
    LATE = auto()  # overtaken on the way


class ClockStep(NamedTuple):
    """The result of `PacketClock.step`; `dt` is s of simulator time since the newest packet, 0 = unknown."""

    kind: PacketKind
    dt: float = 0.0


def milliseconds_between(before: int, after: int) -> int:
    """Return after - before of a 32-bit clock that wraps, as a signed number of ms."""
    return (after - before + _WRAP // 2) % _WRAP - _WRAP // 2


class PacketClock:
    """Compares each packet with the newest one."""

    __slots__ = ("_late_count", "_late_ms", "_newest_ms", "_newest_race_time")

    def __init__(self) -> None:
        self._newest_ms = -1
        self._newest_race_time = math.nan
        self._late_count, self._late_ms = 0, 0

    def step(self, timestamp_ms: int, race_time: float) -> ClockStep:
        """Return a packet's relation to the newest one; it becomes the newest unless it is SAME or LATE.

        Args:
            timestamp_ms: its TimestampMS.
            race_time: its CurrentRaceTime, s; NaN if its format has none.
        """
        if self._newest_ms < 0:
            self._newest_ms, self._newest_race_time = timestamp_ms, race_time
            return ClockStep(PacketKind.FIRST)
        step = self._classify_packet(milliseconds_between(self._newest_ms, timestamp_ms) / 1000.0, race_time)
        if step.kind is PacketKind.LATE and self._is_set_back(timestamp_ms):
            step = ClockStep(PacketKind.JUMP)
        elif step.kind not in (PacketKind.LATE, PacketKind.SAME):
            self._late_count = 0
        if step.kind not in (PacketKind.LATE, PacketKind.SAME):
            self._newest_ms, self._newest_race_time = timestamp_ms, race_time
        return step

    def _classify_packet(self, session_dt: float, race_time: float) -> ClockStep:
        """Return the step to a packet that is `session_dt` s later by TimestampMS, and has this CurrentRaceTime."""
        by_race = race_time - self._newest_race_time if race_time > 0.0 and self._newest_race_time > 0.0 else math.nan
        if by_race > 0.0 and math.isfinite(by_race):
            if by_race <= GAP_S:
                is_coarse = race_time >= _COARSE_RACE_TIME_S and 0.0 < session_dt <= GAP_S
                return ClockStep(PacketKind.NEXT, session_dt if is_coarse else by_race)
            return ClockStep(PacketKind.JUMP, by_race if by_race <= _LONGEST_JUMP_S else 0.0)
        if by_race < 0.0:  # a packet that was overtaken is old by both clocks; else the race was rewound
            is_late = by_race >= -GAP_S and -GAP_S <= session_dt <= 0.0
            return ClockStep(PacketKind.LATE if is_late else PacketKind.JUMP)
        if session_dt == 0.0:
            return ClockStep(PacketKind.SAME)
        if session_dt < 0.0:
            return ClockStep(PacketKind.LATE if session_dt >= -GAP_S else PacketKind.JUMP)
        if session_dt <= GAP_S:
            return ClockStep(PacketKind.NEXT, session_dt)
        return ClockStep(PacketKind.JUMP, min(session_dt, _LONGEST_JUMP_S))

    def _is_set_back(self, timestamp_ms: int) -> bool:
        """Count consecutive late packets; return whether there are so many that the clock was set back."""
        in_order = self._late_count > 0 and milliseconds_between(self._late_ms, timestamp_ms) >= 0
        self._late_count = self._late_count + 1 if in_order else 1
        self._late_ms = timestamp_ms
        if self._late_count < _LATE_RUN_LENGTH:
            return False
        self._late_count = 0
        return True


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
        say: takes a line for the user when a second sender is heard, and when packets change to an unknown length.

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
        self._say, self._guard = say, SenderGuard(NAME, say)
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
            counters.lengths[len(data)] = count = counters.lengths.get(len(data), 0) + 1
            if self.sequence and count == 1 and len(counters.lengths) <= _MOST_LENGTHS:
                expected = codec.expected_lengths()
                self._say(f"{NAME}: datagrams of {len(data)} bytes arrive, which are not read: expected {expected}")
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
