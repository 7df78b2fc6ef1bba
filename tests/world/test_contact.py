"""Walls and other cars: momentum, energy, and nobody where somebody else is."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.kernels.thread_team import Team
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.world.batch import Batch
from trailbrake.world.contact import RESTITUTION, collide_cars
from trailbrake.world.row_layout import ControlRow, StateRow


def corners(r):
    """Offsets (m, left) of the box's corners on a straight road along x."""
    body = r.car.body
    centre = 0.5 * (body.cg_to_front - body.cg_to_rear)
    return [
        r.y + (centre + dx) * math.sin(r.yaw) + dy * math.cos(r.yaw)
        for dx in (0.5 * body.length, -0.5 * body.length)
        for dy in (0.5 * body.width, -0.5 * body.width)
    ]


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("angle", "speed"), [(0.1, 50.0), (0.5, 30.0), (1.5, 20.0)])
def test_a_wall_keeps_the_car_in_and_counts_one_contact_a_hit(rig, roads, side, angle, speed):
    r = rig("gt3", roads.straight(half_width=6.0, runoff=4.0), x=500.0, yaw=side * angle)
    r.roll_at(speed)
    before = 0.5 * r.car.body.mass * speed**2
    deepest = 0.0
    while r.contacts == 0.0 and r.time < 5.0:
        r.step(gear=0)
        deepest = max(deepest, r.contact_depth)
    assert r.contacts == 1.0
    assert deepest > 0.0
    for _ in range(60):  # within the episode
        r.step(gear=0)
        assert max(abs(c) for c in corners(r)) < 10.0 + 0.12
        assert 0.5 * r.car.body.mass * (r.vx**2 + r.vy**2) < before
    assert r.contacts == 1.0


def test_scraping_along_is_one_contact_and_a_second_hit_another(rig, roads):
    r = rig("hatchback", roads.straight(half_width=3.0, runoff=0.0), x=100.0, yaw=0.03)
    r.roll_at(20.0)
    r.run(2.5, steer=0.15, throttle=0.3)
    assert r.contacts == 1.0
    for _ in range(2000):
        r.step(steer=-0.3 if r.yaw > -0.3 else 0.0, throttle=0.5)
        if r.contacts > 1.0:
            break
    assert r.contacts == 2.0
    assert r.y < 0.0  # the other wall


@pytest.mark.parametrize("name", ["hartmoor", "pinegrove"])
def test_a_look_finds_every_corner_that_is_in_a_wall(name):
    """Against corners that are located one by one, around walls as they are on a road with bends and narrow places."""
    track, car, random = load_track(name), load_car("gt3"), np.random.default_rng(8)
    road, n = track.road, 800
    batch = Batch(track, [car], n)
    s, side = random.uniform(0.0, road.length, n), random.choice([-1.0, 1.0], n)
    sides = (RoadColumn.WIDTH_LEFT, RoadColumn.RUNOFF_LEFT), (RoadColumn.WIDTH_RIGHT, RoadColumn.RUNOFF_RIGHT)
    where = [[at(road, k, *columns) for columns in sides] for k in s]
    wall = np.where(side > 0.0, *np.array(where).T)
    places = road.points(s, side * (wall - random.uniform(0.0, 4.0, n)))
    yaw = places[:, 3] + random.uniform(-math.pi, math.pi, n)
    batch.place_cars(np.arange(n), places[:, 0], places[:, 1], yaw)
    body = car.body
    centre, found = 0.5 * (body.cg_to_front - body.cg_to_rear), batch.get_row(StateRow.CONTACT_DEPTH)
    struck = 0
    for k in range(n):
        depths = []
        for bx in (centre + 0.5 * body.length, centre - 0.5 * body.length):
            for by in (0.5 * body.width, -0.5 * body.width):
                x = places[k, 0] + bx * math.cos(yaw[k]) - by * math.sin(yaw[k])
                y = places[k, 1] + bx * math.sin(yaw[k]) + by * math.cos(yaw[k])
                along, offset, _ = road.locate(x, y)
                columns = (RoadColumn.WIDTH_LEFT, RoadColumn.RUNOFF_LEFT) if offset > 0.0 else (
                    RoadColumn.WIDTH_RIGHT, RoadColumn.RUNOFF_RIGHT)  # fmt: skip
                depths.append(abs(offset) - at(road, along, *columns))
        struck += max(depths) > 0.0
        if abs(max(depths)) > 0.4:  # a look takes the road for the circle that it is at the car
            assert (found[k] > 0.0) == (max(depths) > 0.0), (k, depths, found[k])
    assert 0.2 * n < struck < 0.8 * n


