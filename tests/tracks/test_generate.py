import math

import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.tracks.generate import LEAST_RUNOFF, LENGTH, RUNOFF, STEEPEST, WIDTH, generate, smallest_radius
from trailbrake.tracks.geometry import first_crossing
from trailbrake.tracks.road import Column

SEEDS = range(200)
WIDEST_CAR = 2.1  # m


@pytest.fixture(scope="module")
def roads():
    return [generate(seed).road for seed in SEEDS]


def test_every_table_is_finite_and_a_circuit(roads):
    for road in roads:
        assert road.closed
        assert np.isfinite(road.table).all()
        assert LENGTH[0] - 5.0 < road.length < LENGTH[1] + 150.0
        # Closed in place and direction: the step from the last row to the first is like any other.
        x, y = road.column(Column.X), road.column(Column.Y)
        step = np.hypot(np.roll(x, -1) - x, np.roll(y, -1) - y)
        assert step / road.spacing == pytest.approx(np.ones(len(step)), abs=2e-3)
        turned = road.column(Column.CURVATURE).sum() * road.spacing
        assert abs(turned) == pytest.approx(2.0 * math.pi, abs=0.02)


def test_bends_suit_the_width_and_begin_gently(roads):
    for road in roads:
        width = road.column(Column.WIDTH_LEFT) + road.column(Column.WIDTH_RIGHT)
        assert WIDTH[0] <= width.min() <= width.max() <= WIDTH[1] + 0.05
        assert width.min() > WIDEST_CAR
        curvature = road.column(Column.CURVATURE)
        assert 1.0 / np.abs(curvature).max() > smallest_radius(width.min()) * (1.0 - 1e-9)
        # Nowhere does curvature jump: a ramp from straight to the tightest bend takes some metres.
        assert np.abs(np.roll(curvature, -1) - curvature).max() / road.spacing < 0.015


def test_walls_never_meet(roads):
    for road in roads:
        left, right = road.walls()
        # Cut open at the line, the ground between the walls is one simple polygon, if no wall crosses another.
        x = np.concatenate([left[:, 0], right[::-1, 0]])
        y = np.concatenate([left[:, 1], right[::-1, 1]])
        longest = float(np.hypot(np.roll(x, -1) - x, np.roll(y, -1) - y).max())
        assert first_crossing(x, y, True, 1.001 * longest) == (-1, -1)
        for column in (Column.RUNOFF_LEFT, Column.RUNOFF_RIGHT):
            assert LEAST_RUNOFF - 1e-9 <= road.column(column).min() <= road.column(column).max() <= RUNOFF
    cut = [road.column(Column.RUNOFF_LEFT).min() < RUNOFF - 0.1 for road in roads]
    assert any(cut)
    assert not all(cut)


def test_no_stretch_reaches_into_anothers_run_off(roads):
    # Brute force, by distances: from any wall, another stretch's centreline is further than that stretch reaches.
    for road in roads[::8]:
        s, centre = road.stations(), road.table[:, :2]
        reach_left = road.column(Column.WIDTH_LEFT) + road.column(Column.RUNOFF_LEFT)
        reach_right = road.column(Column.WIDTH_RIGHT) + road.column(Column.RUNOFF_RIGHT)
        least = np.minimum(reach_left, reach_right)
        for wall in road.walls():
            for k in range(0, len(s), 7):
                apart = np.abs(np.mod(s - s[k] + 0.5 * road.length, road.length) - 0.5 * road.length)
                others = apart > 120.0
                distance = np.hypot(*(centre[others] - wall[k, :2]).T)
                assert np.all(distance > least[others] - 0.5)  # the rows are 1.5 m apart


def test_hills_and_banks_are_gentle(roads):
    grades = np.array([np.abs(road.column(Column.GRADE)).max() for road in roads])
    assert grades.max() <= STEEPEST + 1e-12
    assert np.median(grades) > 0.02
    for road in roads:
        z, grade = road.column(Column.Z), road.column(Column.GRADE)
        slope = (np.roll(z, -1) - np.roll(z, 1)) / (2.0 * road.spacing)
        assert grade == pytest.approx(slope, abs=1e-9)
        assert np.abs(road.column(Column.BANK)).max() <= math.radians(3.0)
        sharp = np.abs(road.column(Column.CURVATURE)) > 1.0 / 40.0
        assert np.all((road.column(Column.BANK) * road.column(Column.CURVATURE))[sharp] <= 1e-4)  # leans inward
    flat = generate(3, elevation=0.0).road
    assert not flat.column(Column.Z).any()
    assert not flat.column(Column.BANK).any()


def test_there_are_straights_hairpins_and_sweepers(roads):
    kinds = []
    for road in roads:
        radius = 1.0 / np.maximum(np.abs(road.column(Column.CURVATURE)), 1e-9)
        kinds.append(((radius > 1000.0).mean(), radius.min() < 25.0, ((radius > 80.0) & (radius < 400.0)).mean()))
    straight, hairpin, sweep = np.array(kinds).T
    assert 0.25 < np.median(straight) < 0.75
    assert 0.5 < hairpin.mean() < 1.0
    assert np.median(sweep) > 0.08
    left = [(road.column(Column.CURVATURE).sum() > 0.0) for road in roads]
    assert 0.35 < np.mean(left) < 0.65


def test_the_line_is_on_a_straight_with_room_for_a_grid(roads):
    for road in roads:
        assert np.hypot(road.table[0, 0], road.table[0, 1]) < 1e-9
        behind = road.at(np.arange(-15.0, 15.0), Column.CURVATURE)
        assert np.abs(behind).max() < 1.0 / 60.0


def test_the_same_seed_is_the_same_road_to_the_bit(roads):
    for seed in (0, 7, 123):
        again = generate(seed).road
        assert again.table.tobytes() == roads[seed].table.tobytes()
        assert again.spacing == roads[seed].spacing


def test_other_seeds_are_other_roads(roads):
    shapes = {(len(road.table), round(float(np.abs(road.column(Column.CURVATURE)).sum()), 6)) for road in roads}
    assert len(shapes) == len(roads)


@pytest.mark.parametrize(("length", "width"), [(600.0, 12.0), (900.0, 6.0), (3000.0, 9.0), (9000.0, 20.0)])
def test_length_and_width_are_as_asked(length, width):
    for seed in range(5):
        road = generate(seed, length=length, width=width).road
        assert road.length == pytest.approx(length, rel=0.03)
        assert road.column(Column.WIDTH_LEFT) + road.column(Column.WIDTH_RIGHT) == pytest.approx(
            np.full(len(road.table), width)
        )


@pytest.mark.parametrize(
    ("seed", "more", "said"),
    [
        (-1, {}, "no such seed"),
        (1, {"length": 100.0}, "no length of a circuit, expected 600"),
        (1, {"width": math.nan}, "no width"),
        (1, {"elevation": 2.0}, "no elevation"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(seed, more, said):
    with pytest.raises(UsageError, match=said):
        generate(seed, **more)
