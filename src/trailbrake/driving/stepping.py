"""`connect`: a simulator as an object that is stepped, for controllers that keep the loop to themselves."""

import weakref
from collections.abc import Sequence
from contextlib import ExitStack

from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import Pace, make_spec
from trailbrake.driving.supervised.control_check import check_custom_values
from trailbrake.driving.supervised.supervised_car import SupervisedCar, open_car
from trailbrake.errors import UsageError
from trailbrake.histogram import DurationHistogram
from trailbrake.json_types import JsonObject
from trailbrake.sims import registry
from trailbrake.simulator import Speed
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.state.commands import find_command_problem
from trailbrake.system import steady_clock


class Stepper:
    """A car that goes one message further with each `step`.

    Embedded it is exact lockstep: simulator time stands still until `step`, and the same commands give the same states
    to the bit. Controls act from the simulator step behind the one whose state they answer.

    In real time the car is supervised as in a drive. It is braked while the simulator is silent or sends what no car
    can send, while the program passes NaN where the wire cannot leave a control as it is, and while the program does
    not step for 0.3 s (or three times as long as it usually takes). The next step drives on.

    Args:
        car: open.
        live: whether time goes on without `step`.

    Attributes:
        state: the newest state.
        period: s of simulator time from state to state.
        close: gives the car back, as the end of a `with` block and of the program do.
    """

    close: "weakref.finalize[[], Stepper]"

    def __init__(self, car: SupervisedCar, live: bool) -> None:
        self._car, self._live = car, live
        self._durations = DurationHistogram()
        self._overruns, self._began_at, self._first_time = 0, steady_clock.now(), 0.0
        self.period: float = car.period
        self.state = car.wait_for_state()
        self._first_time = self.state.time

    def __enter__(self) -> "Stepper":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def step(self, controls: Controls, custom: Sequence[float] | None = None) -> CarState:
        """Answer the newest state and return the next one.

        Args:
            controls: what the car shall do, limited to the ranges of its fields. Brake torques are positive. Where the
                wire can do so (BeamNG), NaN leaves alone, also in steer and pedals.
            custom: up to 50 free values that go with it, where the simulator has them; kept until others are given.

        Raises:
            SimulatorError: nothing came for a minute, or the host is gone.
            UsageError: the car has been given back; controls that are no numbers; too many free values, one that is no
                number, or a simulator that has none.
        """
        if not self.close.alive:
            raise UsageError("the car has been given back", where="step", hint="connect() again")
        began, car = steady_clock.now(), self._car
        if custom is not None:
            check_custom_values(custom, car.custom_room)
            car.set_custom_values((*map(float, custom), *[0.0] * (car.custom_room - len(custom))))
        if isinstance(controls, Controls) and controls.custom:
            # A link leaves out what its message has no room for.
            check_custom_values(controls.custom, car.custom_room)
        car.write(controls)
        self.state = car.wait_for_state()
        took = steady_clock.now() - began
        self._durations.add_duration(took)
        self._overruns += took > self.period
        return self.state

    def send_command(self, command: SimCommand) -> None:
        """Request something beside driving: pause, teleport, time scale, ...

        Raises:
            UsageError: the simulator does not accept it, or a value is out of range.
        """
        problem = find_command_problem(command, self._car.accepts)
        if problem:
            raise UsageError(problem, where="send_command")
        self._car.send_command(command)

    @property
    def custom(self) -> tuple[float, ...]:
        """The free values of the newest message; none where the simulator has none."""
        return self._car.custom

    def timing(self) -> JsonObject:
        """Return how it went in time: what a step took on the wall clock, and whether that was in time at all.

        `overruns` counts steps that took longer than they went. Embedded it is no fault: simulator time waits.
        """
        wall, simulated = steady_clock.now() - self._began_at, self.state.time - self._first_time
        return {
            "exact_lockstep": not self._live,
            "period_s": self.period,
            "steps": self._durations.count,
            "simulated_s": simulated,
            "wall_s": wall,
            "times_real_time": simulated / wall if wall > 0.0 else 0.0,
            "step_p50_us": 1e6 * self._durations.percentile(0.5),
            "step_p99_us": 1e6 * self._durations.percentile(0.99),
            "step_p999_us": 1e6 * self._durations.percentile(0.999),
            "overruns": self._overruns,
            "pace": self._car.pace,
        }


def connect(
    sim: str = "beamng",
    *,
    track: str = "",
    car: str = "",
    seed: int = 0,
    live: bool = False,
    speed: Speed = "max",
    signals: Sequence[str] = (),
    pace: Pace = "simulator",
    camera: str = "",
    brakes_at_end: bool = True,
    **options: object,
) -> Stepper:
    """Open a simulator for a loop of one's own.

    `with connect("beamng") as sim: state = sim.step(controls)`; or `sim = connect("beamng")`, and `sim.close()` later.

    Args:
        sim: whose wire.
        track: of the embedded world; "": the simulator's usual one.
        car: of the embedded world; "": the simulator's usual one.
        seed: of the embedded world.
        live: a real game, or a served world, at its public doors.
        speed: of the embedded world: `max` in lockstep in this process, `real` in a process of its own in real time.
        signals: names of docs/signals.md, or patterns as `beamng.wheel_*`, for `state.signals`; `all` for every one.
        pace: who sets the pace of real time, as `drive --pace`.
        camera: pictures in `state.image` for a wire that has none, as `drive --camera` takes it.
        brakes_at_end: whether a live car is stopped before it is given back; without, it rolls on with what the wire
            demands of a client that leaves.
        **options: fields of the simulator's `spec.LiveOptions`, as `simulink_time=0.0005`.

    Raises:
        UsageError: an option that the simulator has not.
        SimulatorError: no simulator there.
    """
    simulator = registry.find(sim)
    place = {} if live else {"track": track, "car": car, "seed": seed, "speed": speed}
    spec = make_spec(sim=sim, live=live, options=options, camera=camera, pace=pace, signals=signals, **place)
    setup = make_setup(simulator, spec)
    with ExitStack() as opened:
        kept = opened.enter_context(open_car(setup, brakes_at_end=brakes_at_end))
        stepper = Stepper(kept, live or speed == "real")
        stepper.close = weakref.finalize(stepper, opened.pop_all().close)
        return stepper