def at(road, s, width, runoff):
    """How far from the centreline (m) the wall is at s."""
    return sum(road.value_at(s, column) for column in (width, runoff))


def test_no_wall_no_contact(rig, roads):
    r = rig("gt3", roads.straight())
    r.run(3.0, throttle=1.0)
    assert (r.contacts, r.contact_depth) == (0.0, 0.0)


def test_a_bend_s_walls_hold_too(rig, roads):
    r = rig("gt3", roads.circle(60.0, half_width=5.0, runoff=2.0), y=-60.0)
    r.roll_at(40.0)
    for _ in range(333 * 4):
        r.step(throttle=1.0)
        assert abs(r.offset) < 7.0
    assert r.contacts >= 1.0


def pair(roads, cars, places, group=2, threads=1):
    """Return a batch of cars on a wide level road, at places (x, y, yaw, speed)."""
    batch = Batch(roads.straight(half_width=1000.0), cars, group_size=group, team=Team(threads))
    for car, (x, y, yaw, speed) in enumerate(places):
        batch.place_cars(car, x, y, yaw, speed)
    batch.set_row(ControlRow.GEAR, 0.0)
    return batch


def motion(batch, masses, inertias):
    """Momentum (kg m/s, x and y), spin about the origin (kg m^2/s), energy (J) of all cars in the plane."""
    x, y, yaw, rate = (batch.get_row(row) for row in (StateRow.X, StateRow.Y, StateRow.YAW, StateRow.YAW_RATE))
    ahead, left = batch.get_row(StateRow.VX), batch.get_row(StateRow.VY)
    vx, vy = ahead * np.cos(yaw) - left * np.sin(yaw), ahead * np.sin(yaw) + left * np.cos(yaw)
    spin = (masses * (x * vy - y * vx) + inertias * rate).sum()
    energy = 0.5 * (masses * (vx**2 + vy**2) + inertias * rate**2).sum()
    return np.array([(masses * vx).sum(), (masses * vy).sum()]), spin, energy


HITS = {
    "rear": ((100.0, 0.0, 0.0, 30.0), (103.9, 0.3, 0.0, 10.0)),
    "head on": ((100.0, 0.2, 0.0, 20.0), (103.9, 0.0, math.pi, 15.0)),
    "side": ((100.0, 0.0, 0.0, 20.0), (102.7, -0.5, math.pi / 2, 5.0)),
    "corner": ((100.0, 0.0, 0.5, 25.0), (102.6, 1.6, -0.6, 20.0)),
    "scrape": ((100.0, 0.0, 0.06, 40.0), (100.5, 1.8, -0.02, 35.0)),
}


