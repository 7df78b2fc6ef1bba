"""Recovery, with a car that is a kinematic bicycle with a gearbox, a slope and walls."""

import math

import pytest

from trailbrake.control.vehicle.manoeuvre_table import BACKWARD, FORWARD, CarShape, RoadStrip
from trailbrake.control.vehicle.recovery import (
    GIVE_UP_AFTER,
    HALF_WIDTH,
    MAX_DISTANCE,
    MAX_TURN_SPEED,
    MIN_SPEED,
    REQUEST_AFTER,
    REQUESTS,
    STUCK_TIME,
    CarOnRoad,
    RoadRecovery,
    RoadTrail,
)
from trailbrake.units import wrap_angle

DT = 0.02
SHAPE = CarShape()
STRIP = RoadStrip(4.0, 4.0, 9.0, 9.0)
PULL, DRAG, BRAKING = 4.0, 0.5, 8.0  # m/s^2, of full throttle, of the ground, of full brake
RADIUS = 50.0  # m, of a bend to the left round the origin


class SlowCar:
    """A car that drives as `RecoveryCommand`s say."""

    def __init__(self, offset, heading, speed=0.0, *, slope=0.0, gears=True, torques=False, blocked=()):
        self.offset, self.heading, self.velocity = offset, heading, speed
        self.slope, self.gears, self.torques, self.blocked = slope, gears, torques, blocked
        self.gear, self.shift_left, self.asked = 1, 0.0, 1

    def state(self, *, known=True):
        offset = self.offset + SHAPE.to_rear * math.sin(self.heading)
        return CarOnRoad(
            offset, self.heading, abs(self.velocity), self.velocity, gear=self.gear, strip=STRIP if known else None
        )

    def step(self, command):
        wanted = command.direction if self.gears else 1
        if wanted != self.asked:
            self.asked, self.shift_left = wanted, 0.3
        self.shift_left -= DT
        if self.shift_left <= 0.0:
            self.gear = self.asked
        pull = self.gear * PULL * command.throttle * (self.shift_left <= 0.0)
        if command.by_torque and not self.gears:
            pull = -PULL * command.throttle if self.torques else 0.0
        free = pull - self.slope * 9.81 * math.cos(self.heading)
        hold = DRAG + BRAKING * command.brake
        if abs(self.velocity) < hold * DT and abs(free) < hold:
            self.velocity = 0.0
        else:
            self.velocity += (free - math.copysign(hold, self.velocity or free)) * DT
        if (FORWARD if self.velocity > 0.0 else BACKWARD) in self.blocked:
            self.velocity = 0.0
        turn = SHAPE.max_curvature * command.steer
        there = self.offset + self.velocity * DT * math.sin(self.heading)
        turned = wrap_angle(self.heading + self.velocity * DT * turn)
        if self.wall_depth(there, turned) > max(self.wall_depth(self.offset, self.heading), 0.0):
            self.velocity = 0.0
        else:
            self.offset, self.heading = there, turned

    def wall_depth(self, offset, heading):
        corners = (
            offset + x * math.sin(heading) + y * math.cos(heading)
            for x in (SHAPE.nose, -SHAPE.tail)
            for y in (SHAPE.half_width, -SHAPE.half_width)
        )
        return max(max(corner - STRIP.left_wall, -STRIP.right_wall - corner) for corner in corners)


def bring_back(car, recovery=None, limit=40.0, known=True):
    """Return the s until the recovery gives the car back; infinite where it does not."""
    recovery = recovery or RoadRecovery(SHAPE)
    for tick in range(round(limit / DT)):
        command = recovery.compute_command(car.state(known=known), DT)
        if command is None:
            return tick * DT
        assert 0.0 <= command.throttle <= 1.0
        assert 0.0 <= command.brake <= 1.0
        assert not (command.throttle and command.brake)
        car.step(command)
    return math.inf


def test_a_car_on_its_way_is_left_alone():
    recovery = RoadRecovery(SHAPE)
    assert recovery.compute_command(CarOnRoad(1.0, 0.3, 30.0, 30.0, strip=STRIP), DT) is None
    assert recovery.compute_command(CarOnRoad(1.0, 0.3, 0.0, 0.0, strip=STRIP), DT) is None  # a short stop is no trap
    assert recovery.compute_command(CarOnRoad(6.0, 0.3, 20.0, 20.0, strip=STRIP), DT) is None  # its driver's business


