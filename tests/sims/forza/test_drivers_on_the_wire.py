"""The drivers through the real wire, datagrams and pad reports, with the games' pad steering, on the winding road."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.drive_loop import CarLoop, run_loop
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.sims.registry import find
from trailbrake.state import Pose
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track

pytestmark = pytest.mark.slow


class Tracker:
    """A Tap that follows the car along the road until it has gone so far, or left the road."""

    def __init__(self, road, metres):
        self.road, self.metres, self.row = road, metres, -1
        self.rows = []
        self.over = False

    def tick(self, state, controls):
        s, offset, self.row = self.road.locate(state.x, state.y, self.row)
        half = float(self.road.table[self.row, RoadColumn.WIDTH_LEFT])
        self.rows.append((state.time, s, abs(offset), half, state.speed))
        self.over = s > self.metres or abs(offset) > half + 1.0 or state.time > 40.0 + self.metres / 5.0


def drive(name, track, metres, car="hatchback", start=0.0):
    driver, loaded = load_driver(name), load_track(track)
    driver.reset(None)
    tracker, supervisor = Tracker(loaded.road, metres), Supervisor()
    options = DriveFlags(sim="forza", driver=name, track=str(track), car=car)
    with open_connection(make_setup(find("forza"), options.make_spec(), None, [driver]), lambda: False) as connection:
        if start:
            connection.plant.place_car(0, Pose(*loaded.road.points(start, 0.0)[0].tolist()), 15.0)
        run_loop(
            CarLoop(connection.link, driver, supervisor, [tracker], lambda: "" if tracker.over else None),
            connection.pacer,
        )
    assert not supervisor.stop_reason
    return np.array(tracker.rows)


@pytest.mark.parametrize("name", ["lane_keep", "curvature_cut"])
def test_the_mended_ones_pass_the_first_hairpin_with_all_wheels_on_the_road(name):
    rows = drive(name, "serpent_pass", 3450.0, start=1900.0)
    assert rows[-1, 1] > 3450.0
    assert (rows[:, 2] + 0.5 * load_car("hatchback").body.width < rows[:, 3]).all()
    assert rows[:, 4].max() < (18.9 if name == "lane_keep" else 33.6)


def test_the_original_lane_keeper_leaves_the_road_before_it():
    rows = drive("lane_keep_seed", "serpent_pass", 3450.0, start=1900.0)
    assert rows[-1, 2] > rows[-1, 3]
    assert 2000.0 < rows[-1, 1] < 3400.0


def test_the_original_fast_one_leaves_it_in_the_first_bend():
    rows = drive("curvature_cut_seed", "serpent_pass", 3450.0)
    assert rows[-1, 1] < 300.0


@pytest.mark.parametrize("slope", [0.0, 0.06, -0.06])
def test_cruise_holds_its_speed_up_hill_and_down(tmp_path, slope):
    track = tmp_path / "hill.toml"
    track.write_text(
        f"closed = false\nz = 100.0\n[[segment]]\nstraight = 200.0\nz = 100.0\n[[segment]]\nstraight = 900.0\n"
        f"z = {100.0 + 900.0 * slope}\n", "utf-8",
    )  # fmt: skip
    rows = drive("cruise", track, 1000.0)
    settled = rows[rows[:, 1] > 600.0]
    assert len(settled) > 900
    assert np.abs(settled[:, 4] - 20.0).max() < 0.5


def test_75_mph_on_the_motorway_in_the_middle_of_the_road():
    rows = drive("curvature_cut", "northway", 4600.0)  # beyond the tightest bend
    assert rows[-1, 1] > 4600.0
    assert 33.4 < rows[:, 4].max() < 33.9  # 75 mph are 33.53 m/s
    assert (rows[rows[:, 1] > 2200.0, 4] > 33.2).all()
    assert rows[:, 2].max() < 1.0


@pytest.mark.parametrize(("track", "metres"), [("proving_ground", 700.0), ("lakeside", 600.0)])
def test_the_fast_one_is_at_least_as_quick_as_the_40_mph_one(track, metres):
    slow, fast = (drive(name, track, metres) for name in ("lane_keep", "curvature_cut"))
    assert slow[-1, 1] > metres
    assert fast[-1, 1] > metres
    assert fast[-1, 0] <= slow[-1, 0]
    assert max(slow[:, 2].max(), fast[:, 2].max()) < 3.0  # 200 m wide too
