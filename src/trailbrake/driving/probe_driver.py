"""A driver whose controls are computed and not sent: its computing time is measured where nothing may move."""

import math
from collections.abc import Callable

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.driver_needs import check_driver_needs
from trailbrake.errors import DriverError, TrailbrakeError, describe_value, raised_at
from trailbrake.planning.course import Course
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track


def load_probe_driver(simulator: AnySimulator, driver: str, track: str, car: str) -> Callable[[CarState], object]:
    """Return a function that computes the controls of `driver` for a state.

    Args:
        simulator: whose states they are.
        driver: as `drive --driver` takes it.
        track: of the course that the driver gets: a track's name or file.
        car: a car's name or file.

    Raises:
        TrailbrakeError: no such driver, track or car; the driver needs more than the wire has, or raises.
    """
    made = load_driver(driver)
    check_driver_needs(made, driver, simulator)
    last = math.nan

    def call_driver(name: str, call: Callable[[], object]) -> object:
        try:
            return call()
        except TrailbrakeError:
            raise
        except (Exception, SystemExit) as error:
            raise DriverError(
                f"{name}() raised {type(error).__name__}: {describe_value(error)}", where=raised_at(error) or driver
            ) from error

    def compute_controls(state: CarState) -> object:
        nonlocal last
        dt = state.time - last
        last = state.time
        return call_driver("act", lambda: made.act(state, dt if 0.0 < dt < 1.0 else 0.0))

    call_driver("reset", lambda: made.reset(Course(load_track(track), load_car(car))))
    return compute_controls