@pytest.mark.parametrize("name", HITS)
@pytest.mark.parametrize("cars", [("gt3", "gt3"), ("hatchback", "gt3")])
def test_cars_that_touch_keep_their_momentum_and_gain_no_energy(roads, name, cars):
    """The kernel by itself, right after a look: tyres have no say in it."""
    models = [load_car(car) for car in cars]
    batch = pair(roads, models, HITS[name])
    masses = np.array([car.body.mass for car in models])
    inertias = np.array([car.body.yaw_inertia for car in models])
    before = motion(batch, masses, inertias)
    places = batch.get_row(StateRow.X, 3)[[0, 2]]
    collide_cars(batch.blocks, 2, 0, 1)
    moved = batch.get_row(StateRow.X, 3)[[0, 2]] - places
    for car in (0, 1):  # momenta are taken where the push was, not where the cars were moved to afterwards
        batch.set_row(StateRow.X, places[0, car], car)
        batch.set_row(StateRow.Y, places[1, car], car)
    after = motion(batch, masses, inertias)
    # To the stated error of the kernels' sine and cosine, 1e-10, of what was exchanged.
    assert after[0] == pytest.approx(before[0], abs=1e-9 * 3e4)
    assert after[1] == pytest.approx(before[1], abs=1e-9 * 3e6)
    lost = before[2] - after[2]
    assert lost > 0.0
    assert batch.get_row(StateRow.DAMAGE).sum() == pytest.approx(lost, rel=1e-6)
    depth = batch.get_row(StateRow.CONTACT_DEPTH)
    assert depth[0] == depth[1] > 0.0
    assert batch.get_row(StateRow.CONTACTS).tolist() == [1.0, 1.0]
    # Each is moved back by half of the overlap, along the same line.
    assert moved[:, 0] == pytest.approx(-moved[:, 1])
    assert np.linalg.norm(moved[:, 0]) == pytest.approx(0.5 * depth[0])
    towards = places[:, 1] - places[:, 0]
    assert moved[:, 0] @ towards < 0.0  # apart


def test_a_square_rear_hit_is_the_textbook_s(roads):
    """Equal masses in line: speeds change by (1 + e) / 2 of the closing speed."""
    car = load_car("gt3")
    batch = pair(roads, [car, car], ((100.0, 0.0, 0.0, 30.0), (104.5, 0.0, 0.0, 10.0)))
    speeds = batch.get_row(StateRow.VX)
    collide_cars(batch.blocks, 2, 0, 1)
    change = 0.5 * (1.0 + RESTITUTION) * (speeds[0] - speeds[1])
    assert batch.get_row(StateRow.VX) == pytest.approx([speeds[0] - change, speeds[1] + change])
    assert batch.get_row(StateRow.VY) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert batch.get_row(StateRow.YAW_RATE) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert batch.get_row(StateRow.CONTACT_DEPTH)[0] == pytest.approx(car.body.length - 4.5)


def test_both_cars_keep_whom_they_touched_and_how_hard(roads):
    """A square hit of equal masses: the impulse is m (1 + e) v / 2. The third car of the group is far away."""
    car = load_car("gt3")
    places = (100.0, 0.0, 0.0, 30.0), (300.0, 0.0, 0.0, 30.0), (104.5, 0.0, 0.0, 10.0)
    batch = pair(roads, [car] * 3, places, group=3)
    collide_cars(batch.blocks, 3, 0, 1)
    assert batch.get_row(StateRow.CONTACT_CAR).tolist() == [3.0, 0.0, 1.0]
    assert batch.get_row(StateRow.CONTACT_SPEED) == pytest.approx([20.0, 0.0, 20.0])
    mass = 1.0 / batch.get_row(StateRow.INVERSE_MASS)[0]
    impulse = 0.5 * mass * (1.0 + RESTITUTION) * 20.0
    assert batch.get_row(StateRow.CONTACT_IMPULSE) == pytest.approx([impulse, 0.0, impulse])
    batch.step(0.001, 3)  # apart now
    assert batch.get_row(StateRow.CONTACT_CAR).tolist() == [0.0, 0.0, 0.0]


def test_of_two_touches_in_a_step_the_harder_is_kept(roads):
    car = load_car("gt3")
    places = (95.5, 0.0, 0.0, 35.0), (100.0, 0.0, 0.0, 20.0), (104.5, 0.0, 0.0, 5.0)
    batch = pair(roads, [car] * 3, places, group=3)
    collide_cars(batch.blocks, 3, 0, 1)
    assert batch.get_row(StateRow.CONTACT_CAR).tolist() == [2.0, 3.0, 2.0]  # the first push makes the second harder
    assert batch.get_row(StateRow.CONTACT_SPEED)[1] == pytest.approx(batch.get_row(StateRow.CONTACT_SPEED)[2])


