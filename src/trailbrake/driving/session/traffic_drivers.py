"""Drivers for the cars of a served world that no client drives."""

import sys
from collections.abc import Callable

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.supervisor import Supervisor, explain_driver_error
from trailbrake.driving.session.driver_needs import check_driver_needs
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, RoadPlant
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls
from trailbrake.system.breakable_call import OURS

TrafficDriver = Callable[[CarState, float], Controls]


def load_traffic_drivers(name: str, simulator: AnySimulator, plant: RoadPlant) -> list[TrafficDriver]:
    """Return one driver per car of `plant`: that called `name`, after reset, each behind a supervisor of its own."""
    courses = {id(car): Course(plant.track, car) for car in plant.cars}
    drivers = []
    for number, car in enumerate(plant.cars):
        driver = load_driver(name)
        check_driver_needs(driver, name, simulator)
        driver.reset(courses[id(car)])
        drivers.append(_guard_driver(driver, number))
    return drivers


def _guard_driver(driver: Driver, number: int) -> TrafficDriver:
    supervisor = Supervisor()

    def drive(state: CarState, dt: float) -> Controls:
        if not supervisor.stop_reason:
            try:
                return supervisor.limit_controls(driver.act(state, dt), dt)
            except OURS:
                raise
            except BaseException as error:  # a served world outlives its drivers
                supervisor.request_stop(explain_driver_error(error))
                print(f"trailbrake: car {number}: {supervisor.stop_reason}", file=sys.stderr, flush=True)
        return supervisor.safe_stop_controls(state)

    return drive
