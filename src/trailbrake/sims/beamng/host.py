"""The simulator's end of BeamNG's wire: steps a Plant at 2 kHz, in step with a controller for each car.

Source: protocol page beamng-coupling, sections 2 to 6. After each physics step every vehicle's coupling reads and
sends as its window says. As long as one of them waits for its controller, the physics of all stands still: `waits`.
Whoever calls `tick` may then call `wait`, or just tick again.

Behind private doors nothing happens before all controllers are there, so that a drive in lockstep begins with message
0. At the public ports the first messages may find nobody, as in the game.
"""

import os
from typing import Any

from trailbrake.errors import SimulatorError
from trailbrake.roles import Plant
from trailbrake.sims.beamng import convert, custom, spec
from trailbrake.sims.beamng.coupling import Coupling
from trailbrake.sims.beamng.debug import DebugLog
from trailbrake.sims.beamng.dialect import Dialect, of_options
from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.sims.beamng.window import GameWindow, StrictWindow, Window
from trailbrake.state import Controls
from trailbrake.transport.faults import FaultOptions, Faults
from trailbrake.transport.rendezvous import lookup, publish, withdraw
from trailbrake.transport.udp import Address, Udp, address


class Host:
    """Serves the cars of `plant`, each to a controller of its own.

    Args:
        plant: the world; its period must be the physics step, 0.5 ms.
        options: of this simulator; the cars are the plant's.
        doors: a folder in which both ends find each other's ports; None = the ports that the options name.
    """

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        self._plant, self._options, self._doors = plant, options or spec.ServeOptions(), doors
        self._timing, self._faulty = self._options.timing, self._options.faulty
        self._slow_banks, self._steps_latch = self._options.gfx_banks == "slow", self._options.input_latch == "step"
        self._frames = PHYSICS_STEP * self._options.frame_rate  # graphics frames in a physics step
        self._dialect: Dialect = of_options(self._options)
        self._couplings: list[Coupling] = []
        self._controls: list[Controls] = []
        self._waiting: list[Coupling] = []
        self._unknown: list[int] = []  # vehicles whose controller has not been found yet
        self._steps = self._frame = self._ticks = 0
        self._now = 0.0  # of the newest tick
        self._debug: list[DebugLog] = []

    @property
    def waits(self) -> bool:
        """Whether the physics stands still until a controller answers, or is there at all."""
        return bool(self._waiting or self._unknown)

    def open(self, now: float) -> None:
        """Open a socket per vehicle; SimulatorError if a port is taken."""
        options = self._options
        if abs(self._plant.period / PHYSICS_STEP - 1.0) > 1e-9:
            raise SimulatorError("the world's period is not the physics step", expected=f"{PHYSICS_STEP:g} s",
                                 got=f"{self._plant.period:g} s")  # fmt: skip
        to = address(options.send, where="--send")
        try:
            for index in range(len(self._plant.cars)):
                self._open_vehicle(index, None if self._doors is not None else (to[0], to[1] + 2 * index))
        except BaseException:
            self.close()
            raise
        self._unknown = [] if self._doors is None else list(range(len(self._couplings)))

    def _open_vehicle(self, index: int, to: Address | None) -> None:
        options = self._options
        private = self._doors is not None
        here = ("127.0.0.1", 0) if private else (options.receive_host, options.receive_port + 2 * index)
        udp = Udp(here, where="a private door" if private else f"--receive-port {here[1]}")
        window: Window = (GameWindow if options.window == "beamng" else StrictWindow)(self._timing)
        coupling = Coupling(
            self._plant, index, window, udp, to, self._dialect, options.block_timeout, _faults(options, index),
            None if options.custom is None else custom.load(options.custom), self._new_log(index),
        )  # fmt: skip
        self._couplings.append(coupling)
        self._controls.append(Controls())
        if self._doors is not None:
            publish(self._doors, spec.simulator_door(index), udp.port)

    def _new_log(self, index: int) -> DebugLog | None:
        path = self._options.debug_file
        if path is None:
            return None
        log = DebugLog(path if index == 0 else path.with_name(f"{path.name}{index}"),
                       self._dialect.sent_doubles, self._dialect.received_doubles)  # fmt: skip
        self._debug.append(log)
        return log

    def tick(self, now: float) -> None:
        """Do one physics step, or go on with one that waits; with `burst` N steps in every Nth tick."""
        self._now = now
        if self._unknown and not self._found():
            return
        if self._faulty:
            for coupling in self._couplings:
                coupling.deliver(now)
        if self._waiting:
            self._go_on(now)
            if self._waiting:
                return
        else:
            self._ticks += 1
        burst = self._options.burst
        if self._ticks % burst == 0:
            # What a wait has kept from being done is made up for: a burst is done when its last step is.
            while self._steps < self._ticks and not self._waiting:
                self._step(now)

    def _step(self, now: float) -> None:
        plant = self._plant
        plant.step(self._controls)
        self._steps += 1
        frame = int(self._steps * self._frames + 1e-9)
        new_frame, self._frame = frame != self._frame, frame
        for log in self._debug:
            log.time = self._steps * PHYSICS_STEP
            log.step()
        stale = self._slow_banks and not new_frame
        for index, coupling in enumerate(self._couplings):
            coupling.begin(now, stale)
            if coupling.waits:
                self._waiting.append(coupling)
            if coupling.changed or new_frame:
                self._apply(index, coupling, new_frame)

    def _go_on(self, now: float) -> None:
        for coupling in self._waiting:
            coupling.go_on(now)
        self._waiting = [coupling for coupling in self._waiting if coupling.waits]
        for index, coupling in enumerate(self._couplings):
            if coupling.changed:
                self._apply(index, coupling, False)

    def _apply(self, index: int, coupling: Coupling, new_frame: bool) -> None:
        """Let what is held act from the next physics step on; pedals and steering, latched, from the next frame on."""
        if self._steps_latch or new_frame:
            self._controls[index] = convert.controls_of(coupling.held)
        else:
            self._controls[index].wheels = convert.torques_of(coupling.held)
        coupling.changed = False

    def wait(self, seconds: float) -> None:
        """Let wall time pass until a controller says something, at most `seconds`."""
        if not self.waits:
            return
        if self._faulty:  # the bad network's own deliveries, counted from the newest tick, which was a moment ago
            due = [coupling.next_at - self._now for coupling in self._couplings if coupling.next_at is not None]
            seconds = max(min([seconds, *due]), 0.0)
        waiting = self._waiting or self._couplings
        waiting[0].udp.wait(seconds)

    def counters(self) -> dict[str, Any]:
        """Return the sums over all vehicles, the figures of each, and what the two times come to."""
        vehicles = [
            {
                **coupling.statistics.report(),
                "in_flight": coupling.window.in_flight,
                "rejected": coupling.window.rejected,
                "timeouts": coupling.window.timeouts,
                "wrong_signs": coupling.held.wrong_signs,
                "unsent": coupling.udp.unsent,
            }
            for coupling in self._couplings
        ]
        sums = {
            name: sum(vehicle[name] for vehicle in vehicles)
            for name in ("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "timeouts", "overruns")
        }
        timing = self._timing
        return {
            **sums,
            "physics_steps": self._steps,
            "simulated_s": self._steps * PHYSICS_STEP,
            "coupling": {
                "step_s": timing.step, "send_skips": timing.send_skips, "unanswered": timing.unanswered,
                "send_offset": timing.send_offset, "window_width": timing.window_width, "send_wait": timing.send_wait,
            },
            "vehicles": vehicles,
        }  # fmt: skip

    def close(self) -> None:
        """Close the sockets and the logs. What was counted stays."""
        for index, coupling in enumerate(self._couplings):
            coupling.udp.close()
            if self._doors is not None:
                withdraw(self._doors, spec.simulator_door(index))
        for log in self._debug:
            log.close()
        self._debug = []

    def _found(self) -> bool:
        """Look for the controllers behind private doors; return whether all are there."""
        assert self._doors is not None
        for index in list(self._unknown):
            port = lookup(self._doors, spec.controller_door(index))
            if port is not None:
                self._couplings[index].to = ("127.0.0.1", port)
                self._unknown.remove(index)
        return not self._unknown


def _faults(options: spec.ServeOptions, index: int) -> tuple[Faults, Faults] | None:
    if not options.faulty:
        return None
    faults = FaultOptions(
        loss=options.loss, duplicate=options.duplicate, reorder=options.reorder, delay=options.delay,
        jitter=options.jitter,
    )  # fmt: skip
    return Faults(faults, 2 * index), Faults(faults, 2 * index + 1)