def test_a_car_that_has_not_moved_yet_may_stand_on_the_road_for_ever():
    recovery, car = RoadRecovery(SHAPE), SlowCar(0.0, 0.1)
    assert all(recovery.compute_command(car.state(), DT) is None for _ in range(1000))


def test_a_driver_may_let_its_car_stand():
    recovery = RoadRecovery(SHAPE)
    recovery.compute_command(CarOnRoad(0.0, 0.0, 20.0, 20.0, strip=STRIP), DT)
    for _ in range(round(3.0 * STUCK_TIME / DT)):
        recovery.wait()
        assert recovery.compute_command(CarOnRoad(0.0, 0.0, 0.0, 0.0, strip=STRIP), DT) is None


@pytest.mark.parametrize("sideways", [3.0, -3.0])
def test_a_fast_car_facing_backwards_brakes_and_points_its_wheels_along_its_way(sideways):
    fast = 4.0 * MAX_TURN_SPEED
    command = RoadRecovery(SHAPE).compute_command(CarOnRoad(0.0, 3.0, fast, fast, sideways, strip=STRIP), DT)
    assert command.brake > 0.0
    assert command.throttle == 0.0
    assert command.steer * sideways > 0.0


@pytest.mark.parametrize("slope", [-0.1, 0.0, 0.1])
@pytest.mark.parametrize(("offset", "heading"), [(0.0, math.pi), (5.0, 1.5), (-5.0, -1.5), (6.0, -2.6), (3.5, 1.3)])
def test_it_brings_a_car_back_on_the_level_and_on_slopes(offset, heading, slope):
    assert 0.0 < bring_back(SlowCar(offset, heading, slope=slope)) < 25.0


def test_a_move_backwards_engages_the_gear_with_the_brake_on():
    recovery, car = RoadRecovery(SHAPE), SlowCar(5.0, math.pi / 2.0)
    command = recovery.compute_command(car.state(), DT)
    assert (command.direction, command.throttle) == (BACKWARD, 0.0)
    assert command.brake > 0.0
    assert recovery.compute_command(car.state()._replace(gear=-1), DT).throttle > 0.0


def test_a_stuck_car_on_the_road_is_freed_backwards():
    recovery, car = RoadRecovery(SHAPE), SlowCar(0.0, 0.2, blocked=(FORWARD,))
    recovery.compute_command(CarOnRoad(0.0, 0.0, 20.0, 20.0, strip=STRIP), DT)
    driven = 0.0
    for _ in range(round(5.0 / DT)):
        command = recovery.compute_command(car.state(), DT)
        if command is not None:
            car.step(command)
            driven += min(car.velocity, 0.0) * DT
        elif driven:
            break
    assert -4.0 < driven < -1.0


@pytest.mark.parametrize("blocked", [FORWARD, BACKWARD])
def test_a_hidden_obstacle_is_left_in_the_other_direction(blocked):
    """Until it has been left by some metres: then the obstacle is no longer there."""
    recovery, car = RoadRecovery(SHAPE), SlowCar(2.0, 2.2, blocked=(blocked,))
    for _ in range(round(6.0 / DT)):
        command = recovery.compute_command(car.state(), DT)
        if command is None:
            break
        car.step(command)
    car.blocked = ()
    assert bring_back(car, recovery) < 30.0


def test_a_car_without_reverse_is_driven_backwards_by_torques():
    car = SlowCar(5.0, 1.5, gears=False, torques=True)
    assert bring_back(car) < 25.0


