"""Recovery, on its own and in the world: a car put down facing the wrong way drives on."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.recovery import MAX_TURN_SPEED, REVERSE_TIME, STUCK_TIME, SpinRecovery
from trailbrake.drivers.line_follow import Driver
from trailbrake.planning.course import Course
from trailbrake.state import Controls, Pose, SimCommand
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

DT = 1.0 / 333.0


def test_a_car_on_its_way_is_left_alone() -> None:
    recovery = SpinRecovery()
    assert recovery.rescue_controls(0.3, 1.0, 30.0, DT) is None
    assert recovery.rescue_controls(0.3, 1.0, 0.0, DT) is None  # a short stop is no trap


def test_a_fast_car_facing_backwards_brakes_before_it_turns() -> None:
    steer, throttle, brake, gear = SpinRecovery().rescue_controls(3.0, 0.0, 4.0 * MAX_TURN_SPEED, DT)
    assert (steer, throttle, gear) == (0.0, 0.0, 1)
    assert brake > 0.0


@pytest.mark.parametrize("offset", [-4.0, 4.0])
@pytest.mark.parametrize("heading", [math.pi - 0.1, -math.pi + 0.1])
def test_it_turns_over_the_middle_of_the_road(heading: float, offset: float) -> None:
    steer, throttle, _, gear = SpinRecovery().rescue_controls(heading, offset, 2.0, DT)
    # Facing backwards, a car left of the line has the line on its own left.
    assert steer == math.copysign(1.0, offset)
    assert throttle > 0.0
    assert gear == 1


def test_a_stuck_car_reverses_for_a_while() -> None:
    recovery = SpinRecovery()
    recovery.rescue_controls(0.0, 0.0, 20.0, DT)
    ticks = [recovery.rescue_controls(0.5, 3.0, 0.0, DT) for _ in range(int((STUCK_TIME + REVERSE_TIME + 0.5) / DT))]
    backwards = [t for t in ticks if t is not None and t[3] == -1]
    assert len(backwards) == pytest.approx(REVERSE_TIME / DT, rel=0.02), len(backwards)


@pytest.mark.slow
@pytest.mark.parametrize("turned", [math.pi, 1.6, -1.6])
def test_line_follow_gets_going_again_wherever_it_faces(turned: float) -> None:
    track = load_track("hartmoor")
    course = Course(track, load_car("gt3"))
    world, driver, controls = World(track, [load_car("gt3")]), Driver(), Controls()
    driver.reset(course)
    for _ in range(4 * 333):
        world.step([controls])
        controls = driver.act(world.car_state(0), world.period)
    s0, _, _ = track.road.locate(world.car_state(0).x, world.car_state(0).y)
    x, y, z, yaw = track.road.points([s0], [2.0])[0].tolist()
    world.execute_command(0, SimCommand(teleport=Pose(x, y, z, yaw + turned)))
    for _ in range(25 * 333):
        state = world.car_state(0)
        controls = driver.act(state, world.period)
        world.step([controls])
        s, _, _ = track.road.locate(state.x, state.y)
        if 60.0 < s - s0 < 300.0 and state.speed > 8.0:
            return
    pytest.fail(f"still at {s - s0:.0f} m, {state.speed:.1f} m/s after 25 s")