def test_a_symmetric_hit_is_symmetric(roads):
    """Mirrored in the line between them, two cars run into each other at an angle: they stay mirror images."""
    car = load_car("gt3")
    batch = pair(roads, [car, car], ((100.0, 3.0, -0.3, 20.0), (100.0, -3.0, 0.3, 20.0)))
    batch.set_row(StateRow.Y, 1.0, 0)
    batch.set_row(StateRow.Y, -1.0, 1)
    batch.update_ground()
    touched = 0.0
    for _ in range(400):
        batch.step(0.001, 3)
        touched = max(touched, batch.get_row(StateRow.CONTACT_DEPTH).max())
        for row, sign in ((StateRow.X, 1.0), (StateRow.Y, -1.0), (StateRow.VX, 1.0), (StateRow.YAW_RATE, -1.0)):
            here = batch.get_row(row)
            assert here[0] == pytest.approx(sign * here[1], rel=1e-6, abs=1e-6)
    assert touched > 0.0
    assert batch.get_row(StateRow.Y)[0] > 0.9 * 0.5 * car.body.width  # they do not sink into each other


def test_resting_contact_rests(roads):
    """A car that pushes another one, standing on its brake: no shaking, no way through, no energy."""
    car = load_car("hatchback")
    batch = pair(roads, [car, car], ((100.0, 0.0, 0.0, 0.0), (100.0 + car.body.length, 0.05, 0.0, 0.0)))
    batch.set_row(ControlRow.GEAR, math.nan)
    batch.set_row(ControlRow.THROTTLE, 0.25, 0)
    batch.set_row(ControlRow.BRAKE, 1.0, 1)
    for k in range(1500):
        batch.step(0.001, 3)
        if k > 300:
            assert np.abs(batch.get_row(StateRow.VX)).max() < 0.3
            assert np.abs(batch.get_row(StateRow.YAW_RATE)).max() < 0.3
    x = batch.get_row(StateRow.X)
    assert x[1] - x[0] > car.body.length - 0.03
    assert batch.get_row(StateRow.CONTACTS)[0] >= 1.0


def test_groups_touch_each_other_within_and_pass_through_between(roads):
    """Five groups of three: their cars lie across the borders of blocks, and each group drives on the same spot."""
    car = load_car("gt3")
    spots = [(100.0, 0.0, 0.0, 25.0), (108.0, 0.4, 0.0, 5.0), (100.0, 20.0, 0.0, 25.0)]
    many = pair(roads, [car] * 15, spots * 5, group=3)
    one = pair(roads, [car] * 3, spots, group=3)
    alone = pair(roads, [car], spots[2:], group=1)
    for batch in (many, one, alone):
        for _ in range(200):
            batch.step(0.001, 3)
    assert one.get_row(StateRow.CONTACTS)[:2].min() >= 1.0
    assert one.get_row(StateRow.CONTACTS)[2] == 0.0
    expected = one.get_row(0, StateRow.COUNT)
    for g in range(5):
        assert np.array_equal(many.get_row(0, StateRow.COUNT)[:, 3 * g : 3 * g + 3], expected)
    assert np.array_equal(expected[:, 2], alone.get_row(0, StateRow.COUNT)[:, 0])


def test_a_pile_of_cars_comes_to_rest_apart(roads):
    """Twelve cars driven into one place: finite, slower than they came, and out of each other in the end."""
    car, rng = load_car("gt3"), np.random.default_rng(11)
    n = 12
    around = 2.0 * math.pi * np.arange(n) / n
    places = [
        (300.0 + 14.0 * math.cos(a), 14.0 * math.sin(a), a + math.pi + rng.normal(0.0, 0.1), 12.0) for a in around
    ]
    batch = pair(roads, [car] * n, places, group=n)
    batch.set_row(ControlRow.BRAKE, 0.2)
    masses, inertias = np.full(n, car.body.mass), np.full(n, car.body.yaw_inertia)
    begin = motion(batch, masses, inertias)[2]
    for _ in range(900):
        batch.step(0.001, 3)
        assert motion(batch, masses, inertias)[2] <= begin * 1.001
    assert np.hypot(batch.get_row(StateRow.VX), batch.get_row(StateRow.VY)).max() < 1.0
    assert batch.get_row(StateRow.CONTACT_DEPTH).max() < 0.05
    assert batch.get_row(StateRow.CONTACTS).min() >= 1.0
