"""Roads from drives, against roads whose centre, width and curvature are known."""

import math

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.learning.road_survey import survey_road
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track_library import load_track

WAVE = 32.0


def drive(road, weave=0.25, quantum=127.0, end=0.0, drift=0.1):
    """Return x, y, z and the place across of a car that weaves along `road`, as the wire tells them."""
    s = np.arange(0.0, road.length - end, 0.13)
    place = weave * np.sin(2 * math.pi * s / WAVE) + drift * np.sin(2 * math.pi * s / 400.0)
    told = np.round(place * quantum) / quantum
    half = road.column_at(s, RoadColumn.WIDTH_LEFT)
    points = road.points(s, place * half).astype(np.float32).astype(float)
    return points[:, 0], points[:, 1], points[:, 2], told


@pytest.mark.parametrize("name", ["pinegrove", "serpent_pass"])
def test_a_weaving_drive_tells_centre_width_and_curvature(name):
    road = load_track(name).road
    found = survey_road(*drive(road), width=99.0, wave=WAVE)
    assert found.known_share > 0.98
    assert found.road.closed == road.closed
    xy = found.road.table[:, [RoadColumn.X, RoadColumn.Y]]
    place = road.locate_many(xy, 0)
    assert np.sqrt(np.mean(place[:, 1] ** 2)) < 0.05
    assert np.abs(place[:, 1]).max() < 0.4
    width = found.road.column(RoadColumn.WIDTH_LEFT) - road.column_at(place[:, 0], RoadColumn.WIDTH_LEFT)
    assert np.abs(width).mean() < 0.2  # the weave is longer along the path than along the road: 3 % of the width
    bend = found.road.column(RoadColumn.CURVATURE) - road.column_at(place[:, 0], RoadColumn.CURVATURE)
    assert np.sqrt(np.mean(bend**2)) < 0.0015
    rise = found.road.column(RoadColumn.Z) - road.column_at(place[:, 0], RoadColumn.Z)
    assert np.abs(rise).max() < 0.5  # beside a banked centreline the road is higher or lower


@pytest.mark.parametrize(("name", "swell"), [("kartwerk", 0.0), ("gen:7", 0.0), ("pinegrove", 1.0)])
def test_bends_are_not_taken_for_a_weave(name, swell):
    """Hairpins as short as a weave made the road 1.4 m narrower or wider, for 100 m to either side."""
    road = load_track(name).road
    rows = np.arange(len(road.table))
    for side in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT):
        road.column(side)[:] += swell * np.sin(10.0 * math.pi * rows / len(rows))
    found = survey_road(*drive(road), width=99.0, wave=WAVE).road
    along = road.locate_many(found.table[:, [RoadColumn.X, RoadColumn.Y]], 0)[:, 0]
    width = found.column(RoadColumn.WIDTH_LEFT) - road.column_at(along, RoadColumn.WIDTH_LEFT)
    assert np.sqrt(np.mean(width**2)) < 0.3


def test_heights_of_a_circuit_meet_at_its_ends_on_a_slope():
    """They stayed the same for the last 15 m, and stepped up by the slope of these at the start."""
    road = load_track("gen:7").road
    table = np.roll(road.table, -int(np.argmax(road.column(RoadColumn.GRADE))), axis=0)  # from the steepest place
    steep = Road(table, road.spacing, closed=True)
    found = survey_road(*drive(steep), width=9.0, wave=WAVE).road
    place = steep.locate_many(found.table[:, [RoadColumn.X, RoadColumn.Y]], 0)
    slope = found.column(RoadColumn.GRADE) - steep.column_at(place[:, 0], RoadColumn.GRADE)
    assert np.abs(slope[[*range(-20, 20)]]).max() < 0.01


@pytest.mark.parametrize("begin", [0.0, 230.0])  # on a straight, in a bend
@pytest.mark.parametrize("rounds", [1, 2])
def test_ends_of_a_circuit_meet_where_the_car_ends_beside_its_begin(begin, rounds):
    """They were joined by a bend of 10 to 20 m, which cars braked for."""
    road = load_track("pinegrove").road
    s = np.arange(0.0, rounds * road.length + 20.0, 0.3)
    points = road.points((begin + s) % road.length, 3.0 * s / s[-1])
    found = survey_road(*points[:, :3].T, np.full(len(s), math.nan), width=9.0, wave=WAVE).road
    place = road.locate_many(found.table[:, [RoadColumn.X, RoadColumn.Y]], 0)
    bend = found.column(RoadColumn.CURVATURE) - road.column_at(place[:, 0], RoadColumn.CURVATURE)
    assert np.abs(bend[[*range(-20, 20)]]).max() < 0.004


