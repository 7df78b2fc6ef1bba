import math
import threading
from functools import cache

import numpy as np
import pytest
from helpers.roads import straight

from trailbrake.errors import UsageError
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.tracks.walls import Walls
from trailbrake.world.range_scanner import RangeScanner

TURN = 2.0 * math.pi


@cache
def road_and_walls(name):
    """A road of the library and its walls, which no test changes."""
    road = load_track(name).road
    return road, Walls.from_roads(road)


def pieces(*roads):
    """Every piece of wall between two rows: (m, 4) x, y and vector to the other end."""
    found = []
    for road in roads:
        for wall in road.wall_lines():
            start = wall[:, :2] if road.closed else wall[:-1, :2]
            end = np.roll(wall[:, :2], -1, axis=0) if road.closed else wall[1:, :2]
            found.append(np.hstack([start, end - start]))
    return np.vstack(found)


def brute(segments, x, y, angles, limit):
    """Distance along each angle (world) to the nearest of all segments; `limit` where none is nearer."""
    reach = limit + np.abs(segments[:, 2:]).sum(axis=1)  # a segment that begins beyond it is out of range
    segments = segments[np.all(np.abs(segments[:, :2] - (x, y)) <= reach[:, None], axis=1)]
    ax, ay = segments[:, 0, None] - x, segments[:, 1, None] - y
    ex, ey = segments[:, 2, None], segments[:, 3, None]
    dx, dy = np.cos(angles), np.sin(angles)
    down = dx * ey - dy * ex
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (ax * ey - ay * ex) / down
        u = (ax * dy - ay * dx) / down
    return np.where((r >= 0.0) & (u >= 0.0) & (u <= 1.0), r, limit).min(axis=0, initial=limit)


def somewhere(road, n, share, seed):
    """Poses (n, 3) up to `share` of the way from the centreline to the wall; more than 1 is outside."""
    rng = np.random.default_rng(seed)
    s, side = rng.uniform(0.0, road.length, n), rng.uniform(-share, share, n)
    left = road.column_at(s, RoadColumn.WIDTH_LEFT) + road.column_at(s, RoadColumn.RUNOFF_LEFT)
    right = road.column_at(s, RoadColumn.WIDTH_RIGHT) + road.column_at(s, RoadColumn.RUNOFF_RIGHT)
    place = road.points(s, np.where(side > 0.0, side * left, side * right))
    return np.ascontiguousarray(np.column_stack([place[:, :2], rng.uniform(-7.0, 7.0, n)]))


def sensors(poses, scanner):
    """Where the scanner is, x, y, yaw, by complex numbers."""
    place = poses[:, 0] + 1j * poses[:, 1] + complex(*scanner.mount[:2]) * np.exp(1j * poses[:, 2])
    return np.column_stack([place.real, place.imag, poses[:, 2] + scanner.mount[2]])


def compare(walls, segments, poses, scanner):
    """What the scanner reads from the poses, and what brute force over `segments` says: (n, beams) each."""
    out = np.full((len(poses), len(scanner.angles)), np.nan)
    scanner.scan_cars(walls, poses, out)
    truth = [brute(segments, x, y, yaw + scanner.angles, scanner.max_range) for x, y, yaw in sensors(poses, scanner)]
    return out, np.array(truth)


@pytest.mark.parametrize("name", ["kartwerk", "hartmoor", "pinegrove", "copperbowl", "serpent_pass"])
@pytest.mark.parametrize(("share", "limit"), [(0.95, 100.0), (0.95, 30.0), (4.0, 60.0)])
def test_ranges_are_those_of_brute_force_over_all_walls(name, share, limit):
    road, walls = road_and_walls(name)
    scanner = RangeScanner(91, TURN, limit, x=0.4, y=-0.2, yaw=0.3)
    out, truth = compare(walls, pieces(road), somewhere(road, 40, share, 1), scanner)
    error = np.abs(out - truth)
    # A wall that is 0.2 mm off is hit further on by a beam that grazes it, and missed by one that grazes its end.
    assert np.mean(error > 0.01 + 0.001 * truth) < 5e-4
    assert np.quantile(error, 0.99) < 0.005
    assert np.mean(truth < limit) > 0.02


@pytest.mark.parametrize("name", ["pinegrove", "serpent_pass"])
def test_against_the_walls_as_they_are_kept_there_is_no_error(name):
    road, walls = road_and_walls(name)
    for share in (0.999, 5.0):
        out, truth = compare(walls, walls.grid.segments, somewhere(road, 40, share, 2), RangeScanner(64, TURN, 80.0))
        assert out == pytest.approx(truth, abs=1e-8)


