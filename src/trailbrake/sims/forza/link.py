"""Our end of the Forza wire: listens to Data Out, and drives by a pad.

Source: protocol page forza-data-out, sections 1, 3.2 and 6. What the datagrams mean together is `intake`'s business.
"""

import os
from collections.abc import Callable, Iterator

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.forza import convert, spec
from trailbrake.sims.forza.codec import expected_lengths
from trailbrake.sims.forza.intake import Counters, Intake
from trailbrake.state import CarState, Controls, Phase, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.pad import Pad, UdpPad, backend
from trailbrake.transport.udp import Address, Udp, address

_MOST_AT_ONCE = 10_000  # datagrams per read: whoever floods the port may not hold the loop


class Link:
    """Reads telemetry and drives by a pad.

    Args:
        options: where to listen, which pad, whom to forward to, and how long `open` waits.
        doors: a folder in which our own host and this link find each other's ports. None = the public port.
        idle: called by `open` between looks; lets time pass and returns the new `now`. Without it `open` does not
            wait: the phase is LOST until a packet comes.

    Attributes:
        intake: what the datagrams meant: counters, events, the newest packet.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS

    def __init__(
        self,
        options: spec.LiveOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        self._options = options or spec.LiveOptions()
        self._doors, self._idle = doors, idle
        self._udp: Udp | None = None
        self._pad: Pad | None = None
        self._forward: list[Address] = []
        self._state = CarState()
        self.intake = Intake()

    @property
    def period(self) -> float:
        """S of simulator time between samples, as the stream has told so far."""
        return self.intake.period

    @property
    def counters(self) -> Counters:
        """What went over the wire."""
        return self.intake.counters

    def open(self, now: float) -> None:
        """Listen, get the pad ready, and wait for the first packet of a driven car."""
        try:
            listen: Address = ("127.0.0.1", 0)
            if self._doors is None:
                listen = address(self._options.listen, where="--listen")
                self._forward = forward_to(self._options.forward, listen[1])
            self._udp = Udp(listen, where="--listen")
            if self._doors is not None:
                rendezvous.publish(self._doors, spec.TELEMETRY_DOOR, self._udp.port)
            else:
                self._pad = Pad(backend(self._options.pad))
            if self._idle is not None:
                self._await(now, self._idle)
        except BaseException:
            self.close()
            raise

    def _await(self, now: float, idle: Callable[[], float]) -> None:
        deadline = now + self._options.wait
        while not self.intake.sequence:
            now = idle()
            self._take(now)
            if now >= deadline:
                raise SimulatorError(
                    self._silence(), where=f"--listen {self._options.listen}",
                    expected=f"telemetry within {self._options.wait:g} s", hint="ask `trailbrake doctor forza`",
                )  # fmt: skip

    def _silence(self) -> str:
        counters = self.counters
        if counters.paused:
            return "the game says that nobody drives: it is in a menu or a pause"
        if counters.rejected:
            lengths = ", ".join(map(str, sorted(counters.lengths)))
            return f"no Forza datagrams: lengths {lengths or 'right, values no numbers'}, not {expected_lengths()}"
        return "nothing comes in"

    def fresh(self) -> bool:
        """Return whether a datagram waits that read() has not seen."""
        return self._udp is not None and self._udp.wait(0.0)

    @property
    def waits(self) -> bool:
        """Whether no datagram waits."""
        return not self.fresh()

    def wait(self, seconds: float) -> None:
        """Let wall time pass until the game sends something, at most `seconds`."""
        if self._udp is not None:
            self._udp.wait(seconds)

    def _receive(self, now: float) -> Iterator[bool]:
        """Take what waits, datagram by datagram; each time yield whether it was a new sample."""
        if self._udp is None:
            return
        for _ in range(_MOST_AT_ONCE):
            got = self._udp.receive()
            if got is None:
                return
            data, sender = got
            for target in self._forward:
                self._udp.send(data, target)
            yield self.intake.feed(data, now, sender)

    def _take(self, now: float) -> None:
        for _ in self._receive(now):
            pass

    def read(self, now: float) -> CarState:
        """Return the newest sample. Phase PAUSED with IsRaceOn 0, LOST when nothing came for half a second."""
        self._take(now)
        self._state = self.intake.state(now)
        self._let_go()
        return self._state

    def read_all(self, now: float) -> list[CarState]:
        """Return every sample that came since the last read, oldest first; for recordings."""
        states = [self.intake.state(now) for new in self._receive(now) if new]
        self.intake.look(now)
        if states:
            self._state = states[-1]
        self._let_go()
        return states

    def _let_go(self) -> None:
        if self.intake.phase is not Phase.DRIVING and self._pad is not None:
            self._pad.neutral()

    def write(self, controls: Controls) -> None:
        """Send `controls`. While the game does not drive, or is silent, the pad is neutral whatever they say."""
        pad = self._opened_pad()
        if self.intake.phase is not Phase.DRIVING:
            pad.neutral()
        else:
            pad.send(convert.controls_to_wire(controls, self._state.gear, self._state.speed))

    def _opened_pad(self) -> Pad:
        if self._pad is None:
            port = None if self._doors is None else rendezvous.lookup(self._doors, spec.PAD_DOOR)
            if port is None:
                raise SimulatorError("the link is not open, or its host is gone", where="forza")
            # No dead-man by wall time here: in lockstep there is none, and the host lets go of a silent pad itself.
            self._pad = Pad(UdpPad(("127.0.0.1", port)), dead_man=0.0)
        return self._pad

    def command(self, command: SimCommand) -> None:
        """Nothing can be asked of the games: ACCEPTS names no command."""

    def release(self) -> None:
        """Let go of the pad."""
        if self._pad is not None:
            self._pad.neutral()

    def close(self) -> None:
        """Take the pad away and close the door."""
        if self._pad is not None:
            self._pad.close()
        if self._udp is not None:
            self._udp.close()
            if self._doors is not None:
                rendezvous.withdraw(self._doors, spec.TELEMETRY_DOOR)
        self._pad = self._udp = None


def forward_to(text: str, listen_port: int) -> list[Address]:
    """Return the addresses in HOST:PORT,HOST:PORT; empty for an empty text.

    Raises:
        UsageError: no address, or the port that we listen on ourselves: each datagram would come round for ever.
    """
    found = [address(part.strip(), where="--forward") for part in text.split(",") if part.strip()]
    for host, port in found:
        if port == listen_port and (host.startswith("127.") or host == "0.0.0.0"):
            raise UsageError("forwards to the port that it listens on", where="--forward", got=f"{host}:{port}")
    return found
