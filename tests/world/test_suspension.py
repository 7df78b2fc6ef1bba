"""Springs, stops, tyres and wheels' loads against closed forms."""

import math

import numpy as np
import pytest
from helpers.work_blocks import Block
from msgspec.structs import replace

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.kernels import jit
from trailbrake.units import G
from trailbrake.world.row_layout import AxleRow, StateRow, WorkRow
from trailbrake.world.substep_inputs import prepare_wheel
from trailbrake.world.suspension import compute_spring_forces


@jit
def _press(block, a, i, side):
    prepare_wheel(block, a, i, side, 0, 0.001)  # gives the tyre's ground
    compute_spring_forces(block, a, i, side, 0)


@pytest.mark.parametrize("name", car_names())
def test_a_car_at_rest_stands_level_with_its_weight_on_the_wheels(rig, roads, name):
    r = rig(name, roads.straight(), x=100.0)
    r.run(2.0)
    body = r.car.body
    front = 0.5 * body.mass * G * body.front_share
    rear = 0.5 * body.mass * G * (1.0 - body.front_share)
    assert r.four("load") == pytest.approx([front, front, rear, rear], rel=1e-9)
    assert (r.heave, r.pitch, r.roll) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_springs_dampers_and_stops(side):
    car = load_car("hatchback")
    links = car.suspension_rear
    block = Block(car)
    static = car.body.mass * G * 0.5 * (1.0 - car.body.front_share) - links.unsprung_mass * G
    i = 2 if side > 0.0 else 3
    for bump in (-0.12, -links.droop_travel, -0.03, 0.0, 0.05, links.bump_travel, 0.11):
        block[StateRow.HOP + i] = bump
        _press(block.array, 1, i, side)
        beyond = max(bump - links.bump_travel, 0.0) + min(bump + links.droop_travel, 0.0)
        expected = static + links.spring_rate * bump + links.bump_stop_rate * beyond
        assert block[WorkRow.SUSPENSION_FORCE + i] == pytest.approx(expected)
    block[StateRow.HOP + i] = 0.0
    for speed, rate in ((0.2, links.bump_damping), (-0.2, links.rebound_damping)):
        block[StateRow.HOP_RATE + i] = speed
        _press(block.array, 1, i, side)
        assert block[WorkRow.SUSPENSION_FORCE + i] == pytest.approx(static + rate * speed)
    block[StateRow.HOP_RATE + i] = 0.0
    block[WorkRow.ROLL_HEAVE + 1] = 0.01  # rolled: the left side of the body is higher, so its spring is longer
    _press(block.array, 1, i, side)
    assert block[WorkRow.SUSPENSION_FORCE + i] == pytest.approx(static - side * links.spring_rate * 0.01)


def test_a_tyre_pushes_and_never_pulls():
    car = load_car("gt3")
    block = Block(car)
    rest = 0.5 * car.body.mass * G * car.body.front_share
    for hop, bump in ((0.0, 0.0), (0.002, 0.0), (0.0, 0.004), (0.009, 0.0), (0.05, 0.01), (0.05, 0.1)):
        block[StateRow.HOP], block[StateRow.GROUND_HEIGHT] = hop, bump
        _press(block.array, 0, 0, 1.0)
        expected = max(rest + car.tyre_front.vertical_stiffness * (bump - hop), 0.0)
        assert block[StateRow.LOAD] == pytest.approx(expected)


def undamped(car):
    """Return `car` with equal axles, without dampers: heave, pitch and roll then do not know of each other."""
    body = replace(car.body, cg_to_front=0.5 * car.body.wheelbase, track_rear=car.body.track_front)
    tyre = replace(car.tyre_front, vertical_damping=0.0)
    small = 1e-9
    links = replace(car.suspension_front, bump_damping=small, rebound_damping=small, bump_travel=1.0, droop_travel=1.0)
    return replace(car, body=body, suspension_front=links, suspension_rear=links, tyre_front=tyre, tyre_rear=tyre)