def test_walls_of_other_stretches_are_seen_where_they_stand_in_the_way():
    # Two roads that cross, so that the walls of each stand on the other, and one that runs beside them.
    roads = [straight(200.0, half_width=8.0, runoff=6.0).road for _ in range(3)]
    tables = [road.table.copy() for road in roads]
    middle = 0.5 * roads[0].length
    x, y = tables[0][:, RoadColumn.X].copy(), tables[0][:, RoadColumn.Y].copy()
    tables[1][:, RoadColumn.X], tables[1][:, RoadColumn.Y] = middle - y, x - middle
    tables[1][:, RoadColumn.TANGENT_X], tables[1][:, RoadColumn.TANGENT_Y] = 0.0, 1.0
    tables[1][:, RoadColumn.YAW] = 0.5 * math.pi
    tables[2][:, RoadColumn.Y] += 35.0
    roads = [Road(table, roads[0].spacing, False) for table in tables]
    walls = Walls.from_roads(*roads)
    for road in roads:
        out, truth = compare(walls, pieces(*roads), somewhere(road, 40, 1.5, 3), RangeScanner(180, TURN, 90.0))
        assert out == pytest.approx(truth, abs=1e-3)
        assert np.mean(truth < 90.0) > 0.5


def test_a_circuit_whose_run_offs_overlap(shared):
    road = load_track(shared / "data" / "tracks" / "Berlin2018.csv").road
    walls = Walls.from_roads(road)
    blocked = np.flatnonzero(walls.links[:, 0] < 0)
    assert len(blocked) > 10
    rng = np.random.default_rng(5)
    near = walls.cross_sections[rng.choice(blocked, 60)]
    share = rng.uniform(0.05, 0.95, (60, 1))
    place = share * near[:, :2] + (1.0 - share) * near[:, 2:4]
    poses = np.ascontiguousarray(np.column_stack([place + rng.normal(0.0, 15.0, (60, 2)), rng.uniform(-3, 3, 60)]))
    out, truth = compare(walls, walls.grid.segments, poses, RangeScanner(120, TURN, 100.0))
    assert out == pytest.approx(truth, abs=1e-8)


def test_signs_and_places_on_a_straight():
    # Road along x, walls 14 m either side. 4 m left of the middle, sensor 2 m ahead and 1 m to the right.
    walls = Walls.from_roads(straight(1000.0, half_width=8.0, runoff=6.0).road)
    scanner = RangeScanner(3, math.pi, 50.0, x=2.0, y=-1.0)
    out = np.zeros((1, 3))
    scanner.scan_cars(walls, np.array([[500.0, 4.0, 0.0]]), out)
    assert scanner.angles == pytest.approx([-math.pi / 2, 0.0, math.pi / 2])
    assert out[0] == pytest.approx([14.0 + 3.0, 50.0, 14.0 - 3.0])
    turned = RangeScanner(3, math.pi, 50.0, x=2.0, y=-1.0, yaw=math.radians(30.0))
    turned.scan_cars(walls, np.array([[500.0, 4.0, 0.0]]), out)
    assert out[0] == pytest.approx([17.0 / math.cos(math.pi / 6), 22.0, 11.0 / math.cos(math.pi / 6)])


@pytest.mark.parametrize("field", [TURN, math.radians(270.0), math.radians(60.0), 0.01])
@pytest.mark.parametrize("beams", [1, 2, 7, 1080])
def test_any_number_of_beams_over_any_field(field, beams):
    road, walls = road_and_walls("kartwerk")
    scanner = RangeScanner(beams, field, 40.0)
    out, truth = compare(walls, pieces(road), somewhere(road, 12, 0.9, beams), scanner)
    assert np.mean(np.abs(out - truth) > 0.01 + 0.001 * truth) < 5e-4
    if beams == 1:
        assert scanner.angles.tolist() == [0.0]
    elif field == TURN:
        assert np.diff(np.append(scanner.angles, scanner.angles[0] + TURN)) == pytest.approx(
            np.full(beams, TURN / beams)
        )
    else:
        assert scanner.angles[[0, -1]] == pytest.approx([-0.5 * field, 0.5 * field])


def corners(x, y, yaw, half_length, half_width, ahead):
    """The outline of a car's box as segments (4, 4)."""
    body = ahead + np.array([half_length, -half_length, -half_length, half_length])
    place = x + 1j * y + (body + 1j * np.array([half_width, half_width, -half_width, -half_width])) * np.exp(1j * yaw)
    ends = np.roll(place, -1) - place
    return np.column_stack([place.real, place.imag, ends.real, ends.imag])


