"""The driver on its own line: signs, feedback, gears and memory. How well it drives is in run/test_golden_drives."""

import math
from functools import cache

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.drivers.line_follow import Driver
from trailbrake.planning.course import Course
from trailbrake.planning.handling import LinePreview
from trailbrake.state import CarState, Controls
from trailbrake.tracks import layout
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.road_builder import build_road
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World


@cache
def course(car="gt3"):
    return Course(load_track("pinegrove"), load_car(car))


def driver(car="gt3"):
    made = Driver()
    made.reset(course(car))
    return made


def straightest(line):
    """Return the s (m) with the least curvature for 30 m around, so that only feedback acts."""
    bend = abs(line.column(RoadColumn.CURVATURE))
    spans = [max(bend[(k + j) % len(bend)] for j in range(-10, 21)) for k in range(len(bend))]
    return spans.index(min(spans)) * line.spacing


def state(line, s, offset=0.0, heading=0.0, speed=None, car="gt3", **more):
    x, y, z = line.point(s, offset)
    planned = float(course(car).profile.speed[round(s / line.spacing) % len(line.table)])
    v = planned if speed is None else speed
    curvature = float(line.column_at(s, RoadColumn.CURVATURE))
    known = {"yaw_rate": v * curvature, "acceleration_y": v * v * curvature, "gear": 3} | more
    yaw = math.remainder(float(line.column_at(s, RoadColumn.YAW)) + heading, 2.0 * math.pi)
    return CarState(time=1.0, sequence=1, x=x, y=y, z=z, yaw=yaw, speed=v, velocity_x=v, velocity_y=0.0, **known)


def act(given, car="gt3"):
    return driver(car).act(given, 0.003)


@pytest.mark.parametrize("car", ["gt3", "hatchback"])
def test_left_of_the_line_or_turned_left_it_steers_right(car):
    line = course(car).line
    s = straightest(line)
    middle = act(state(line, s, car=car), car).steer
    assert abs(middle) < 0.1
    assert act(state(line, s, offset=0.5, car=car), car).steer < middle - 0.01
    assert act(state(line, s, offset=-0.5, car=car), car).steer > middle + 0.01
    assert act(state(line, s, heading=0.05, car=car), car).steer < middle - 0.01
    assert act(state(line, s, heading=-0.05, car=car), car).steer > middle + 0.01


def test_it_damps_yaw_beyond_the_path_s():
    line = course().line
    s = straightest(line)
    rate = state(line, s).yaw_rate
    steady = act(state(line, s)).steer
    assert act(state(line, s, yaw_rate=rate + 0.3)).steer < steady < act(state(line, s, yaw_rate=rate - 0.3)).steer


def test_in_bends_it_steers_into_them():
    line = course().line
    bend = line.column(RoadColumn.CURVATURE)
    for k in (int(bend.argmax()), int(bend.argmin())):
        assert math.copysign(1.0, act(state(line, k * line.spacing)).steer) == math.copysign(1.0, bend[k])


@pytest.mark.parametrize("car", ["gt3", "hatchback"])
def test_faster_than_planned_brakes_and_slower_drives(car):
    line = course(car).line
    s = straightest(line)
    planned = state(line, s, car=car).speed
    fast = act(state(line, s, speed=planned + 4.0, car=car), car)
    slow = act(state(line, s, speed=planned - 8.0, car=car), car)
    assert fast.brake > 0.1
    assert slow.brake == 0.0
    assert slow.throttle > 0.5 > fast.throttle


def test_a_car_below_the_plan_brakes_late_and_gives_no_throttle_once_it_brakes():
    made = Driver(learn=0.0)
    made.reset(course())
    line, plan = made.line, made.plan
    braking = int(np.argmin(plan.accelerations)) * line.spacing
    below = state(line, braking, speed=plan.speed_at(braking) - 4.0)
    assert made.act(below, 0.003).throttle > 0.9  # it comes to the braking more slowly than planned
    made.act(state(line, braking, speed=plan.speed_at(braking)), 0.003)
    held = made.act(below, 0.003)
    assert held.throttle < 0.6
    assert held.brake == 0.0
    driving = straightest(line)
    assert made.act(state(line, driving, speed=plan.speed_at(driving) - 4.0), 0.003).throttle > 0.9


def test_too_fast_for_a_plan_that_holds_grip_back_it_brakes_with_all_that_was_found():
    def learned(share):
        doubt = Uncertainty(source="test", lateral_grip=0.03, braking=0.03, drive_force=0.02, downforce=0.1,
                            steer_angle=0.02, delay=0.01, planned_share=share)  # fmt: skip
        car = load_car("gt3")
        front, rear = (replace(t, mu_x=share * t.mu_x, mu_y=share * t.mu_y) for t in (car.tyre_front, car.tyre_rear))
        car = replace(car, tyre_front=front, tyre_rear=rear, uncertainty=doubt)
        made = Driver(learn=0.0)
        made.reset(Course(load_track("pinegrove"), car))
        return made

    s = straightest(course().line)
    low, found = learned(0.6), learned(1.0)
    fast = state(low.line, s, speed=low.plan.speed_at(s) + 25.0)
    # The limit has the drag of the air in it, which no plan holds back: up to a fifth more.
    assert 1.0 <= low.act(fast, 0.003).brake / found.act(fast, 0.003).brake < 1.2


