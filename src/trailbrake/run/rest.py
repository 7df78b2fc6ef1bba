"""The end of a live drive that went as planned: the cars are brought to a stand before they are given back."""

import math
from collections.abc import Sequence

from trailbrake.errors import DriverError
from trailbrake.roles import Driver, Link
from trailbrake.run.loop import STOPPING_LIMIT, Pace
from trailbrake.run.supervisor import STANDING, STOP_BRAKE, Supervisor
from trailbrake.state import CarState, Controls

STILL, STILL_FOR = 0.1, 0.5  # m/s, and s for which: a car that has just stopped rocks on its springs
Crew = tuple[Link, Driver, Supervisor]


class _Braking:
    """One car on its way to a stand: its driver goes on steering, and brakes at least as a safe stop does."""

    def __init__(self, link: Link, driver: Driver, supervisor: Supervisor) -> None:
        self._link, self._driver, self._supervisor = link, driver, supervisor
        self._sequence, self._time, self._began, self._still_since = -1, math.nan, math.nan, math.nan
        self.stands: bool | None = None  # None = not yet; False = it never will

    def follow(self, now: float) -> None:
        """Look at the car, and tell it what to do."""
        state = self._link.read(now)
        if self._supervisor.is_stale(state):
            self._link.write(self._supervisor.braking(state))
            self.stands = False
        if state.sequence == self._sequence:
            return
        dt = state.time - self._time if state.time > self._time else 0.0
        self._sequence, self._time = state.sequence, state.time
        self._began = state.time if math.isnan(self._began) else self._began
        if state.speed >= STANDING or math.isnan(self._still_since):
            self._still_since = state.time
        late = not 0.0 <= state.time - self._began <= STOPPING_LIMIT
        if state.speed < STANDING and not late:
            self._link.write(Controls(brake=1.0))
            if not state.speed < STILL:
                self._still_since = state.time
            self.stands = True if state.time - self._still_since >= STILL_FOR else None
        elif late:
            self.stands = state.speed < STANDING
        else:
            self._link.write(self._controls(state, dt))

    def _controls(self, state: CarState, dt: float) -> Controls:
        if self._supervisor.stop_reason:
            return self._supervisor.braking(state)
        try:
            answer = self._driver.act(state, dt)
            if not isinstance(answer, Controls):
                raise DriverError("no Controls")
            wanted = Controls(steer=answer.steer, brake=max(answer.brake, STOP_BRAKE), gear=answer.gear)
            return self._supervisor.check(wanted, dt)
        except (Exception, SystemExit):
            # The drive is over and was good: a safe stop, which holds the last steer, is all that is left to do.
            self._supervisor.request_stop("the driver failed while the car came to a stand")
            return self._supervisor.braking(state)


def come_to_rest(crews: Sequence[Crew], pace: Pace) -> bool:
    """Bring all cars to a stand; return whether they stand.

    Args:
        crews: link, driver and supervisor of each car.
        pace: makes the first car's samples come.
    """
    cars = [_Braking(*crew) for crew in crews]
    while any(car.stands is None for car in cars):
        now = pace.wait(crews[0][0])
        for car in cars:
            car.follow(now)
        if cars[0].stands is False:  # nobody sets the pace any more
            break
    return all(car.stands for car in cars)
