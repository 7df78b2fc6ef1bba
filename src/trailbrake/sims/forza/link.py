"""The driver's end of the Forza wire: receives Data Out, and drives with a virtual pad.

Source: protocol page forza-data-out, sections 1, 3.2 and 6. `telemetry_stream` interprets the datagrams.

A stop without telemetry: what the pad does when the game's data, or the program that drives, is gone.

When the car stands is then unknown. The brake is held for as long as the car can need from its last known speed, and
the pad is then neutral: the game may be in a menu, which FH6 shows by silence alone, where a trigger that is held since
the menu opened presses nothing. A brake that is held at rest engages reverse in the games' automatic gearbox. From the
earliest time at which the car may stand a little throttle therefore goes with it, against which the brake holds the
car, and which is below the level that menus take for a press.
"""

import math
from collections.abc import Sequence

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.forza import convert, spec
from trailbrake.sims.forza.codec import expected_lengths
from trailbrake.sims.forza.signals import PacketSignalReader
from trailbrake.sims.forza.telemetry_stream import ForzaLinkCounters, TelemetryStream
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls, Phase, Signal, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.client_notices import print_to_stderr
from trailbrake.transport.pad import Pad, UdpPad, open_pad_backend
from trailbrake.transport.pad_report import NEUTRAL, PadReport, encode_trigger
from trailbrake.transport.udp import Address, UdpSocket, parse_address

_MAX_DATAGRAMS_PER_READ = 1000  # more than the system keeps; so that a flooded port does not hold the loop
LEAST_DECELERATION = 4.0  # m/s^2, of a car that brakes on a poor surface
MOST_DECELERATION = 12.0  # m/s^2, of a car on tyres of races
MARGIN_S = 1.0  # s longer than the car needs
LONGEST_STOP_S = 12.0  # s, also where the speed is not known
STANDING = 0.5  # m/s, below which there is nothing to stop
STOP_BRAKE = encode_trigger(0.6)  # as in a safe stop: the tyres can still turn the car
HOLDING_THROTTLE = encode_trigger(0.1)  # above what hosts and games ignore, below 30 of 255, a press in menus


