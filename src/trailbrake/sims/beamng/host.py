"""The simulator's end of BeamNG's wire: steps a Plant at 2 kHz, in lockstep with a controller for each car.

Source: protocol page beamng-coupling, sections 2 to 6. After each physics step the coupling of every vehicle reads and
sends as its window requires. While one coupling waits for its controller, the physics of all vehicles stands still
(`waits`); the caller of `tick` may then call `wait`, or `tick` again.

With a rendezvous folder (`doors`) the first step waits for all controllers, so that a drive in lockstep begins with
message 0. With public ports the first messages are lost if the controller is not yet there, as with the game.
"""

from typing import Any, NamedTuple

from trailbrake.errors import SimulatorError
from trailbrake.roles import RoadPlant
from trailbrake.sims.beamng import convert, spec
from trailbrake.sims.beamng.coupling import (
    CouplingSettings,
    CustomValues,
    DebugLog,
    Electrics,
    VehicleCoupling,
    load_custom_values,
    print_note,
)
from trailbrake.sims.beamng.message_format import MessageFormat, make_message_format
from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.sims.beamng.window import GameWindow, StrictWindow, Window
from trailbrake.simulator_tools import Doors
from trailbrake.state import Controls
from trailbrake.transport.network_faults import FaultOptions, FaultyQueue
from trailbrake.transport.rendezvous import lookup_port, publish_port, withdraw_port
from trailbrake.transport.udp import UdpSocket, parse_address

NOTE_AFTER_S = 3.0  # s without an answer after which the host prints which controllers it waits for


class _HeardController(NamedTuple):
    """What has been heard of a controller: messages, since when there are no more, and whether that was printed."""

    messages: int
    since: float
    noted: bool = False


