"""The drivers through the real wire, datagrams and pad reports, with the games' pad steering, on the winding road."""

import numpy as np
import pytest

from trailbrake.cars.load import load as load_car
from trailbrake.drivers.load import load as load_driver
from trailbrake.run.connect import connected, for_driver
from trailbrake.run.loop import Seat, run_loop
from trailbrake.run.options import DriveOptions
from trailbrake.run.supervisor import Supervisor
from trailbrake.sims.forza import spec
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.road import Column

pytestmark = pytest.mark.slow


class Tracker:
    """A Tap that follows the car along the road until it has gone so far, or left the road."""

    def __init__(self, road, metres):
        self.road, self.metres, self.row = road, metres, -1
        self.rows = []
        self.over = False

    def tick(self, state, controls):
        s, offset, self.row = self.road.locate(state.x, state.y, self.row)
        half = float(self.road.table[self.row, Column.WIDTH_LEFT])
        self.rows.append((state.time, s, abs(offset), half, state.speed))
        self.over = s > self.metres or abs(offset) > half + 1.0 or state.time > 40.0 + self.metres / 5.0


def drive(name, track, metres, car="hatchback"):
    driver, loaded = load_driver(name), load_track(track)
    driver.reset(None)
    tracker, supervisor = Tracker(loaded.road, metres), Supervisor()
    options = for_driver(DriveOptions(sim="forza", driver=name, track=str(track), car=car), driver)
    with connected(options, spec.LiveOptions(), lambda: False) as connection:
        run_loop(
            Seat(connection.link, driver, supervisor, [tracker], lambda: "" if tracker.over else None),
            connection.pace,
        )
    assert not supervisor.stop_reason
    return np.array(tracker.rows)


@pytest.mark.parametrize("name", ["lane_keep", "curvature_cut"])
def test_the_mended_ones_pass_the_first_hairpin_with_all_wheels_on_the_road(name):
    rows = drive(name, "serpent_pass", 3450.0)
    assert rows[-1, 1] > 3450.0
    assert (rows[:, 2] + 0.5 * load_car("hatchback").body.width < rows[:, 3]).all()
    assert rows[:, 4].max() < (18.9 if name == "lane_keep" else 33.6)


def test_the_original_lane_keeper_leaves_the_road_before_it():
    rows = drive("lane_keep_seed", "serpent_pass", 3450.0)
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
