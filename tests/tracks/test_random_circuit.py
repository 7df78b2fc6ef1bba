import math

import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.tracks.geometry import first_crossing
from trailbrake.tracks.random_circuit import (
    LENGTH_RANGE,
    MAX_GRADE,
    MIN_RUNOFF,
    RUNOFF,
    WIDTH_RANGE,
    generate_circuit,
    smallest_radius,
)
from trailbrake.tracks.road import RoadColumn

WIDEST_CAR = 2.1  # m


@pytest.fixture(scope="module", params=[range(48), pytest.param(range(120, 168), marks=pytest.mark.slow)], ids=str)
def seeds(request):
    return request.param


@pytest.fixture(scope="module")
def roads(seeds):
    return [generate_circuit(seed).road for seed in seeds]


def test_every_table_is_finite_and_a_circuit(roads):
    for road in roads:
        assert road.closed
        assert np.isfinite(road.table).all()
        assert LENGTH_RANGE[0] - 5.0 < road.length < LENGTH_RANGE[1] + 150.0
        # Closed in place and direction: the step from the last row to the first is like any other.
        x, y = road.column(RoadColumn.X), road.column(RoadColumn.Y)
        step = np.hypot(np.roll(x, -1) - x, np.roll(y, -1) - y)
        assert np.abs(step / road.spacing - 1.0).max() < 2e-3
        turned = road.column(RoadColumn.CURVATURE).sum() * road.spacing
        assert abs(turned) == pytest.approx(2.0 * math.pi, abs=0.02)


def test_bends_suit_the_width_and_begin_gently(roads):
    for road in roads:
        width = road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.WIDTH_RIGHT)
        assert WIDTH_RANGE[0] <= width.min() <= width.max() <= WIDTH_RANGE[1] + 0.05
        assert width.min() > WIDEST_CAR
        curvature = road.column(RoadColumn.CURVATURE)
        assert 1.0 / np.abs(curvature).max() > smallest_radius(width.min()) * (1.0 - 1e-9)
        # Nowhere does curvature jump: a ramp from straight to the tightest bend takes some metres.
        assert np.abs(np.roll(curvature, -1) - curvature).max() / road.spacing < 0.015


def test_walls_never_meet(roads):
    for road in roads:
        left, right = (wall[:, :2] for wall in road.wall_lines())
        # Cut open at the line, the ground between the walls is one simple polygon, if no wall crosses another. The
        # cuts are of many short pieces, because the search takes long over long ones.
        share = np.linspace(0.0, 1.0, 32)[1:-1, None]
        cuts = [(1.0 - share) * left[k] + share * right[k] for k in (0, -1)]
        x, y = np.concatenate([left, cuts[1], right[::-1], cuts[0][::-1]]).T.copy()
        longest = float(np.hypot(np.roll(x, -1) - x, np.roll(y, -1) - y).max())
        assert first_crossing(x, y, True, 1.001 * longest) == (-1, -1)
        for column in (RoadColumn.RUNOFF_LEFT, RoadColumn.RUNOFF_RIGHT):
            assert MIN_RUNOFF - 1e-9 <= road.column(column).min() <= road.column(column).max() <= RUNOFF
    cut = [road.column(RoadColumn.RUNOFF_LEFT).min() < RUNOFF - 0.1 for road in roads]
    assert any(cut)
    assert not all(cut)


def test_no_stretch_reaches_into_anothers_run_off(roads):
    # Brute force, by distances: from any wall, another stretch's centreline is further than that stretch reaches.
    for road in roads[::8]:
        s, centre = road.stations(), road.table[:, :2]
        reach_left = road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.RUNOFF_LEFT)
        reach_right = road.column(RoadColumn.WIDTH_RIGHT) + road.column(RoadColumn.RUNOFF_RIGHT)
        least = np.minimum(reach_left, reach_right)
        for wall in road.wall_lines():
            for k in range(0, len(s), 7):
                apart = np.abs(np.abs(s - s[k]) - 0.5 * road.length)  # the other way round is as good
                others = apart < 0.5 * road.length - 120.0
                gap = centre[others] - wall[k, :2]
                assert np.all(np.sum(gap * gap, axis=1) > (least[others] - 0.5) ** 2)  # the rows are 1.5 m apart


def test_hills_and_banks_are_gentle(roads):
    grades = np.array([np.abs(road.column(RoadColumn.GRADE)).max() for road in roads])
    assert grades.max() <= MAX_GRADE + 1e-12
    assert np.median(grades) > 0.02
    for road in roads:
        z, grade = road.column(RoadColumn.Z), road.column(RoadColumn.GRADE)
        slope = (np.roll(z, -1) - np.roll(z, 1)) / (2.0 * road.spacing)
        assert np.abs(grade - slope).max() < 1e-9
        assert np.abs(road.column(RoadColumn.BANK)).max() <= math.radians(3.0)
        sharp = np.abs(road.column(RoadColumn.CURVATURE)) > 1.0 / 40.0
        assert np.all((road.column(RoadColumn.BANK) * road.column(RoadColumn.CURVATURE))[sharp] <= 1e-4)  # leans inward


def test_there_are_straights_hairpins_and_sweepers(roads):
    kinds = []
    for road in roads:
        radius = 1.0 / np.maximum(np.abs(road.column(RoadColumn.CURVATURE)), 1e-9)
        kinds.append(((radius > 1000.0).mean(), radius.min() < 25.0, ((radius > 80.0) & (radius < 400.0)).mean()))
    straight, hairpin, sweep = np.array(kinds).T
    assert 0.25 < np.median(straight) < 0.75
    assert 0.5 < hairpin.mean() < 1.0
    assert np.median(sweep) > 0.08
    left = [(road.column(RoadColumn.CURVATURE).sum() > 0.0) for road in roads]
    assert 0.35 < np.mean(left) < 0.65


def test_the_line_is_on_a_straight_with_room_for_a_grid(roads):
    for road in roads:
        assert np.hypot(road.table[0, 0], road.table[0, 1]) < 1e-9
        behind = road.column_at(np.arange(-15.0, 15.0), RoadColumn.CURVATURE)
        assert np.abs(behind).max() < 1.0 / 60.0


def test_the_same_seed_is_the_same_road_to_the_bit(roads, seeds):
    for k in (0, 7, 40):
        again = generate_circuit(seeds[k]).road
        assert again.table.tobytes() == roads[k].table.tobytes()
        assert again.spacing == roads[k].spacing


def test_other_seeds_are_other_roads(roads):
    shapes = {(len(road.table), round(float(np.abs(road.column(RoadColumn.CURVATURE)).sum()), 6)) for road in roads}
    assert len(shapes) == len(roads)


def test_a_seed_below_0_is_refused_in_one_line():
    with pytest.raises(UsageError, match="no such seed"):
        generate_circuit(-1)