@pytest.mark.parametrize("name", ["gt3", "hatchback"])
def test_a_corner_swings_at_its_natural_frequencies(rig, roads, name):
    """Two masses on two springs: sprung quarter over wheel over tyre, from the eigenvalues of that system."""
    car = undamped(load_car(name))
    sprung, wheel = 0.25 * car.sprung_mass, car.suspension_front.unsprung_mass
    spring, tyre = car.suspension_front.spring_rate, car.tyre_front.vertical_stiffness
    squares, shapes = np.linalg.eig(
        np.array([[spring / sprung, -spring / sprung], [-spring / wheel, (spring + tyre) / wheel]])
    )
    ride = math.sqrt(spring * tyre / (spring + tyre) / sprung)  # as one spring
    assert math.sqrt(squares.min()) == pytest.approx(ride, rel=0.03)
    for k in range(2):
        omega, shape = math.sqrt(squares[k]), shapes[:, k] / np.abs(shapes[:, k]).max() * 0.004
        r = rig(car, roads.straight(), x=100.0)
        dt, steps = 0.0002, 0
        r.set("heave", shape[0])
        for i in range(4):
            r.batch.set_row(StateRow.HOP + i, shape[1])
        # Half a step back in speed: semi-implicit Euler is the leapfrog with speeds at half steps.
        r.set("heave_rate", 0.5 * dt * squares[k] * shape[0])
        for i in range(4):
            r.batch.set_row(StateRow.HOP_RATE + i, 0.5 * dt * squares[k] * shape[1])
        errors = []
        while steps * dt < 4.0 * math.pi / omega:  # two swings
            r.batch.step(dt, 5)
            steps += 5
            now = math.cos(omega * dt * steps)
            errors += [abs(r.heave - now * shape[0]), abs(r.four("hop")[2] - now * shape[1])]
        assert max(errors) < 0.01 * 0.004
        assert (r.roll, r.pitch) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_car_in_the_air_falls_and_lands(rig, roads):
    r = rig("gt3", roads.straight(), x=100.0)
    up, car = 0.4, r.car
    r.set("heave", up)
    for i in range(4):
        r.batch.set_row(StateRow.HOP + i, up)
    for _ in range(66):
        r.step()
        if r.time < 0.15:
            assert np.all(r.four("load") == 0.0)
            assert np.all(r.four("fx") == 0.0)
            wheels = 2.0 * (car.suspension_front.unsprung_mass * r.four("hop")[:2].mean())
            wheels += 2.0 * (car.suspension_rear.unsprung_mass * r.four("hop")[2:].mean())
            height = (car.sprung_mass * r.heave + wheels) / car.body.mass
            assert height == pytest.approx(up - 0.5 * G * r.time**2, abs=0.005)
    r.run(4.0)
    assert r.four("load").sum() == pytest.approx(car.body.mass * G, rel=1e-6)
    assert (r.heave, r.roll, r.pitch) == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)


def test_droop_and_bump_stops_hold_the_wheels(rig, roads):
    """In the air a wheel hangs: what it weighs, and no more, stretches spring and droop stop."""
    r = rig("gt3", roads.straight(), x=100.0)
    r.set("heave", 8.0)
    for i in range(4):
        r.batch.set_row(StateRow.HOP + i, 8.0)
    r.run(0.9)  # falls for 1.2 s
    for i, axle in ((0, r.car.suspension_front), (2, r.car.suspension_rear)):
        force = -r.batch.get_param(AxleRow.SPRING_AT_REST + i // 2)[0]  # free fall: the spring carries nothing
        free = force / axle.spring_rate
        if free < -axle.droop_travel:
            beyond = (force + axle.spring_rate * axle.droop_travel) / (axle.spring_rate + axle.bump_stop_rate)
            free = -axle.droop_travel + beyond
        travel = r.four("hop")[i] - r.heave + r.car.body.cg_to_front * r.pitch * (1.0 if i == 0 else 0.0)
        travel -= r.car.body.cg_to_rear * r.pitch * (0.0 if i == 0 else 1.0)
        assert travel == pytest.approx(free, rel=0.02)