def test_a_line_on_the_kerb_is_not_beside_the_road():
    made = Driver()
    made.reset(course())
    table = made.line.table
    row = made.row = int(np.flatnonzero((table[:, RoadColumn.KERB_LEFT] > 1.0) & (made.kerb_reach[0] > 0.2))[0])
    edge, place = table[row, RoadColumn.WIDTH_LEFT], state(made.line, row * made.line.spacing)
    here = LinePreview(0.0, 0.01, 0.0, 0.0, 0.0)
    beyond = [made._measure_deviation(place, 0.0, edge + more, here).off_road for more in (0.1, 2.0)]
    assert beyond == [False, True]


def test_from_rest_it_takes_first_gear_and_goes():
    answer = act(state(course().line, 0.0, speed=0.0, gear=0))
    assert (answer.gear, answer.brake) == (1, 0.0)
    assert answer.throttle > 0.3


def test_gears_follow_the_speed_and_none_stays_none():
    line = course().line
    s = straightest(line)
    assert act(state(line, s, speed=60.0, gear=2)).gear == 3
    assert act(state(line, s, speed=10.0, gear=4)).gear == 3
    assert act(state(line, s, gear=None)).gear is None


def test_running_wide_in_a_bend_takes_speed_off():
    line = course().line
    bend = line.column(RoadColumn.CURVATURE)
    k = int(bend.argmax())  # a left bend: wide is to the right
    s = k * line.spacing
    on, wide = act(state(line, s)), act(state(line, s, offset=-1.5))
    assert wide.throttle - wide.brake < on.throttle - on.brake


def test_a_sliding_rear_gets_less_brake():
    line = course().line
    s = straightest(line)
    fast = state(line, s).speed + 10.0
    straight = act(state(line, s, speed=fast))
    slide = state(line, s, speed=fast)
    slide.velocity_y = -0.25 * slide.velocity_x
    assert act(slide).brake < 0.3 * straight.brake


def test_a_spinning_wheel_gets_less_throttle_and_a_locked_one_less_brake():
    line = course().line
    s = straightest(line)
    planned = state(line, s).speed
    slow, fast = state(line, s, speed=planned - 8.0), state(line, s, speed=planned + 10.0)
    throttle, brake = act(slow).throttle, act(fast).brake  # no spins told: pedals as planned
    car = load_car("gt3")
    for given, slide in ((slow, 0.3), (fast, -0.5)):
        for i, wheel in enumerate(given.wheels):
            radius = (car.tyre_front if i < 2 else car.tyre_rear).radius
            wheel.angular_velocity = given.velocity_x / radius
        rolling = act(given)
        assert (rolling.throttle, rolling.brake)[slide < 0.0] == (throttle, brake)[slide < 0.0]
        given.wheels[3].angular_velocity *= 1.0 + slide
    assert act(slow).throttle < 0.5 * throttle
    assert act(fast).brake < 0.5 * brake
    assert act(slow).brake == 0.0


def test_the_same_states_give_the_same_controls_after_reset():
    one, line = driver(), course().line
    states = [state(line, 3.0 * k, offset=0.3 * math.sin(k), gear=2) for k in range(200)]
    first = [one.act(s, 0.003) for s in states]
    one.reset(course())
    assert [one.act(s, 0.003) for s in states] == first
    assert [driver().act(s, 0.003) for s in states[:1]] == first[:1]


def test_it_finds_itself_after_a_teleport():
    one, line = driver(), course().line
    for s in (10.0, 0.5 * line.length, 20.0):
        # The gear of the place before is requested for as long as a shift may take.
        assert one.act(state(line, s), 1.0) == driver().act(state(line, s), 1.0)


def test_controls_stay_in_their_ranges_wherever_the_car_is():
    one, line = driver(), course().line
    for k in range(300):
        given = state(line, 7.0 * k, offset=6.0 * math.sin(k), heading=3.0 * math.cos(1.7 * k), speed=0.3 * k)
        answer = one.act(given, 0.003)
        assert -1.0 <= answer.steer <= 1.0
        assert 0.0 <= answer.throttle <= 1.0
        assert 0.0 <= answer.brake <= 1.0


def thrown_over():
    """Return an open road, 6 m wide: flat out into a fast left bend, then hard on the brakes into a slow right one."""
    parts = ("straight = 1300", "radius = 260\nturn = 30", "radius = 80\nturn = -90", "straight = 250")
    text = "closed = false\nwidth = 6.0\n" + "".join(f"\n[[segment]]\n{part}\n" for part in parts)
    return Track(
        "thrown_over", "braked from bend to bend", (build_road(layout.parse_layout(text, "t.toml"), "t.toml"),)
    )


@pytest.mark.slow
@pytest.mark.parametrize("rear_grip", [1.0, 0.97])
def test_it_brakes_from_one_bend_into_the_next_without_a_slide(rear_grip):
    """The hatchback spun here when it was steered as in steady cornering; also with a rear worse than planned."""
    planned = Course(thrown_over(), load_car("hatchback"))
    tyre = planned.car.tyre_rear
    worse = msgspec.structs.replace(tyre, mu_x=rear_grip * tyre.mu_x, mu_y=rear_grip * tyre.mu_y)
    world = World(planned.track, [msgspec.structs.replace(planned.car, tyre_rear=worse)])
    one, controls, widest, slide = Driver(), Controls(brake=1.0), 0.0, 0.0
    one.reset(planned)
    line, row = planned.line, -1
    for _ in range(round(60.0 / world.period)):
        world.step([controls])
        now = world.car_state(0)
        controls = one.act(now, world.period)
        s, offset, row = line.locate(now.x, now.y, row)
        if s > line.length - 150.0:
            break
        if now.speed > 10.0:
            widest, slide = max(widest, abs(offset)), max(slide, abs(math.atan2(now.velocity_y, now.velocity_x)))
    assert s > line.length - 150.0
    assert widest < 0.8
    assert slide < math.radians(9.0)
