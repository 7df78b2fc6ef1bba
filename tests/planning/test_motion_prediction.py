"""Where a car will be when its controls act: closed forms of straight and circular motion, and steering on its way."""

import math

import numpy as np
import pytest

from trailbrake.cars.axle_forces import planning_car, required_slip_angle, wheel_loads
from trailbrake.cars.car_library import load_car
from trailbrake.planning.motion_prediction import (
    KeptMotion,
    PendingSteer,
    PlaneMotion,
    Steering,
    SteerResponse,
    advance_steer,
    predict_motion,
)

CAR = load_car("gt3")
DELAY = 0.06


def response(delay=DELAY, max_rate=10.0):
    return SteerResponse(delay, max_rate, CAR.body.yaw_inertia)


def pending(*commands):
    times, angles = np.full(8, -math.inf), np.zeros(8)
    for place, (time, angle) in enumerate(commands):
        times[place], angles[place] = time, angle
    return PendingSteer(times, angles), max(len(commands) - 1, 0)


def predict(motion, ahead=0.0, side=0.0, steer=0.0, sent=((0.0, 0.0),), **kind):
    ring, newest = pending(*sent)
    steering = Steering(steer, 1.0, newest, ring)
    return predict_motion(motion, KeptMotion(ahead, side, 0.0, 0.0), steering, response(**kind), planning_car(CAR))


def test_a_straight_drive_goes_on_with_its_acceleration():
    after = predict(PlaneMotion(3.0, 4.0, 0.5, 30.0, 0.0, 0.0), ahead=-8.0)
    assert after.forward == pytest.approx(30.0 - 8.0 * DELAY)
    way = 30.0 * DELAY - 0.5 * 8.0 * DELAY**2
    # the integration takes the speed at the end of each of its steps of 5 ms
    assert math.hypot(after.x - 3.0, after.y - 4.0) == pytest.approx(way, abs=0.5 * 8.0 * DELAY * 0.005 + 1e-9)
    assert math.atan2(after.y - 4.0, after.x - 3.0) == pytest.approx(0.5)


def test_steady_cornering_stays_steady():
    speed, side = 30.0, 8.0
    turn, body, car = side / speed, CAR.body, planning_car(CAR)
    loads = wheel_loads(0.0, side, speed, car.body)
    need = body.mass * side / body.wheelbase
    front = required_slip_angle(loads[0], loads[1], need * body.cg_to_rear, 0.0, car.front)
    rear = required_slip_angle(loads[2], loads[3], need * body.cg_to_front, 0.0, car.rear)
    sideslip = body.cg_to_rear * turn / speed - rear
    steer = body.wheelbase * turn / speed + front - rear
    before = PlaneMotion(0.0, 0.0, 0.0, speed, speed * math.tan(sideslip), turn)
    after = predict(before, side=side, steer=steer, sent=((0.0, steer),))
    assert after.yaw == pytest.approx(turn * DELAY, rel=0.02)
    assert after.yaw_rate == pytest.approx(turn, rel=0.03)  # the wheels of an axle run at slightly different angles
    assert after.aside == pytest.approx(before.aside, abs=0.03)


def test_a_command_acts_after_the_delay_and_no_earlier():
    motion = PlaneMotion(0.0, 0.0, 0.0, 30.0, 0.0, 0.0)
    late = predict(motion, sent=((0.0, 0.0), (1.0, 0.1)))
    due = predict(motion, sent=((0.0, 0.0), (1.0 - 0.5 * DELAY, 0.1)))
    assert late.yaw_rate == 0.0
    assert due.yaw_rate > 0.05


def test_the_wheels_turn_no_faster_than_they_can():
    motion = PlaneMotion(0.0, 0.0, 0.0, 30.0, 0.0, 0.0)
    slow, quick = (predict(motion, sent=((0.0, 0.1),), max_rate=rate).yaw_rate for rate in (0.2, 10.0))
    assert 0.0 < slow < 0.3 * quick
    ring, newest = pending((0.0, 0.1))
    assert advance_steer(Steering(0.0, 1.0, newest, ring), 0.01, response(max_rate=2.0)) == pytest.approx(0.02)
    assert advance_steer(Steering(0.0, 0.05, newest, ring), 0.01, response(max_rate=2.0)) == 0.0  # not due yet


def test_without_a_delay_nothing_changes():
    motion = PlaneMotion(1.0, 2.0, 0.3, 20.0, 0.4, 0.5)
    assert predict(motion, ahead=5.0, side=9.0, steer=0.1, delay=0.0) == motion
