"""`connect`: a simulator as an object that is stepped, for controllers that keep the loop to themselves."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.histogram import Durations
from trailbrake.run import rate
from trailbrake.run.connect import Connection, connected
from trailbrake.run.loop import LOST_LIMIT
from trailbrake.run.options import DriveOptions, Speed
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls


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
        self._link: Any = connection.links[0]
        self._durations = Durations()
        self._late, self._began, self._first = 0, rate.now(), 0.0
        self.period: float = self._link.period
        self.state = self._next()
        self._first = self.state.time

    def step(self, controls: Controls, custom: Sequence[float] | None = None) -> CarState:
        """Answer the newest state and return the next one.

        Args:
            controls: what the car shall do. Brake torques are positive; NaN leaves alone, also in steer and pedals.
            custom: up to 50 free values that go with it, where the simulator has them; kept until others are given.

        Raises:
            SimulatorError: nothing came for a minute, or the host is gone.
            UsageError: too many free values, or a simulator that has none.
        """
        began = rate.now()
        if custom is not None:
            self._say(custom)
        self._link.write(controls)
        self.state = self._next()
        took = rate.now() - began
        self._durations.add(took)
        self._late += took > self.period
        return self.state

    def _say(self, custom: Sequence[float]) -> None:
        room = len(getattr(self._link, "custom_out", ()))
        if len(custom) > room:
            raise UsageError("too many free values", where="custom", expected=f"up to {room}", got=str(len(custom)))
        self._link.custom_out = (*map(float, custom), *[0.0] * (room - len(custom)))

    def _next(self) -> CarState:
        link, pace = self._link, self._connection.pace
        waited = rate.now()
        while True:
            # The one in hand first: a link that has just been opened has its first sample.
            now = rate.now() if self._live and link.fresh() else pace.wait(link)
            if link.fresh():
                state: CarState = link.read(now)
                return state
            gone = pace.gone()
            if gone or rate.now() - waited > LOST_LIMIT:
                raise SimulatorError(gone or f"the simulator went silent for {LOST_LIMIT:g} s", where="step")

    @property
    def custom(self) -> tuple[float, ...]:
        """The free values of the newest message; none where the simulator has none."""
        return tuple(getattr(self._link, "custom", ()))

    def timing(self) -> dict[str, Any]:
        """Return how it went in time: what a step took on the wall clock, and whether that was in time at all.

        `overruns` counts steps that took longer than they went. Embedded it is no fault: simulator time waits.
        """
        wall, simulated = rate.now() - self._began, self.state.time - self._first
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
            "overruns": self._late,
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
    **options: Any,
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
        **options: fields of the simulator's `spec.LiveOptions`, as `simulink_time=0.0005`.

    Raises:
        UsageError: an option that the simulator has not.
        SimulatorError: no simulator there.
    """
    kind = registry.part(sim, "spec").LiveOptions
    unknown = sorted(set(options) - set(kind.__dataclass_fields__))
    if unknown:
        raise UsageError(f"{sim} has no option {unknown[0]}", where="connect",
                         expected=", ".join(kind.__dataclass_fields__))  # fmt: skip
    drive = DriveOptions(sim=sim, track=track, car=car, seed=seed, live=live, speed=speed)
    with connected(drive, kind(**options), lambda: False) as connection:
        yield Stepper(connection, live or speed == "real")
