"""The game's end of the Forza wire: sends a Plant's car as Data Out, and drives it by a pad's reports.

Source: protocol page forza-data-out, sections 3, 6.6 and 8. Start of the pad pauses and goes on, Y rewinds, as with the
games' usual layout. A pad that falls silent for a second is a pad that lies on the table.
"""

import math
import os
from collections import deque
from typing import Any

from trailbrake.errors import SimulatorError, UsageError, WireError
from trailbrake.roles import Plant
from trailbrake.sims.forza import codec, convert, spec
from trailbrake.sims.forza.convert import Session
from trailbrake.sims.forza.pad_driving import Direction, Steering
from trailbrake.sims.forza.roadside import RoadSense
from trailbrake.state import CarState, Pose, SimCommand
from trailbrake.transport import pad_report, rendezvous
from trailbrake.transport.faults import FaultOptions, Faults
from trailbrake.transport.pad_report import NEUTRAL, Button, PadReport
from trailbrake.transport.udp import Address, Udp, address

SILENT_S = 1.0  # s without a report after which the pad counts as let go
REWIND_S = 3.0  # s that one press of Y goes back
_KEPT_S = 30.0  # s that can be rewound
_LOOK_EVERY = 30  # ticks between looks for a link behind private doors
_QUANTUM_MS = 15.625  # the system tick by which the recorded session's clock moved (section 3.2)
_CLUTCH_OPEN = 0.99  # share from which, on the move, no gear is engaged
_ROLLING = 1.0  # m/s


class _Laps:
    """Counts laps by the plant's own lap clock, which starts again at the line."""

    def __init__(self) -> None:
        self.done, self.last = 0, 0.0
        self._began = math.nan

    def begin(self, state: CarState) -> None:
        """Begin a lap that nothing ended: a start, or a way to the pits."""
        self._began = state.time - state.lap_time

    def see(self, state: CarState) -> None:
        """Notice that a lap has ended since the state before."""
        began = state.time - state.lap_time
        if began > self._began + 1e-6:  # beyond rounding
            self.done, self.last = self.done + 1, began - self._began
            self._began = began


