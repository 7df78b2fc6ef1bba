"""What follows from the values of a car file, against rigs made by hand."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.chassis import Scanner
from trailbrake.cars.drivetrain import Differential, interpolate
from trailbrake.cars.load import load, names
from trailbrake.cars.tyre_params import LEAST_THERMAL, Thermal


def axle_moment(links, tyre, track, angle):
    """Return the moment (N m) that rolls an axle by `angle`: force balance of wheel and tyre, solved for its travel.

    Left side up by a = angle * track / 2. Per wheel: the spring's travel t and the tyre's deflection add up to a,
    spring and bar pull on the wheel what the tyre gives.
    """
    a = 0.5 * track * math.tan(angle)
    # Unknowns: travel left, travel right. Spring k t_l + bar (t_l - t_r) = tyre (a - t_l); right side: -a.
    k, b, c = links.spring_rate, links.anti_roll_rate, tyre.vertical_stiffness
    left, right = np.linalg.solve([[k + b + c, -b], [-b, k + b + c]], [c * a, -c * a])
    return 0.5 * track * (c * (a - left) - c * (-a - right))


@pytest.mark.parametrize("name", names())
def test_roll_stiffness_is_the_moment_that_rolls_an_axle(name):
    car = load(name)
    small = 1e-5
    front = axle_moment(car.suspension_front, car.tyre_front, car.body.track_front, small) / small
    rear = axle_moment(car.suspension_rear, car.tyre_rear, car.body.track_rear, small) / small
    assert car.roll_stiffness_front == pytest.approx(front, rel=1e-6)
    assert car.roll_stiffness_rear == pytest.approx(rear, rel=1e-6)
    assert car.roll_stiffness_front_share == pytest.approx(front / (front + rear))


@pytest.mark.parametrize(("name", "share"), [("gt3", 0.54), ("hatchback", 0.58)])
def test_the_balance_is_what_the_springs_were_chosen_for(name, share):
    assert load(name).roll_stiffness_front_share == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize("name", names())
def test_sprung_and_unsprung_make_the_whole(name):
    car = load(name)
    body = car.body
    points = [
        (links.unsprung_mass, x, y, tyre.radius - body.cg_height)
        for links, tyre, x, track in (
            (car.suspension_front, car.tyre_front, body.cg_to_front, body.track_front),
            (car.suspension_rear, car.tyre_rear, -body.cg_to_rear, body.track_rear),
        )
        for y in (0.5 * track, -0.5 * track)
    ]
    tensor = sum(m * (np.dot(r, r) * np.eye(3) - np.outer(r, r)) for m, *xyz in points for r in [np.array(xyz)])
    assert car.unsprung_inertia == pytest.approx(np.diag(tensor))
    assert car.sprung_mass + sum(p[0] for p in points) == pytest.approx(body.mass)


def test_the_scanner_sits_at_the_front_axle_unless_the_file_says_where():
    car = load("gt3")
    assert car.scanner_mount == (car.body.cg_to_front, 0.0, 0.0)
    assert replace(car, scanner=Scanner(x=0.2, y=-0.1, yaw=0.3)).scanner_mount == (0.2, -0.1, 0.3)
    assert replace(car, scanner=Scanner(x=0.0)).scanner_mount == (0.0, 0.0, 0.0)


def test_grip_by_temperature_and_wear():
    heat = Thermal(
        optimal_temperature=90.0, start_temperature=60.0, grip_loss=1e-4, heat_capacity=8e3, cooling=20.0,
        cooling_speed=1.0, wear_per_joule=1e-8, wear_loss=0.1,
    )  # fmt: skip
    assert heat.grip(90.0) == 1.0
    assert heat.grip(80.0) == heat.grip(100.0) == pytest.approx(0.99)
    assert heat.grip(-20.0) == LEAST_THERMAL
    assert heat.grip(90.0, wear=1.0) == pytest.approx(0.9)


@pytest.mark.parametrize("name", names())
def test_tyres_with_heat_settle_in_their_window_and_last_a_stint(name):
    car = load(name)
    for tyre in (car.tyre_front, car.tyre_rear):
        if tyre.thermal is None:
            continue
        heat = tyre.thermal
        assert heat.grip(heat.start_temperature) > 0.95
        # Of a quarter of the car's weight at the limit half of the time, sliding at a twentieth of 40 m/s or less.
        work = 0.5 * tyre.mu_y * car.body.mass * 9.81 / 4.0 * 0.05 * 40.0
        rise = work / (heat.cooling + heat.cooling_speed * 40.0)
        assert 10.0 < rise < 150.0
        assert 600.0 < 1.0 / (work * heat.wear_per_joule) < 20000.0  # s


def test_which_differentials_are_open_and_rigid():
    kinds = {kind: Differential(kind=kind).rigid for kind in ("open", "lsd", "locked", "spool")}
    assert kinds == {"open": False, "lsd": False, "locked": True, "spool": True}
    assert (load("hatchback").drive.open_front, load("hatchback").drive.open_rear) == (True, False)
    assert (load("gt3").drive.open_front, load("gt3").drive.open_rear) == (False, False)


def test_interpolation_holds_its_ends():
    xs, ys = (1.0, 2.0, 4.0), (10.0, 20.0, 0.0)
    assert [interpolate(x, xs, ys) for x in (0.0, 1.0, 1.5, 3.0, 4.0, 9.0)] == [10.0, 10.0, 15.0, 10.0, 0.0, 0.0]
