"""From controls to what acts: limits, ABS near standstill, the flap, and which way each wheel points."""

import math

import numpy as np
import pytest
from helpers.work_blocks import Block
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.kernels import jit
from trailbrake.units import G
from trailbrake.world.row_layout import AxleRow, ControlRow, StateRow, WorkRow
from trailbrake.world.substep_inputs import ABS_MIN_SPEED, prepare_wheel


@jit
def _wheels(block):
    prepare_wheel(block, 0, 0, 1.0, 0, 0.001)
    prepare_wheel(block, 0, 1, -1.0, 0, 0.001)
    prepare_wheel(block, 1, 2, 1.0, 0, 0.001)
    prepare_wheel(block, 1, 3, -1.0, 0, 0.001)


def test_controls_are_held_within_their_ranges_and_nan_is_nothing(rig, roads):
    r = rig("gt3", roads.straight(), x=100.0)
    asked = {ControlRow.STEER: (-9.0, -1.0), ControlRow.THROTTLE: (math.nan, 0.0), ControlRow.BRAKE: (7.0, 1.0),
             ControlRow.CLUTCH: (-0.5, 0.0), ControlRow.HANDBRAKE: (math.inf, 1.0)}  # fmt: skip
    for row, (value, _) in asked.items():
        r.batch.set_row(row, value)
    r.batch.step(0.001, 3)
    applied = r.batch.get_row(StateRow.APPLIED_STEER, 5)[:, 0]
    assert applied.tolist() == [held for _, held in asked.values()]


@pytest.mark.parametrize("speed", [0.5 * ABS_MIN_SPEED, 5.0 * ABS_MIN_SPEED])
def test_abs_leaves_the_brakes_alone_at_walking_pace(rig, roads, speed):
    r = rig("gt3", roads.straight(), x=100.0)
    r.roll_at(speed, gear=0)
    least = 1.0
    while r.vx > 0.3 * speed:
        r.step(brake=1.0, gear=0)
        least = min(least, r.four("abs_factor").min())
    assert (least == 1.0) == (speed < ABS_MIN_SPEED)
    assert (r.four("spin").min() == 0.0) == (speed < ABS_MIN_SPEED)


def test_an_open_flap_takes_its_share_of_drag_and_rear_downforce(rig, roads):
    shut, opened = (rig("f1", roads.straight()) for _ in range(2))
    aero, body = shut.car.aero, shut.car.body
    assert aero.drs_drag > 0.0
    for r, flap in ((shut, 0.0), (opened, 1.0)):
        r.roll_at(60.0, gear=0)
        r.step(gear=0, drs=flap)
    speed = shut.vx
    less = 0.5 * aero.air_density * aero.drag_area * aero.drs_drag * speed**2 / body.mass
    assert opened.ax - shut.ax == pytest.approx(less, rel=0.02)  # a little of it goes into the wheels
    for r, flap in ((shut, 0.0), (opened, 1.0)):
        r.run(0.6, gear=0, drs=flap)
    # The springs have settled; both cars ride a little differently, which changes their downforce by a little.
    lost = 0.5 * aero.air_density * aero.lift_area_rear * aero.drs_lift_rear * speed**2
    rear = [r.four("load")[2:].sum() for r in (shut, opened)]
    assert rear[0] - rear[1] == pytest.approx(lost, rel=0.2)
    half = rig("f1", roads.straight())
    half.roll_at(60.0, gear=0)
    half.step(gear=0, drs=0.5)
    assert half.ax - opened.ax < 0.0


@pytest.mark.parametrize("steer", [0.2, -0.2])
def test_the_inner_wheel_turns_further(steer):
    """Wheels' angles by full Ackermann geometry: both axes meet on the line of the rear axle."""
    car = load_car("hatchback")
    front, rear = replace(car.suspension_front, toe=0.0), replace(car.suspension_rear, toe=0.0)
    car = replace(car, steering=replace(car.steering, ackermann=1.0), suspension_front=front, suspension_rear=rear)
    block = Block(car)
    block[StateRow.STEER] = steer
    _wheels(block.array)
    angles = steer + block.four(WorkRow.STEER_OFFSET)[:2]
    inner, outer = (0, 1) if steer > 0.0 else (1, 0)
    assert abs(angles[inner]) > abs(steer) > abs(angles[outer])
    middle = car.body.wheelbase / math.tan(steer)  # of the turning circle, to the left
    for i, y in ((0, 0.5 * car.body.track_front), (1, -0.5 * car.body.track_front)):
        assert angles[i] == pytest.approx(
            math.atan(car.body.wheelbase / (middle - y)), abs=0.002
        )  # a tenth of a degree
    assert block.four(WorkRow.STEER_OFFSET)[2:].tolist() == [0.0, 0.0]


