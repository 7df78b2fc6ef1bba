"""The law that holds a plan: signs, limits, and agreement with the parts of `line_follow` that it compiles."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.drivetrain import DrivetrainInverse, choose_gear, upshift_speeds
from trailbrake.control.vehicle.line_tracking import (
    DEFAULT_GAINS,
    SPEED_BELOW,
    PlanColumn,
    TrackedMotion,
    TrackingAim,
    TrackingCommand,
    TrackingGain,
    TrackingPlan,
    track_line,
    tracked_car,
)
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import RPM

CAR = load_car("gt3")
NUMBERS = tracked_car(CAR)._replace(drag=0.0)
SPEED = 40.0
UNKNOWN_WHEELS = (math.nan,) * 4
DRIVE_LIMITS = (2.0, 4.0, 3.0, 1.0)  # m/s^2, at the plan's speed, SPEED_BELOW below it, at half of that and at rest


def straight_plan():
    x = np.arange(0.0, 400.0, 1.0)
    zero = np.zeros_like(x)
    road = Road.from_columns(
        1.0, False, x, zero, zero, zero, z=zero, grade=zero, bank=zero, width_left=zero + 6.0, width_right=zero + 6.0,
        runoff_left=zero + 6.0, runoff_right=zero + 6.0, grip=zero + 1.0,
    )  # fmt: skip
    table = np.zeros((len(x), len(PlanColumn)))
    table[:, PlanColumn.SPEED] = SPEED
    table[:, PlanColumn.DRIVE_LIMIT], table[:, PlanColumn.BRAKE_LIMIT] = DRIVE_LIMITS[0], 14.0
    limits = PlanColumn.DRIVE_LIMIT_BELOW, PlanColumn.DRIVE_LIMIT_HALF, PlanColumn.LAUNCH_LIMIT
    table[:, limits] = DRIVE_LIMITS[1:]
    return TrackingPlan(RoadTable(road.table, road.spacing, False), table)


def track(y=0.0, yaw=0.0, speed=SPEED, *, gear=3, share=1.0, gains=DEFAULT_GAINS, plan=None, **more):
    known = {"aside": 0.0, "yaw_rate": 0.0, "engine_speed": math.nan, "wheel_speeds": UNKNOWN_WHEELS} | more
    motion = TrackedMotion(x=200.0, y=y, yaw=yaw, forward=speed, gear=gear, **known)
    held = straight_plan() if plan is None else plan
    return TrackingCommand(*track_line(held, NUMBERS, motion, np.array(gains), TrackingAim(-1, share, 0.0)))


def test_left_of_the_line_or_turned_left_it_steers_right():
    assert track().steer == pytest.approx(0.0, abs=1e-12)
    assert track(y=0.5).steer < -0.01
    assert track(y=-0.5).steer > 0.01
    assert track(yaw=0.05).steer < 0.0 < track(yaw=-0.05).steer
    assert track(yaw_rate=0.2).steer < 0.0 < track(yaw_rate=-0.2).steer


def test_what_laps_have_learned_is_added_to_the_plan_and_says_what_is_left_to_learn():
    """A sideslip of 0.02 rad that the plan lacks turns the car to the right of its way: it is steered left."""
    plan = straight_plan()
    assert track(yaw=-0.02, aside=SPEED * math.tan(0.02)).steer_feedback > 0.03
    assert track(yaw=-0.02, aside=SPEED * math.tan(0.02)).sideslip_error == pytest.approx(0.02)
    plan.table[:, PlanColumn.LEARNED_SIDESLIP] = 0.02
    learned = track(yaw=-0.02, aside=SPEED * math.tan(0.02), plan=plan)
    assert (learned.steer_feedback, learned.sideslip_error) == pytest.approx((0.0, 0.0), abs=1e-12)
    plan.table[:, PlanColumn.LEARNED_SIDESLIP] = 0.0
    plan.table[:, PlanColumn.LEARNED_STEER] = 0.01
    assert track(plan=plan).steer == pytest.approx(0.01)
    assert track(plan=plan).steer_feedback == pytest.approx(0.0, abs=1e-12)


def test_it_holds_the_place_beside_the_line_that_the_plan_says():
    plan = straight_plan()
    plan.table[:, PlanColumn.OFFSET] = 0.3
    assert track(y=0.3, plan=plan).steer == pytest.approx(0.0, abs=1e-12)
    assert track(plan=plan).steer > 0.0


def test_it_says_where_the_car_is():
    command = track(y=0.5)
    assert (command.s, command.offset, command.row) == pytest.approx((200.0, 0.5, 200))


def test_the_front_wheels_are_not_steered_beyond_their_peak():
    peak = DEFAULT_GAINS[TrackingGain.FRONT_SLIP] * NUMBERS.peak_angles[0]
    command = track(y=-20.0)
    assert command.steer == pytest.approx(peak)
    assert command.steer_cut == pytest.approx(20.0 * DEFAULT_GAINS[TrackingGain.STEER] - peak)
    assert track(y=-0.1).steer_cut == 0.0


@pytest.mark.parametrize(("speed", "pedal"), [(SPEED - 5.0, "throttle"), (SPEED + 5.0, "brake")])
def test_it_uses_the_pedal_that_brings_the_speed_back(speed, pedal):
    command = track(speed=speed)
    other = "brake" if pedal == "throttle" else "throttle"
    assert getattr(command, pedal) > 0.2
    # The throttle balances the engine's drag under braking.
    assert getattr(command, other) <= (0.0 if pedal == "throttle" else 0.3)
    assert command.speed_error == pytest.approx(SPEED - speed)


def test_the_pedals_are_those_of_the_drivetrain_s_inverse():
    speed = SPEED - 0.5
    force = NUMBERS.masses[3] * DEFAULT_GAINS[TrackingGain.SPEED] * 0.5
    expected = DrivetrainInverse(CAR).pedals_for_force(force, speed, 3)
    found = track(speed=speed)
    # Curves of an engine by 64 points instead of those of the file.
    assert (found.throttle, found.brake) == pytest.approx(expected, abs=0.01)


def test_the_pedal_makes_up_for_what_anti_lock_brakes_release():
    plan = straight_plan()
    plain = track(speed=SPEED + 1.0, plan=plan)
    plan.table[:, PlanColumn.BRAKE_RELEASED] = 0.2
    assert track(speed=SPEED + 1.0, plan=plan).brake == pytest.approx(plain.brake / 0.8)
    plan.table[:, PlanColumn.BRAKE_RELEASED] = 0.99
    assert track(speed=SPEED + 1.0, plan=plan).brake == 1.0


@pytest.mark.parametrize(
    ("slower", "limit"),
    [
        (1.5, 3.0),
        (SPEED_BELOW, 4.0),
        (0.3 * (SPEED - SPEED_BELOW) + SPEED_BELOW, 3.0 + (4.0 * 0.7**2 - 1.0) / 3.0),
        (0.5 * (SPEED - SPEED_BELOW) + SPEED_BELOW, 3.0),
        (SPEED - 2.0, 1.0 + 2.0 * (4.0 / (SPEED - SPEED_BELOW)) ** 2),
    ],
)
def test_the_tyres_have_more_left_a_little_below_the_plan_and_less_at_rest(slower, limit):
    speed, gear = SPEED - slower, 3 if slower < 10.0 else 1
    force = NUMBERS.masses[gear] * limit
    expected = DrivetrainInverse(CAR).pedals_for_force(force, speed, gear)
    assert 0.05 < expected[0] < 1.0
    assert track(speed=speed, gear=gear).throttle == pytest.approx(expected[0], abs=0.01)


def test_a_car_far_below_the_plan_is_not_driven_against_the_air_at_the_plan_s_speed():
    """At the start it spun the wheels: a third more than the tyres of a Formula 1 car carry."""
    plan, car = straight_plan(), tracked_car(CAR)
    plan.table[:, PlanColumn.RESISTANCE] = car.drag * SPEED**2
    for speed, gear, felt in ((SPEED - 0.5 * SPEED_BELOW, 3, SPEED), (2.0, 1, 2.0 + SPEED_BELOW)):
        motion = TrackedMotion(200.0, 0.0, 0.0, speed, 0.0, 0.0, math.nan, UNKNOWN_WHEELS, gear)
        found = TrackingCommand(*track_line(plan, car, motion, np.array(DEFAULT_GAINS), TrackingAim(-1, 1.0, 0.0)))
        engine_speed = max(CAR.engine_speed(speed, gear), CAR.engine.idle_rpm * RPM)
        full, drag = DrivetrainInverse(CAR).engine_torques(engine_speed)
        torque = (found.throttle - track(speed=speed, gear=gear).throttle) * (full + drag)
        force = torque * CAR.gearbox.overall_ratio(gear) * CAR.gearbox.efficiency / CAR.driven_radius
        assert force == pytest.approx(car.drag * felt**2, rel=0.02)


def test_the_throttle_is_open_where_the_engine_limits_the_plan():
    limited = straight_plan()
    limited.table[:, PlanColumn.ENGINE_LIMITED] = 1.0
    limited.table[:, PlanColumn.DRIVE_LIMIT] = limited.table[:, PlanColumn.DRIVE_LIMIT_BELOW] = 20.0
    assert [track(speed=SPEED + faster, plan=limited).throttle for faster in (-0.1, 1.9)] == [1.0, 1.0]
    assert track(speed=SPEED).throttle < 0.4
    assert track(speed=SPEED + 4.0, plan=limited).brake == track(speed=SPEED + 4.0).brake > 0.05


def left_bend(width_right, kerb_right=0.0):
    plan = straight_plan()
    plan.line.table[:, RoadColumn.CURVATURE] = 1e-3
    plan.line.table[:, RoadColumn.WIDTH_RIGHT], plan.line.table[:, RoadColumn.KERB_RIGHT] = width_right, kerb_right
    return plan


def test_the_throttle_is_lifted_where_the_outer_wheels_run_out_of_road_and_nowhere_else():
    width = 1.0 + NUMBERS.half_tracks[0]  # 1 m for the outer wheels
    slow, lead = SPEED - 5.0, DEFAULT_GAINS[TrackingGain.LIFT_LEAD]
    full = track(speed=slow).throttle
    throttles = [track(y=y, speed=slow, plan=left_bend(width)).throttle for y in (1.5, 0.0, -0.9, -1.2, -1.5)]
    assert throttles[:3] == pytest.approx([full] * 3)
    assert full > throttles[3] > throttles[4]
    assert throttles[4] < 0.2  # against the engine's drag
    assert track(y=-1.5, speed=slow, plan=left_bend(width, kerb_right=1.0)).throttle == pytest.approx(full)
    drifting = {"y": -0.5, "yaw": -0.8 / (lead * slow)}  # 0.8 m further out in the time that is looked ahead
    assert track(speed=slow, plan=left_bend(width), **drifting).throttle < full
    assert track(y=-0.15, speed=slow, plan=left_bend(0.5)).throttle == pytest.approx(
        full
    )  # it may always drift a little


def test_a_share_of_the_speed_brakes():
    assert track(share=0.5).brake > 0.2


@pytest.mark.parametrize(("faster", "slip", "brakes"), [(1.5, 1.1, False), (5.0, 1.1, True), (5.0, 1.5, False)])
def test_a_rear_axle_beyond_its_peak_gets_no_pedals_but_brakes_where_the_car_is_far_too_fast(faster, slip, brakes):
    """A car that met a wet bend 20 m/s too fast slid over its edge without brakes."""
    speed = SPEED + faster
    command = track(speed=speed, aside=-math.tan(slip * NUMBERS.peak_angles[1]) * speed)
    assert (command.brake > 0.3) == brakes
    assert track(speed=SPEED - 5.0, aside=-math.tan(1.1 * NUMBERS.peak_angles[1]) * SPEED).throttle < 0.3


def test_a_slow_car_outside_of_its_room_drives_back():
    """Without drive it rolled out beside the road for 9 s, until the driver called it stuck."""
    assert track(y=-5.0, speed=0.9 * SPEED, plan=left_bend(1.0)).throttle < 0.2
    assert track(y=-5.0, speed=0.3 * SPEED, plan=left_bend(1.0)).throttle > 0.3


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(("rear", "share"), [(0.9, 1.0), (1.3, 0.5), (2.0, 0.0)])
def test_a_sliding_rear_is_not_turned_further_in_and_countersteering_stays_free(rear, share, side):
    """In a left bend the rear slides to the right: the front keeps `share` of its slip to the left."""
    rate, peak = 0.4, DEFAULT_GAINS[TrackingGain.FRONT_SLIP] * NUMBERS.peak_angles[0]
    aside = NUMBERS.to_rear * rate - SPEED * math.tan(rear * NUMBERS.peak_angles[1])
    flow = math.atan2(aside + NUMBERS.to_front * rate, SPEED)
    moving = {"aside": side * aside, "yaw_rate": side * rate}
    inward, outward = (track(y=-side * offset, yaw=-0.2 * side * flow, **moving).steer for offset in (20.0, -20.0))
    assert side * inward == pytest.approx(flow + share * peak)
    assert side * outward == pytest.approx(flow - peak)


@pytest.mark.parametrize(("faster", "urgency"), [(1.9, 0.0), (3.0, 0.5), (4.5, 1.0)])
def test_a_low_estimate_of_the_grip_does_not_hold_back_the_brakes_of_a_car_that_is_far_too_fast(faster, urgency):
    plan = straight_plan()
    plan.table[:, PlanColumn.BRAKE_LIMIT] = limit = 4.0
    most = NUMBERS.urgent_braking
    expected = min(limit + urgency * (most - limit), DEFAULT_GAINS[TrackingGain.SPEED] * faster)
    brake = track(speed=SPEED + faster, plan=plan).brake
    assert brake == pytest.approx(expected * NUMBERS.masses[3] / NUMBERS.brake_force, rel=1e-6)


def test_a_spinning_wheel_gets_no_throttle_and_a_locked_one_no_brake():
    rolling = SPEED / NUMBERS.radii[1]
    slow, fast = SPEED - 5.0, SPEED + 5.0
    assert track(speed=slow, wheel_speeds=(rolling, rolling, 2.0 * rolling, rolling)).throttle == 0.0
    assert track(speed=fast, wheel_speeds=(0.0, rolling, rolling, rolling)).brake == 0.0


@pytest.mark.parametrize("gear", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("speed", [2.0, 20.0, 45.0, 70.0])
def test_the_gear_is_that_of_the_gear_choice(speed, gear):
    assert track(speed=speed, gear=gear).gear == choose_gear(speed, gear, upshift_speeds(CAR))
