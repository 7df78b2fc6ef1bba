"""`connect`: a simulator as an object that is stepped, for controllers that keep the loop to themselves."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from numbers import Real

from trailbrake.driving.loop.drive_loop import LOST_LIMIT
from trailbrake.driving.session.connection import Connection, open_connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import AnySite, DriveSpec, EmbeddedSite, KeepSpec, LiveSite, Pace
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.histogram import DurationHistogram
from trailbrake.json_types import JsonObject
from trailbrake.roles import CustomChannels
from trailbrake.sims import registry
from trailbrake.simulator import Speed
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.state.commands import find_command_problem
from trailbrake.system import steady_clock


class Stepper:
    """A car that goes one message further with each `step`.

    Embedded it is exact lockstep: simulator time stands still until `step`, and the same commands give the same states
    to the bit. Controls act from the simulator step behind the one whose state they answer.

    Attributes:
        state: the newest state.
        period: s of simulator time from state to state.
    """

    def __init__(self, connection: Connection, live: bool) -> None:
        self._connection, self._live = connection, live
        self._link = connection.link
        self._channels = self._link if isinstance(self._link, CustomChannels) else None
        self._durations = DurationHistogram()
        self._overruns, self._began_at, self._first_time = 0, steady_clock.now(), 0.0
        self.period: float = self._link.period
        self.state = self._wait_for_state()
        self._first_time = self.state.time
        self._returned_at = steady_clock.now()  # when the caller got the state that it answers

    def step(self, controls: Controls, custom: Sequence[float] | None = None) -> CarState:
        """Answer the newest state and return the next one.

        Args:
            controls: what the car shall do. Brake torques are positive; NaN leaves alone, also in steer and pedals.
            custom: up to 50 free values that go with it, where the simulator has them; kept until others are given.

        Raises:
            SimulatorError: nothing came for a minute, or the host is gone.
            UsageError: too many free values, one that is no number, or a simulator that has none.
        """
        began = steady_clock.now()
        if custom is not None:
            self._set_custom_values(custom)
        if controls.custom:
            self._check_custom_values(controls.custom)  # a link leaves out what its message has no room for
        self._link.write(controls)
        if self._connection.pace is not None:
            self._connection.pace.add_answer(steady_clock.now() - self._returned_at, self._link.counters.lost)
        self.state = self._wait_for_state()
        self._returned_at = steady_clock.now()
        took = steady_clock.now() - began
        self._durations.add_duration(took)
        self._overruns += took > self.period
        return self.state

    def send_command(self, command: SimCommand) -> None:
        """Request something beside driving: pause, teleport, time scale, ...

        Raises:
            UsageError: the simulator does not accept it, or a value is out of range.
        """
        problem = find_command_problem(command, self._link.ACCEPTS)
        if problem:
            raise UsageError(problem, where="send_command")
        self._link.send_command(command)

    def _check_custom_values(self, custom: Sequence[float]) -> None:
        room = 0 if self._channels is None else len(self._channels.custom_out)
        if len(custom) > room:
            raise UsageError("too many free values", where="custom", expected=f"up to {room}", got=str(len(custom)))
        wrong = [value for value in custom if not isinstance(value, Real)]
        if wrong:
            raise UsageError("free values are numbers", where="custom", got=repr(wrong[0]))

    def _set_custom_values(self, custom: Sequence[float]) -> None:
        self._check_custom_values(custom)
        room = 0 if self._channels is None else len(self._channels.custom_out)
        if self._channels is not None:
            self._channels.custom_out = (*map(float, custom), *[0.0] * (room - len(custom)))

    def _wait_for_state(self) -> CarState:
        link, pace = self._link, self._connection.pacer
        waited = steady_clock.now()
        while True:
            # The one in hand first: a link that has just been opened has its first sample.
            now = steady_clock.now() if self._live and link.has_new_sample() else pace.wait_for_sample(link)
            if link.has_new_sample():
                state: CarState = link.read(now)
                return state
            gone = pace.end_reason()
            if gone or steady_clock.now() - waited > LOST_LIMIT:
                raise SimulatorError(gone or f"the simulator went silent for {LOST_LIMIT:g} s", where="step")

    @property
    def custom(self) -> tuple[float, ...]:
        """The free values of the newest message; none where the simulator has none."""
        return () if self._channels is None else tuple(self._channels.custom)

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
            "pace": None if self._connection.pace is None else self._connection.pace.describe(),
        }


@contextmanager
def connect(
    sim: str = "beamng",
    *,
    track: str = "proving_ground",
    car: str = "gt3",
    seed: int = 0,
    live: bool = False,
    speed: Speed = "max",
    signals: Sequence[str] = (),
    pace: Pace = "simulator",
    camera: str = "",
    **options: object,
) -> Iterator[Stepper]:
    """Open a simulator for a loop of one's own.

    `with connect("beamng") as sim: state = sim.step(controls)`

    Args:
        sim: whose wire.
        track: of the embedded world.
        car: of the embedded world.
        seed: of the embedded world.
        live: a real game, or a served world, at its public doors.
        speed: of the embedded world: `max` in lockstep in this process, `real` in a process of its own in real time.
        signals: names of docs/signals.md, or patterns as `beamng.wheel_*`, for `state.signals`; `all` for every one.
        pace: who sets the pace of real time, as `drive --pace`.
        camera: pictures in `state.image` for a wire that has none, as `drive --camera` takes it.
        **options: fields of the simulator's `spec.LiveOptions`, as `simulink_time=0.0005`.

    Raises:
        UsageError: an option that the simulator has not.
        SimulatorError: no simulator there.
    """
    simulator = registry.find(sim)
    known = [item.name for item in fields(simulator.live_options)]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise UsageError(f"{simulator.name} has no option {unknown[0]}", where="connect", expected=", ".join(known))
    selected = (signals,) if isinstance(signals, str) else tuple(signals)
    site: AnySite = (
        LiveSite(sim=sim, camera=camera, pace=pace)
        if live
        else EmbeddedSite(sim=sim, track=track, car=car, seed=seed, speed=speed, camera=camera, pace=pace)
    )
    spec = DriveSpec(site=site, keep=KeepSpec(signals=selected))
    setup = make_setup(simulator, spec, simulator.make_live_options(options))
    with open_connection(setup, lambda: False) as connection:
        yield Stepper(connection, live or speed == "real")
