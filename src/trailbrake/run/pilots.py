"""Drivers of ours for the cars of a served world that no client has taken."""

import sys
from collections.abc import Callable, Sequence

from trailbrake.cars.params import CarParams
from trailbrake.drivers.load import load
from trailbrake.planning.course import Course
from trailbrake.roles import Driver
from trailbrake.run.loop import explain
from trailbrake.run.needs import check_needs
from trailbrake.run.supervisor import Supervisor
from trailbrake.state import CarState, Controls
from trailbrake.tracks.track import Track

Pilot = Callable[[CarState, float], Controls]


def make_pilots(name: str, sim: str, track: Track, cars: Sequence[CarParams]) -> list[Pilot]:
    """Return one pilot per car: the driver called `name`, ready to drive, behind a supervisor of its own."""
    courses = {id(car): Course(track, car) for car in cars}
    pilots = []
    for number, car in enumerate(cars):
        driver = load(name)
        check_needs(driver, name, sim)
        driver.reset(courses[id(car)])
        pilots.append(_pilot(driver, number))
    return pilots


def _pilot(driver: Driver, number: int) -> Pilot:
    supervisor = Supervisor()

    def drive(state: CarState, dt: float) -> Controls:
        if not supervisor.stop_reason:
            try:
                return supervisor.check(driver.act(state, dt), dt)
            except Exception as error:  # a served world outlives its drivers
                supervisor.request_stop(explain(error))
                print(f"trailbrake: car {number}: {supervisor.stop_reason}", file=sys.stderr, flush=True)
        return supervisor.braking(state)

    return drive