class Link:
    """Receives telemetry and drives with a virtual pad.

    While the game does not drive (menu, pause), the pad is neutral, whatever the controls of `write` are: the game
    would apply them when the race goes on. When the game falls silent while it drives, the pad brakes for as long as
    the car can need to stop, then it is neutral (`blind_stop`); the same when this program hangs.

    Args:
        options: address to listen on, pad, addresses to forward to, and how long `open` waits.
        doors: rendezvous folder in which host and link publish their ports; None = the public port.
        idle: `open` calls it while it waits; it lets time pass and returns the new `now`. Without it `open` does not
            wait: the phase is LOST until a packet arrives.

    Attributes:
        stream: interprets the datagrams: counters, events, the newest packet.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS

    def __init__(
        self, options: spec.LiveOptions | None = None, *, doors: Doors = None, idle: Idle | None = None
    ) -> None:
        self._options = options or spec.LiveOptions()
        self._doors, self._idle = doors, idle
        self._udp: UdpSocket | None = None
        self._pad: Pad | None = None
        self._forward: list[Address] = []
        self._state = CarState()
        self._last_report = self._idle_report = NEUTRAL  # of the driver, and outside of the phase DRIVING
        self._is_released = True  # until `write`: a link that only listens does not brake
        self.stream = TelemetryStream(print_to_stderr)

    @property
    def period(self) -> float:
        """Simulator time between samples, s, estimated from the stream."""
        return self.stream.period

    @property
    def counters(self) -> ForzaLinkCounters:
        """Counts of datagrams."""
        return self.stream.counters

    def select_signals(self, signals: Sequence[Signal]) -> None:
        """Fill `signals` in every state from the next one on."""
        self.stream.signal_reader = PacketSignalReader(signals) if signals else None

    def open(self, now: float) -> None:
        """Listen, make the pad, and wait for the first packet of a driven car."""
        try:
            listen: Address = ("127.0.0.1", 0)
            if self._doors is None:
                listen = parse_address(self._options.listen, where="--listen")
                self._forward = parse_forward(self._options.forward, listen[1])
            self._udp = UdpSocket(listen, where="--listen")
            if self._doors is not None:
                rendezvous.publish_port(self._doors, spec.TELEMETRY_RENDEZVOUS, self._udp.port)
            else:
                self._pad = Pad(open_pad_backend(self._options.pad), stop=self._stop_report)
            if self._idle is not None:
                self._wait_for_sample(now, self._idle)
        except BaseException:
            self.close()
            raise

    def _wait_for_sample(self, now: float, idle: Idle) -> None:
        deadline = now + self._options.wait
        while not self.stream.sequence:
            now = idle()
            self._drain_socket(now)
            if now >= deadline:
                raise SimulatorError(
                    self._explain_silence(), where=f"--listen {self._options.listen}",
                    expected=f"telemetry within {self._options.wait:g} s", hint="ask `trailbrake doctor forza`",
                )  # fmt: skip

    def _explain_silence(self) -> str:
        counters = self.counters
        if counters.paused:
            return "the car is not driven: the game is in a menu or a pause"
        if counters.rejected:
            lengths = ", ".join(map(str, sorted(counters.lengths)))
            return f"no Forza datagrams: lengths {lengths or 'right, values no numbers'}, not {expected_lengths()}"
        return "no datagrams arrive"

    def has_new_sample(self) -> bool:
        """Return whether the socket has a datagram that `read` has not processed."""
        return self._udp is not None and self._udp.wait_readable(0.0)

    @property
    def waits(self) -> bool:
        """Whether the socket has no datagram."""
        return not self.has_new_sample()

    def wait(self, seconds: float) -> None:
        """Sleep until a datagram arrives, at most `seconds`."""
        if self._udp is not None:
            self._udp.wait_readable(seconds)

    def _drain_socket(self, now: float) -> None:
        """Interpret and forward the waiting datagrams."""
        if self._udp is None:
            return
        for _ in range(_MAX_DATAGRAMS_PER_READ):
            got = self._udp.receive()
            if got is None:
                return
            data, sender = got
            for target in self._forward:
                self._udp.send(data, target)
            self.stream.feed_datagram(data, now, sender)

    def read(self, now: float) -> CarState:
        """Return the newest sample. The phase is PAUSED with IsRaceOn 0, LOST after half a second of silence."""
        self._drain_socket(now)
        self._state = self.stream.current_state(now)
        self._stop_unless_driving(now)
        return self._state

    def _stop_unless_driving(self, now: float) -> None:
        """Send the report of a stop without telemetry, or the neutral one, unless the phase is DRIVING."""
        stream = self.stream
        if stream.phase is Phase.DRIVING:
            return
        self._idle_report = self._stop_report(self._last_report, stream.silence(now))
        if self._pad is not None:
            self._pad.send(self._idle_report)

    def _stop_report(self, last: PadReport, elapsed: float) -> PadReport:
        """Return the report of a stop without telemetry; NEUTRAL after a pause, or where this link does not drive."""
        state, stream = self._state, self.stream
        was_driving = stream.phase is Phase.DRIVING or (stream.phase is Phase.LOST and stream.was_driving)
        if self._is_released or not was_driving:
            return NEUTRAL
        return blind_stop_report(last, elapsed, state.speed, state.gear)

    def write(self, controls: Controls) -> None:
        """Send `controls` to the pad; unless the phase is DRIVING, those of a stop without telemetry, or none."""
        pad = self._open_pad()
        self._is_released = False
        if self.stream.phase is not Phase.DRIVING:
            pad.send(self._idle_report)
        else:
            self._last_report = convert.controls_to_wire(controls, self._state.gear, self._state.speed)
            pad.send(self._last_report)

    def _open_pad(self) -> Pad:
        if self._pad is None:
            port = None if self._doors is None else rendezvous.lookup_port(self._doors, spec.PAD_RENDEZVOUS)
            if port is None:
                raise SimulatorError("the link is not open, or its host is gone", where="forza")
            # Without a dead-man time: lockstep has no wall time, and the host releases a silent pad by itself.
            self._pad = Pad(UdpPad(("127.0.0.1", port)), dead_man=0.0)
        return self._pad

    def send_command(self, command: SimCommand) -> None:
        """Do nothing: the games accept no commands."""

    def release(self) -> None:
        """Set the pad to neutral."""
        self._is_released = True
        if self._pad is not None:
            self._pad.send_neutral()

    def close(self) -> None:
        """Remove the pad and close the socket."""
        if self._pad is not None:
            self._pad.close()
        if self._udp is not None:
            self._udp.close()
            if self._doors is not None:
                rendezvous.withdraw_port(self._doors, spec.TELEMETRY_RENDEZVOUS)
        self._pad = self._udp = None


def parse_forward(text: str, listen_port: int) -> list[Address]:
    """Return the addresses in HOST:PORT,HOST:PORT; an empty list for an empty text.

    Raises:
        UsageError: a part is not an address, or is the port that we listen on, which would forward without end.
    """
    found = [parse_address(part.strip(), where="--forward") for part in text.split(",") if part.strip()]
    for host, port in found:
        if port == listen_port and (host.startswith("127.") or host == "0.0.0.0"):
            raise UsageError("forwards to the port that it listens on", where="--forward", got=f"{host}:{port}")
    return found


def stop_duration(speed: float) -> float:
    """Return how long to brake from a speed (m/s; NaN: unknown), s; 0 for a car that stands."""
    if math.isnan(speed):
        return LONGEST_STOP_S
    if abs(speed) < STANDING:
        return 0.0
    return min(abs(speed) / LEAST_DECELERATION + MARGIN_S, LONGEST_STOP_S)


def blind_stop_report(last: PadReport, elapsed: float, speed: float, gear: int | None) -> PadReport:
    """Return the pad's report `elapsed` s after the last moment at which the car's state was known.

    Args:
        last: the newest report of the driver; its left stick is held.
        elapsed: s.
        speed: m/s at that moment; NaN: unknown.
        gear: at that moment; in reverse (-1) the triggers change places.

    Returns:
        The brake and, from the earliest time at which the car may stand, a little throttle; NEUTRAL when the stop is
        over. Of an unknown speed NEUTRAL if the driver pressed no trigger.
    """
    is_unknown = math.isnan(speed)
    if elapsed >= stop_duration(speed) or (is_unknown and not (last.left_trigger or last.right_trigger)):
        return NEUTRAL
    may_stand = is_unknown or elapsed >= abs(speed) / MOST_DECELERATION
    throttle = HOLDING_THROTTLE if may_stand else 0
    left, right = (throttle, STOP_BRAKE) if gear == -1 else (STOP_BRAKE, throttle)
    return PadReport(left_trigger=left, right_trigger=right, left_x=last.left_x)