class Host:
    """Serves the car of `plant`.

    Args:
        plant: the world, one car; its period is that of the datagrams.
        options: of this simulator.
        doors: a folder in which our own link and this host find each other's ports. None = the public ports.
    """

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        options = options or spec.ServeOptions()
        spec.period(options)
        if not 0.0 <= options.dead_zone < 1.0:
            raise UsageError("no dead zone", where="--dead-zone", expected="0 to below 1", got=f"{options.dead_zone:g}")
        self._plant, self._options, self._doors = plant, options, doors
        self._car = plant.cars[0]
        self._form = codec.ALIASES.get(options.format, options.format)
        self._targets: list[Address] = []
        if doors is None:
            self._targets = [address(part.strip(), where="--send") for part in options.send.split(",")]
        self._steering = Steering(self._car, fades=options.steering == "pad")
        self._direction = Direction()
        self._faults = Faults(
            FaultOptions(loss=options.loss, duplicate=options.duplicate, reorder=options.reorder, delay=options.delay,
                         jitter=options.jitter)
        )  # fmt: skip
        self._road: RoadSense | None = None
        self._out: Udp | None = None
        self._in: Udp | None = None
        self._report = NEUTRAL
        self._reported: float | None = None  # when the newest report came
        self._stick = 0.0
        self._state = plant.state(0)
        self._session_s = options.clock / 1000.0
        self._gear = 1
        self._start_race()
        self._driving = True
        self._ticks = 0
        self._counts = dict.fromkeys(
            ("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "superseded", "pad_silent", "rewinds"),
            0,
        )

    def _start_race(self) -> None:
        self._race_s = self._distance = 0.0
        self._laps = _Laps()
        self._laps.begin(self._state)
        self._past: deque[tuple[float, Pose, float]] = deque(maxlen=round(_KEPT_S / self._plant.period))

    @property
    def pad_port(self) -> int:
        """The port that takes pad reports, once open."""
        assert self._in is not None
        return self._in.port

    @property
    def driving(self) -> bool:
        """Whether the race is on; not in a pause."""
        return self._driving

    def open(self, now: float) -> None:
        """Open the doors; SimulatorError if another host has the pad's port."""
        if abs(self._plant.period / spec.period(self._options) - 1.0) > 0.01:
            raise SimulatorError(
                "the world's period is not that of the datagrams",
                expected=f"{spec.period(self._options):g} s", got=f"{self._plant.period:g} s",
            )  # fmt: skip
        self._road = RoadSense(self._plant.track, self._car, self._options.ndl)
        port = self._options.pad_port if self._doors is None else 0
        self._in = Udp(("127.0.0.1", port), where="--pad-port")
        # Telemetry has a socket of its own: from one that is bound to 127.0.0.1 nothing leaves this machine.
        self._out = Udp(("0.0.0.0" if self._doors is None else "127.0.0.1", 0), where="--send")
        if self._doors is not None:
            rendezvous.publish(self._doors, spec.PAD_DOOR, self._in.port)

    def tick(self, now: float) -> None:
        """Take the newest pad report, step the plant once and send; nothing moves in a pause."""
        assert self._in is not None
        assert self._out is not None
        if self._doors is not None and self._ticks % _LOOK_EVERY == 0:
            port = rendezvous.lookup(self._doors, spec.TELEMETRY_DOOR)
            self._targets = [] if port is None else [("127.0.0.1", port)]
        self._ticks += 1
        self._take_reports(now)
        period = self._plant.period
        self._session_s += period
        if self._driving:
            state = self._state
            stick = convert.stick_from_wire(self._report, self._options.dead_zone)
            self._stick = stick
            controls = convert.controls_from_wire(self._report, self._steering.turn(stick, state.speed, period))
            controls.throttle, controls.brake = self._direction.pedals(
                controls.throttle, controls.brake, state.speed, period
            )
            controls.gear = -1 if self._direction.reverse else None
            self._plant.step([controls])
            self._state = state = self._plant.state(0)
            self._race_s += period
            self._distance += state.speed * period
            self._laps.see(state)
            self._past.append((self._race_s, Pose(state.x, state.y, state.z, state.yaw), self._distance))
        data = self._datagram()
        if data is not None:
            self._faults.push(data, now)
        for arrived in self._faults.pop(now):
            for target in self._targets:
                self._out.send(arrived, target)
                self._counts["messages_out"] += 1
                self._counts["bytes_out"] += len(arrived)

    # ---- Pad in ----

    def _take_reports(self, now: float) -> None:
        assert self._in is not None
        while (got := self._in.receive()) is not None:
            data = got[0]
            self._counts["messages_in"] += 1
            self._counts["bytes_in"] += len(data)
            try:
                report = pad_report.decode(data)
            except WireError:
                self._counts["rejected"] += 1
                continue
            if self._reported == now:
                self._counts["superseded"] += 1
            self._press(report)
            self._report, self._reported = report, now
        if self._reported is not None and now - self._reported >= SILENT_S:
            self._reported, self._report = None, NEUTRAL
            self._counts["pad_silent"] += 1

    def _press(self, report: PadReport) -> None:
        pressed = report.buttons & ~self._report.buttons
        if pressed & Button.START:
            self.command(SimCommand(pause=self._driving))
        if pressed & Button.Y:
            self.rewind()

    # ---- What happens to the race ----

    def command(self, command: SimCommand) -> None:
        """Pause or go on, restart the race, or put the car somewhere else."""
        if command.pause is not None:
            self._driving = not command.pause
        if command.restart or command.to_pits or command.teleport is not None:
            self._plant.command(0, command)
            self._state = self._plant.state(0)
            self._direction = Direction()
            if command.restart:
                self._start_race()
            elif command.to_pits:
                self._laps.begin(self._state)

    def race(self, on: bool) -> None:
        """Leave the race for the menus, or begin a new one."""
        if on and not self._driving:
            self.command(SimCommand(restart=True))
        self._driving = on

    def rewind(self, seconds: float = REWIND_S) -> None:
        """Put the car where it was, and the race clock back; the car stands there. The session's clock goes on."""
        wanted = self._race_s - seconds
        while len(self._past) > 1 and self._past[-1][0] > wanted:
            self._past.pop()
        if self._past:
            self._race_s, pose, self._distance = self._past[-1]
            self.command(SimCommand(teleport=pose))
            self._counts["rewinds"] += 1

    # ---- Telemetry out ----

    def _datagram(self) -> bytes | None:
        options = self._options
        ms = self._session_s * 1000.0 + 1e-6  # whole ms stay whole
        clock = int(ms // _QUANTUM_MS * _QUANTUM_MS if options.preset == "fh5" else ms) & 0xFFFFFFFF
        if not self._driving:
            if options.preset == "fh6":
                return None
            return codec.encode(convert.paused_packet(clock, self._form))
        assert self._road is not None
        state = self._state
        side = self._road.look(state)
        session = Session(
            clock, self._race_s, self._distance, self._laps.last, self._laps.done, 1,
            convert.line_to_wire(side.line, options.ndl_wrap), side.ai_brake, side.strips,
            self._wire_gear(state), self._stick,
        )  # fmt: skip
        return codec.encode(convert.state_to_wire(state, self._car, session, self._form))

    def _wire_gear(self, state: CarState) -> int:
        """Return the gear as the wire tells it: 0 reverse; neutral has no code, so the gear before it stands."""
        if state.gear:
            self._gear = max(state.gear, 0)
        if self._options.preset == "fh6" and state.clutch > _CLUTCH_OPEN and state.speed > _ROLLING:
            return spec.SHIFTING
        return self._gear

    def counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, reports rejected or overtaken, and the faults that were made."""
        faults = {"lost": self._faults.lost, "duplicated": self._faults.duplicated, "reordered": self._faults.reordered}
        return {**self._counts, **faults, "unsent": self._out.unsent if self._out else 0}

    def close(self) -> None:
        """Close the doors."""
        for udp in (self._in, self._out):
            if udp is not None:
                udp.close()
        if self._doors is not None:
            rendezvous.withdraw(self._doors, spec.PAD_DOOR)
