"""Drivers on the world directly, shown only the fields that they need: no wire in between."""

import numpy as np

from trailbrake.cars.load import load as load_car
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.tracks.load import load as load_track
from trailbrake.world.plant import World

PERIOD = 0.005  # s, BeamNG's default
COLUMNS = ("time", "x", "y", "yaw", "speed", "steer", "throttle", "brake", "drive_torque", "brake_torque")


def shown(state, needs):
    """Return a state with nothing filled but the time and `needs`."""
    seen = CarState(time=state.time, sequence=state.sequence)
    for name in needs:
        if name.startswith("wheels."):
            for wheel, full in zip(seen.wheels, state.wheels, strict=True):
                setattr(wheel, name[7:], getattr(full, name[7:]))
        else:
            setattr(seen, name, getattr(state, name))
    return seen


def manoeuvre(driver, seconds, *, track="proving_ground", car="hatchback", speed=0.0, yaw=0.0, y=0.0, until=None):
    """Drive; return {column: (n,) array}. `speed`: rolling start, m/s; `until(state)` ends it early.

    Torques are those of the front left wheel, 0 where there are none.
    """
    course = Course(load_track(track), load_car(car))
    world = World(course.track, [course.car], period=PERIOD)
    start = world.state(0)
    if speed or yaw or y:
        world.batch.place(0, start.x, start.y + y, start.yaw + yaw, speed)
        world.step([Controls()])  # the world looks at a car at the end of a step
    driver.reset(course)
    rows, last = [], None
    for _ in range(round(seconds / PERIOD)):
        state = world.state(0)
        answer = driver.act(shown(state, driver.NEEDS), 0.0 if last is None else state.time - last)
        last = state.time
        wheel = answer.wheels[0] if answer.wheels else None
        torques = (wheel.drive_torque, wheel.brake_torque) if wheel else (0.0, 0.0)
        rows.append((state.time, state.x, state.y, state.yaw, state.speed, answer.steer, answer.throttle, answer.brake,
                     *torques))  # fmt: skip
        if until is not None and until(state):
            break
        world.step([answer])
    return dict(zip(COLUMNS, np.array(rows).T, strict=True))
