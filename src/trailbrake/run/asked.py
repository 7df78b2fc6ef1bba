"""A driver that is asked and not obeyed: how long it takes, where nothing may move."""

import math
from collections.abc import Callable

from trailbrake.cars.load import load as load_car
from trailbrake.drivers.load import load as load_driver
from trailbrake.errors import DriverError, TrailbrakeError, raised_at
from trailbrake.planning.course import Course
from trailbrake.run.needs import check_needs
from trailbrake.state import CarState
from trailbrake.tracks.load import load as load_track


def asked(sim: str, driver: str, track: str, car: str) -> Callable[[CarState], object]:
    """Return what asks `driver` for its controls at a state.

    Args:
        sim: what its states come from.
        driver: as `drive --driver` takes it.
        track: what the driver is told of the road: a track's name or file.
        car: a car's name or file.

    Raises:
        TrailbrakeError: no such driver, track or car; the driver needs more than the wire has, or raises.
    """
    made = load_driver(driver)
    check_needs(made, driver, sim)
    last = math.nan

    def guarded(name: str, call: Callable[[], object]) -> object:
        try:
            return call()
        except TrailbrakeError:
            raise
        except (Exception, SystemExit) as error:
            raise DriverError(
                f"{name}() raised {type(error).__name__}: {error}", where=raised_at(error) or driver
            ) from error

    def answer(state: CarState) -> object:
        nonlocal last
        dt = state.time - last
        last = state.time
        return guarded("act", lambda: made.act(state, dt if 0.0 < dt < 1.0 else 0.0))

    guarded("reset", lambda: made.reset(Course(load_track(track), load_car(car))))
    return answer