@pytest.mark.parametrize("field", [TURN, math.radians(200.0)])
def test_other_cars_of_the_group_are_seen_and_those_of_others_are_not(field):
    (road, walls), group = road_and_walls("hartmoor"), 5
    rng = np.random.default_rng(8)
    poses = somewhere(road, 20, 0.6, 8)
    for first in range(0, 20, group):  # close together
        poses[first : first + group, :2] = poses[first, :2] + rng.uniform(-15.0, 15.0, (group, 2))
    poses[5:10, :2] = poses[0:5, :2] + 3.0  # another group in the same place
    boxes = np.column_stack([rng.uniform(1.5, 3.0, 20), rng.uniform(0.7, 1.2, 20), rng.uniform(-0.5, 0.5, 20)])
    scanner = RangeScanner(240, field, 100.0, x=1.0, yaw=-0.2)
    out = np.zeros((20, 240))
    scanner.scan_cars(walls, poses, out, boxes, group)
    place = sensors(poses, scanner)
    seen = 0
    for car in range(20):
        others = [k for k in range(car // group * group, (car // group + 1) * group) if k != car]
        x, y, yaw = place[car]
        outlines = np.vstack([corners(*poses[k], *boxes[k]) for k in others])
        truth = brute(np.vstack([walls.grid.segments, outlines]), x, y, yaw + scanner.angles, 100.0)
        for k in others:  # a sensor within a box reads 0
            nose = (complex(x, y) - complex(*poses[k, :2])) * np.exp(-1j * poses[k, 2]) - boxes[k, 2]
            if abs(nose.real) <= boxes[k, 0] and abs(nose.imag) <= boxes[k, 1]:
                truth[:] = 0.0
        seen += np.sum(truth < brute(walls.grid.segments, x, y, yaw + scanner.angles, 100.0) - 0.1)
        assert out[car] == pytest.approx(truth, abs=1e-7)
    assert seen > 500


def test_a_car_ahead_alone():
    # 20 m ahead, turned by a quarter, 4 m by 2 m: its side is 19 m away, and it hides atan(2 / 19) to either side.
    walls = Walls.from_roads(straight(1000.0, half_width=8.0, runoff=6.0).road)
    scanner = RangeScanner(721, math.pi, 60.0)
    poses = np.array([[300.0, 0.0, 0.0], [320.0, 0.0, 0.5 * math.pi]])
    out = np.zeros((2, 721))
    scanner.scan_cars(walls, poses, out, np.array([[2.0, 1.0, 0.0]] * 2), 2)
    hidden = np.abs(scanner.angles) < math.atan(2.0 / 19.0) - 1e-9
    assert out[0, hidden] == pytest.approx(19.0 / np.cos(scanner.angles[hidden]))
    alone = np.zeros((2, 721))
    scanner.scan_cars(walls, poses, alone)
    assert np.array_equal(out[0, ~hidden], alone[0, ~hidden])


def test_float32_threads_and_ranges_of_cars_change_nothing():
    road = load_track("hartmoor").road
    walls, poses = Walls.from_roads(road), somewhere(road, 60, 0.9, 9)
    scanner, boxes = RangeScanner(64, TURN, 100.0), np.tile([2.0, 1.0, 0.2], (60, 1))
    whole = np.zeros((60, 64))
    scanner.scan_cars(walls, poses, whole, boxes, 30)
    small = np.zeros((60, 64), np.float32)
    threads = [
        threading.Thread(target=scanner.scan_cars, args=(walls, poses, small, boxes, 30, lo, lo + 15))
        for lo in range(0, 60, 15)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(small, whole.astype(np.float32))


def test_a_lost_car_sees_nothing_and_harms_nobody():
    road = load_track("pinegrove").road
    poses = somewhere(road, 4, 0.5, 10)
    poses[1, 0], poses[2, 2] = np.nan, np.inf
    poses[3, :2] = 1e6, -1e6
    out = np.zeros((4, 32))
    RangeScanner(32, TURN, 50.0).scan_cars(Walls.from_roads(road), poses, out, np.tile([2.0, 1.0, 0.0], (4, 1)), 4)
    assert np.isfinite(out[0]).all()
    assert np.isnan(out[1:3]).all()
    assert np.all(out[3] == 50.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1.0, 10.0), "no beams"),
        ((4, 0.0, 10.0), "field of view"),
        ((4, 7.0, 10.0), "field of view"),
        ((4, 1.0, math.inf), "no such range"),
        ((4, 1.0, 10.0, math.nan), "the mount is not finite"),
    ],
)
def test_impossible_scanners_are_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        RangeScanner(*arguments)


def test_arrays_that_do_not_fit_are_refused():
    walls, scanner = Walls.from_roads(straight(200.0).road), RangeScanner(4, 1.0, 10.0)
    with pytest.raises(UsageError, match="arrays do not fit"):
        scanner.scan_cars(walls, np.zeros((3, 3)), np.zeros((3, 5)))
    with pytest.raises(UsageError, match="arrays do not fit"):
        scanner.scan_cars(walls, np.zeros((3, 3)), np.zeros((3, 4)), hi=4)
    with pytest.raises(UsageError, match="boxes do not fit"):
        scanner.scan_cars(walls, np.zeros((3, 3)), np.zeros((3, 4)), group=3)