def test_a_car_that_cannot_reverse_is_no_longer_made_to():
    recovery, car, directions = RoadRecovery(SHAPE), SlowCar(5.0, 1.5, gears=False), []
    for _ in range(round(15.0 / DT)):
        command = recovery.compute_command(car.state(), DT)
        directions.append(command.direction)
        car.step(command)
    assert directions[0] == BACKWARD
    assert set(directions[len(directions) // 2 :]) == {FORWARD}


def test_a_spinning_wheel_lets_the_throttle_fall():
    recovery, car = RoadRecovery(SHAPE), SlowCar(5.0, -2.0)
    car.velocity = 0.5
    free = [recovery.compute_command(car.state(), DT).throttle for _ in range(50)]
    spinning = [recovery.compute_command(car.state()._replace(slide=5.0), DT).throttle for _ in range(50)]
    assert free[-1] > free[0]
    assert spinning[-1] < 0.5 * free[-1]


def test_a_car_that_cannot_move_is_placed_by_the_simulator_and_in_the_end_given_up():
    recovery, car = RoadRecovery(SHAPE), SlowCar(5.0, 1.5, blocked=(FORWARD, BACKWARD))
    requests, tick = [], 0
    while not recovery.has_failed:
        command = recovery.compute_command(car.state(), DT)
        if command.request:
            requests.append((command.request, tick * DT))
        car.step(command)
        tick += 1
    assert [name for name, _ in requests] == list(REQUESTS)
    assert requests[0][1] == pytest.approx(REQUEST_AFTER, abs=0.1)
    assert tick * DT == pytest.approx(GIVE_UP_AFTER, abs=0.1)


def test_what_was_tried_is_forgotten_after_some_way_on_the_road():
    recovery, car = RoadRecovery(SHAPE), SlowCar(0.0, math.pi)
    bring_back(car, recovery)
    assert recovery.has_trouble
    for _ in range(round(4.0 / DT)):
        assert recovery.compute_command(CarOnRoad(0.0, 0.0, 10.0, 10.0, strip=STRIP), DT) is None
    assert not recovery.has_trouble


def test_without_a_road_it_frees_a_stuck_car_only():
    recovery, car = RoadRecovery(SHAPE), SlowCar(0.0, 2.0, speed=8.0)
    assert recovery.compute_command(car.state(known=False), DT) is None
    car.velocity = 0.0
    for _ in range(round(STUCK_TIME / DT) - 1):
        assert recovery.compute_command(car.state(known=False), DT) is None
    for _ in range(3):
        command = recovery.compute_command(car.state(known=False), DT)
    assert command.direction == BACKWARD
    assert bring_back(car, recovery, known=False) < 10.0


def drive_bend(trail, place=0.5):
    """Drive a quarter of the bend, `place` half roads left of its middle."""
    for k in range(90):
        turn = math.radians(k)
        away = RADIUS - place * HALF_WIDTH
        trail.add_place(away * math.cos(turn), away * math.sin(turn), turn + math.pi / 2.0, (12.0, 0.0), place)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_place_beside_the_road_is_measured_from_its_middle(side):
    trail = RoadTrail()
    drive_bend(trail)
    away = RADIUS - side * 7.0
    turn = math.radians(40.0)
    offset, direction = trail.locate(away * math.cos(turn), away * math.sin(turn))
    assert offset == pytest.approx(side * 7.0, abs=0.2)
    assert direction == pytest.approx(turn + math.pi / 2.0, abs=0.05)


@pytest.mark.parametrize(
    ("velocity", "place"),
    [((0.5 * MIN_SPEED, 0.0), 0.0), ((-10.0, 0.0), 0.0), ((10.0, 6.0), 0.0), ((10.0, 0.0), 1.0),
     ((10.0, 0.0), math.nan), ((math.nan, math.nan), 0.0)],
    ids=["slow", "backwards", "sliding", "off the road", "no line", "no velocity"],
)  # fmt: skip
def test_a_car_that_does_not_follow_the_road_leaves_no_trail(velocity, place):
    trail = RoadTrail()
    trail.add_place(0.0, 0.0, 0.0, velocity, place)
    assert trail.locate(0.0, 0.0) is None


def test_far_from_the_trail_nothing_is_known_and_another_place_begins_another():
    trail = RoadTrail()
    drive_bend(trail)
    far = RADIUS + MAX_DISTANCE + 10.0
    assert trail.locate(far, 0.0) is None
    trail.add_place(10.0 * far, 0.0, 1.0, (12.0, 0.0), 0.0)
    assert trail.locate(RADIUS, 0.0) is None
    assert trail.locate(10.0 * far, 0.0)[1] == pytest.approx(1.0)


def test_a_copy_is_another_trail():
    trail = RoadTrail()
    other = trail.copy()
    drive_bend(trail)
    assert other.locate(RADIUS, 0.0) is None