def test_without_a_live_place_the_width_is_the_stated_one():
    road = load_track("pinegrove").road
    x, y, z, place = drive(road, weave=0.0, drift=0.0)
    for silent in (np.zeros_like(place), np.full_like(place, math.nan)):
        found = survey_road(x, y, z, silent, width=9.0, wave=WAVE)
        assert found.known_share == 0.0
        assert found.road.column(RoadColumn.WIDTH_LEFT) == pytest.approx(4.5)
        offset = road.locate_many(found.road.table[:, [RoadColumn.X, RoadColumn.Y]], 0)[:, 1]
        assert np.abs(offset).max() < 0.2  # the path itself


def test_samples_that_are_missing_or_repeated_do_no_harm():
    road = load_track("pinegrove").road
    rows = np.array(drive(road))
    rng = np.random.default_rng(5)
    keep = np.sort(rng.choice(rows.shape[1], int(0.7 * rows.shape[1])))  # with repeats
    found = survey_road(*rows[:, keep], width=9.0, wave=WAVE)
    offset = road.locate_many(found.road.table[:, [RoadColumn.X, RoadColumn.Y]], 0)[:, 1]
    assert np.sqrt(np.mean(offset**2)) < 0.08


def test_what_is_no_drive_along_a_road():
    road = load_track("pinegrove").road
    x, y, z, place = drive(road)
    with pytest.raises(DataError, match="too short a drive"):
        survey_road(x[:100], y[:100], z[:100], place[:100], width=9.0, wave=WAVE)
    x[5000] += 500.0
    with pytest.raises(DataError, match="the drive jumps"):
        survey_road(x, y, z, place, width=9.0, wave=WAVE)
    with pytest.raises(DataError, match="too short a drive"):
        survey_road(*[np.full(9, math.nan)] * 4, width=9.0, wave=WAVE)


@pytest.mark.parametrize(("before", "rounds"), [(0.0, 2.0), (0.0, 1.3), (250.0, 3.4)])
def test_several_rounds_are_one_round_of_the_road(before, rounds):
    """Rounds on different lines, and the way to the circuit, of which nothing is in the map."""
    road = load_track("pinegrove").road
    laps = [np.array(drive(road, drift=drift)) for drift in (0.1, -0.3, 0.2, 0.0)]
    rows = np.concatenate(laps, axis=1)[:, : int(rounds * laps[0].shape[1])]
    x, y, yaw, _ = road.points(0.0)[0]
    along = np.arange(-before, 0.0, 0.13)  # from the side, as a pit lane comes
    way = np.array([x + along * math.cos(yaw + 0.5), y + along * math.sin(yaw + 0.5), rows[2, :1].repeat(len(along)),
                    0.0 * along])  # fmt: skip
    found = survey_road(*np.concatenate([way, rows], axis=1), width=9.0, wave=WAVE)
    assert found.road.closed
    assert found.road.length == pytest.approx(road.length, rel=0.005)
    place = road.locate_many(found.road.table[:, [RoadColumn.X, RoadColumn.Y]], 0)
    assert np.sqrt(np.mean(place[:, 1] ** 2)) < 0.1
    length = found.road.column(RoadColumn.WIDTH_LEFT)
    assert np.abs(length - road.column_at(place[:, 0], RoadColumn.WIDTH_LEFT)).mean() < 0.25


def test_without_a_place_across_the_road_is_the_mean_of_the_rounds():
    road = load_track("pinegrove").road
    s = np.arange(0.0, 2.0 * road.length, 0.2)
    points = road.points(s % road.length, np.where(s < road.length, 1.0, -1.0))
    found = survey_road(*points[:, :3].T, np.full(len(s), math.nan), width=9.0, wave=WAVE)
    place = road.locate_many(found.road.table[:, [RoadColumn.X, RoadColumn.Y]], 0)
    assert np.abs(np.median(place[:, 1])) < 0.05


def test_rounds_of_two_layouts_are_refused():
    """The second round is twice as long: it turns off and comes back."""
    short = 150.0 * np.exp(1j * np.linspace(0.0, 2.0 * math.pi, 4000)) - 150.0
    longer = 300.0 * np.exp(1j * np.linspace(0.0, 2.0 * math.pi, 8000)) - 300.0
    path = np.concatenate([short, longer])
    with pytest.raises(DataError, match="not of one road, expected 943 m each"):
        survey_road(path.real, path.imag, 0.0 * path.real, np.full(len(path), math.nan), width=9.0, wave=WAVE)