def test_toe_in_points_the_wheels_inward():
    car = load_car("hatchback")
    block = Block(car)
    _wheels(block.array)
    turned = block.four(WorkRow.STEER_OFFSET)
    front, rear = car.suspension_front.toe, car.suspension_rear.toe
    assert turned == pytest.approx([-front, front, -rear, rear])  # about z, positive to the left


def test_a_car_that_toes_in_scrubs_and_runs_straight(rig, roads):
    r = rig("hatchback", roads.straight(), x=100.0)
    r.roll_at(30.0, gear=0)
    r.run(1.0, gear=0)
    fy = r.four("fy")
    assert abs(r.y) < 1e-6
    assert fy[0] < 0.0 < fy[1]  # the left wheel points to the right and pushes there
    assert fy[2] < 0.0 < fy[3]


def test_camber_leans_into_the_car_and_rolls_with_the_body():
    """ISO 8855 inclination, positive with the top to the right, and the force that it makes as a slip angle."""
    car = load_car("gt3")
    tyre, links = car.tyre_front, car.suspension_front
    block = Block(car)
    roll, hop = 0.01, 0.004
    block[StateRow.ROLL], block[StateRow.HOP] = roll, hop
    _wheels(block.array)
    bump = hop - 0.5 * car.body.track_front * roll  # the right side of the body is down, so its left is up
    left = -(links.camber + links.camber_gain * bump) + roll
    right = links.camber + links.camber_gain * 0.5 * car.body.track_front * roll + roll
    per = tyre.camber_thrust / math.tan(tyre.peak_slip_angle)
    assert block[WorkRow.CAMBER_SLIP] == pytest.approx(per * left)
    assert block[WorkRow.CAMBER_SLIP + 1] == pytest.approx(per * right)
    assert block[WorkRow.MU_Y] / block[AxleRow.MU_Y] == pytest.approx(-(1.0 - tyre.camber_loss * left**2))


def test_camber_thrust_moves_a_leaning_wheel_the_way_it_leans(rig, roads):
    car = load_car("hatchback")
    links = [replace(axle, toe=0.0) for axle in (car.suspension_front, car.suspension_rear)]
    r = rig(replace(car, suspension_front=links[0], suspension_rear=links[1]), roads.straight(), x=100.0)
    r.roll_at(20.0, gear=0)
    r.run(0.5, gear=0)
    fy, loads = r.four("fy"), r.four("load")
    assert fy[0] < 0.0 < fy[1]  # tops lean inward: the left wheel pushes to the right
    tyre = car.tyre_front
    stiffness = tyre.stiffness_factor * tyre.shape * tyre.mu_y / math.tan(tyre.peak_slip_angle)
    # As small slips go, to the few per cent by which friction and slip change with load.
    assert fy[1] == pytest.approx(-stiffness * loads[1] * tyre.camber_thrust * car.suspension_front.camber, rel=0.1)


def test_brake_bias_and_handbrake_reach_their_axles(rig, roads):
    car = load_car("hatchback")
    car = replace(car, brakes=replace(car.brakes, abs=False))
    r = rig(car, roads.straight(), x=100.0)
    r.roll_at(20.0, gear=0)
    r.run(0.4, gear=0, brake=0.2)
    fx = r.four("fx")
    torque = [0.2 * car.brakes.torque_front, 0.2 * car.brakes.torque_rear]
    for a, tyre in enumerate((car.tyre_front, car.tyre_rear)):
        rolling = tyre.rolling_resistance * r.four("load")[2 * a : 2 * a + 2].sum()
        turning = 2.0 * tyre.inertia * r.ax / tyre.radius**2
        assert fx[2 * a : 2 * a + 2].sum() == pytest.approx(-torque[a] / tyre.radius - rolling - turning, rel=0.01)
    r.run(0.5, gear=0, handbrake=1.0)
    assert r.four("spin")[:2].min() > 20.0
    assert r.four("spin")[2:].max() == 0.0


def test_the_rack_turns_at_its_rate(rig, roads):
    r = rig("gt3", roads.straight(), x=100.0)
    r.run(0.1, steer=1.0)
    steering = r.car.steering
    assert r.steer == pytest.approx(steering.max_rate * r.time, rel=1e-6)
    r.run(1.0, steer=1.0)
    assert r.steer == pytest.approx(steering.max_angle)
    assert np.all(np.isfinite(r.batch.get_row(0, StateRow.COUNT)))
    assert abs(r.ax) < 0.01 * G