class Host:
    """Serves each car of `plant` to its own controller.

    Args:
        plant: the world; its period must be the physics step, 0.5 ms.
        options: options of `serve beamng`; `vehicles` is ignored: the plant has the cars.
        doors: rendezvous folder in which both ends publish their ports; None = the ports in the options.
    """

    def __init__(self, plant: RoadPlant, options: spec.ServeOptions | None = None, *, doors: Doors = None) -> None:
        self._plant, self._options, self._doors = plant, options or spec.ServeOptions(), doors
        self._timing, self._has_faults = self._options.timing, self._options.faulty
        self._slow_banks, self._steps_latch = self._options.gfx_banks == "slow", self._options.input_latch == "step"
        self._frames_per_step = PHYSICS_STEP * self._options.frame_rate  # graphics frames in a physics step
        self._format: MessageFormat = make_message_format(self._options)
        self._electrics = Electrics(
            float(self._options.ignition), self._options.lights, self._options.turn_signal
        )  # fmt: skip
        self._couplings: list[VehicleCoupling] = []
        self._controls: list[Controls] = []
        self._blocked: list[VehicleCoupling] = []
        self._missing_controllers: list[int] = []  # vehicles whose controller has not yet published its port
        self._heard: list[_HeardController] = []
        self._silence_check_at = 0.0
        self._steps = self._frame = self._ticks = 0
        self._now = 0.0  # of the newest tick
        self._debug_logs: list[DebugLog] = []

    @staticmethod
    def answer_delay(options: spec.ServeOptions) -> float:
        """Return the time from a message to the step at which its answer is due, s.

        The strict window takes an answer no earlier; the game's own takes it as soon as it arrives.
        """
        timing = options.timing
        return timing.unanswered * timing.message_period if options.window == "strict" else 0.0

    @property
    def description(self) -> str:
        """The timing, whether the period was rounded up, and signals of the contract without a source."""
        text, names = self._timing.describe_timing(), self._format.state_custom_names
        if self._options.contract is None or self._options.custom is not None or not names:
            return text
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        return f"{text}, 0 for {', '.join(names[:5])}{more}: --custom FILE.py can compute them"

    @property
    def waits(self) -> bool:
        """Whether the physics stands still until a controller answers or, before the first step, connects."""
        return bool(self._blocked or self._missing_controllers)

    def open(self, now: float) -> None:
        """Open a socket per vehicle; SimulatorError if a port is taken."""
        options = self._options
        if abs(self._plant.period / PHYSICS_STEP - 1.0) > 1e-9:
            raise SimulatorError("the world's period is not the physics step", expected=f"{PHYSICS_STEP:g} s",
                                 got=f"{self._plant.period:g} s")  # fmt: skip
        host, port = parse_address(options.send, where="--send")
        try:
            for index in range(len(self._plant.cars)):
                self._open_vehicle(index)
                if self._doors is None:
                    self._couplings[index].controller_address = host, port + 2 * index
        except BaseException:
            self.close()
            raise
        self._heard = [_HeardController(0, now) for _ in self._couplings]
        self._missing_controllers = [] if self._doors is None else list(range(len(self._couplings)))

    def _open_vehicle(self, index: int) -> None:
        options = self._options
        private = self._doors is not None
        here = ("127.0.0.1", 0) if private else (options.receive_host, options.receive_port + 2 * index)
        udp = UdpSocket(here, where="a private door" if private else f"--receive-port {here[1]}")
        window: Window = (GameWindow if options.window == "beamng" else StrictWindow)(self._timing)
        settings = CouplingSettings(
            message_format=self._format,
            timeout=options.block_timeout,
            faults=_make_faults(options, index),
            custom=self._load_custom_values(),
            debug=self._open_debug_log(index),
            electrics=self._electrics,
        )
        coupling = VehicleCoupling(self._plant, index, window, udp, settings)
        self._couplings.append(coupling)
        self._controls.append(Controls())
        if self._doors is not None:
            publish_port(self._doors, spec.simulator_rendezvous_name(index), udp.port)

    def _load_custom_values(self) -> CustomValues | None:
        path = self._options.custom
        return None if path is None else load_custom_values(path, len(self._format.state_custom_names))

    def _open_debug_log(self, index: int) -> DebugLog | None:
        path = self._options.debug_file
        if path is None:
            return None
        log = DebugLog(path if index == 0 else path.with_name(f"{path.name}{index}"),
                       self._format.state_doubles, self._format.command_doubles)  # fmt: skip
        self._debug_logs.append(log)
        return log

    def tick(self, now: float) -> None:
        """Do one physics step, or continue one that waits; with `burst` N do N steps in every Nth tick."""
        self._now = now
        if self._missing_controllers and not self._find_controllers():
            return
        if self._has_faults:
            for coupling in self._couplings:
                coupling.send_delayed(now)
        if self._blocked:
            self._continue_step(now)
            if self._blocked:
                if now >= self._silence_check_at:
                    self._report_silence(now)
                return
        else:
            self._ticks += 1
        burst = self._options.burst
        if self._ticks % burst == 0:
            # A burst ends with its last step: steps that a wait has delayed are made up for.
            while self._steps < self._ticks and not self._blocked:
                self._step_plant(now)

    def _step_plant(self, now: float) -> None:
        plant = self._plant
        plant.step(self._controls)
        self._steps += 1
        frame = int(self._steps * self._frames_per_step + 1e-9)
        new_frame, self._frame = frame != self._frame, frame
        for log in self._debug_logs:
            log.time = self._steps * PHYSICS_STEP
            log.write_step()
        hold_slow_banks = self._slow_banks and not new_frame
        for index, coupling in enumerate(self._couplings):
            coupling.begin_step(now, hold_slow_banks)
            if coupling.blocked:
                self._blocked.append(coupling)
            if coupling.command_changed or new_frame:
                self._apply_command(index, coupling, new_frame)

    def _report_silence(self, now: float) -> None:
        """Print once which controllers have been silent for NOTE_AFTER_S while the physics waits for them."""
        self._silence_check_at = now + 1.0
        silent = []
        for index, coupling in enumerate(self._couplings):
            count = coupling.statistics.messages_in
            heard = self._heard[index]
            if count != heard.messages or not coupling.blocked:
                self._heard[index] = _HeardController(count, now)
            elif now - heard.since >= NOTE_AFTER_S and not heard.noted:
                self._heard[index] = heard._replace(noted=True)
                silent.append(f"{index + 1} ({self._describe_ports(index)})")
        if silent:
            print_note(f"the physics waits for the controller of vehicle {', '.join(silent)}")

    def _describe_ports(self, index: int) -> str:
        coupling = self._couplings[index]
        host, port = coupling.controller_address or ("?", 0)
        return f"states to {host}:{port}, commands at port {coupling.udp.port}"

    def _continue_step(self, now: float) -> None:
        for coupling in self._blocked:
            coupling.continue_step(now)
        self._blocked = [coupling for coupling in self._blocked if coupling.blocked]
        for index, coupling in enumerate(self._couplings):
            if coupling.command_changed:
                self._apply_command(index, coupling, False)

    def _apply_command(self, index: int, coupling: VehicleCoupling, new_frame: bool) -> None:
        """Pass the latched command to the plant for the next step.

        With `--input-latch frame` pedals and steering take effect only at a new graphics frame, torques always.
        """
        if self._steps_latch or new_frame:
            self._controls[index] = convert.controls_from_wire(coupling.latched)
        else:
            self._controls[index].wheels = convert.latched_torques(coupling.latched)
        if not self._electrics.engine_runs:  # no fuel: the clutch leaves the wheels alone
            self._controls[index].throttle, self._controls[index].clutch = 0.0, 1.0
        coupling.command_changed = False

    def wait(self, seconds: float) -> None:
        """Sleep until a datagram from a controller arrives, at most `seconds`; return at once unless `waits`."""
        if not self.waits:
            return
        if self._has_faults:  # the simulated network may deliver earlier; its clock is that of the newest tick
            due = [
                coupling.next_delivery - self._now for coupling in self._couplings if coupling.next_delivery is not None
            ]
            seconds = max(min([seconds, *due]), 0.0)
        waiting = self._blocked or self._couplings
        waiting[0].udp.wait_readable(seconds)

    def read_counters(self) -> dict[str, Any]:
        """Return the counters of all vehicles together and of each, and the timing of the coupling."""
        vehicles = [
            {
                **coupling.statistics.as_report(),
                "in_flight": coupling.window.in_flight,
                "rejected": coupling.window.rejected,
                "timeouts": coupling.window.timeouts,
                "wrong_signs": coupling.latched.wrong_signs,
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
                "step_s": timing.message_period, "send_skips": timing.send_skips, "unanswered": timing.unanswered,
                "send_offset": timing.send_offset, "window_width": timing.window_width, "send_wait": timing.send_wait,
            },
            "vehicles": vehicles,
        }  # fmt: skip

    def close(self) -> None:
        """Close the sockets and the logs. `read_counters` still works."""
        for index, coupling in enumerate(self._couplings):
            coupling.udp.close()
            if self._doors is not None:
                withdraw_port(self._doors, spec.simulator_rendezvous_name(index))
        for log in self._debug_logs:
            log.close()
        self._debug_logs = []

    def _find_controllers(self) -> bool:
        """Look up the controllers' ports in the rendezvous folder; return whether all are known."""
        assert self._doors is not None
        for index in list(self._missing_controllers):
            port = lookup_port(self._doors, spec.controller_rendezvous_name(index))
            if port is not None:
                self._couplings[index].controller_address = ("127.0.0.1", port)
                self._missing_controllers.remove(index)
        return not self._missing_controllers


def _make_faults(options: spec.ServeOptions, index: int) -> tuple[FaultyQueue, FaultyQueue] | None:
    if not options.faulty:
        return None
    faults = FaultOptions(
        loss=options.loss, duplicate=options.duplicate, reorder=options.reorder, delay=options.delay,
        jitter=options.jitter,
    )  # fmt: skip
    return FaultyQueue(faults, 2 * index), FaultyQueue(faults, 2 * index + 1)
