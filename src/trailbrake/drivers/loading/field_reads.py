"""Finds out which fields of the state a driver reads, by a short drive over synthetic states."""

from dataclasses import fields
from typing import Any

from trailbrake.drivers.loading.probe_states import weaving_state
from trailbrake.planning.course import Course
from trailbrake.roles import Driver
from trailbrake.state import CarState, WheelState
from trailbrake.state.fields import declared_quantities
from trailbrake.state.tables import STATE_FIELDS

CLOCK_FIELDS = frozenset({"time", "sequence", "age", "phase"})  # every simulator supplies them
_TICKS = 400
_DT = 1.0 / 333.0
_ROLLING_RADIUS = 0.32  # m, an ordinary wheel's
_WHEEL_VALUES = {"load": 3500.0, "pressure": 1.8e5, "core_temperature": 80.0, "on_track": 1.0}


def find_read_fields(driver: Driver, course: Course) -> frozenset[str]:
    """Return the names of STATE_FIELDS that a driver reads, those of the clock left out.

    The driver is reset on `course` and receives states along its road in which every number is filled. Fields that it
    reads in other situations only are not found; a driver declares those in `USES`. The drive ends early where act()
    raises.

    Args:
        driver: a driver; afterwards it needs another reset().
        course: with a road.
    """
    names: set[str] = set()
    recording_state, recording_wheel = _make_recording_classes(names)
    driver.reset(course)
    for tick in range(_TICKS):
        full = weaving_state(course, tick, _DT)
        wheel = dict.fromkeys(declared_quantities(WheelState), 0.0) | _WHEEL_VALUES
        wheel["angular_velocity"] = full.speed / _ROLLING_RADIUS
        values: dict[str, Any] = {item.name: getattr(full, item.name) for item in fields(CarState)}
        state = recording_state(**values | {"wheels": [recording_wheel(**wheel) for _ in range(4)]})
        try:
            driver.act(state, _DT if tick else 0.0)
        except (Exception, SystemExit):  # of a driver that cannot drive on these states
            break
    return frozenset(names) & STATE_FIELDS - CLOCK_FIELDS


def _make_recording_classes(names: set[str]) -> tuple[type[CarState], type[WheelState]]:
    """Return CarState and WheelState whose instances add the names of their fields to `names` when they are read."""

    class RecordingState(CarState):
        def __getattribute__(self, name: str) -> Any:
            names.add(name)
            return super().__getattribute__(name)

    class RecordingWheel(WheelState):
        def __getattribute__(self, name: str) -> Any:
            names.add(f"wheels.{name}")
            return super().__getattribute__(name)

    return RecordingState, RecordingWheel
