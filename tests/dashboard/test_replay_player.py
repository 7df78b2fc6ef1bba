import numpy as np
import pytest
from helpers import synthetic_drives
from helpers.synthetic_drives import LENGTH, RADIUS, STRAIGHT, record_drive

from trailbrake.coaching.target_laps import TargetCorner, TargetLaps
from trailbrake.dashboard.frame_source import PageRequest
from trailbrake.dashboard.lap_follower import GHOST_INDEX, LapPace
from trailbrake.dashboard.live_coach import LocatedTarget
from trailbrake.dashboard.recorded_frames import RecordedFrames
from trailbrake.dashboard.replay_player import SETTLED_S, ReplayPlayer
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.road import Road


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    path = tmp_path_factory.mktemp("drives") / "drive.mcap"
    record_drive(path, laps=3, rate=50.0)
    return RecordedFrames(Recording.open(path), None)


@pytest.fixture(scope="module")
def stadium():
    """The road of the synthetic drives."""
    s = np.arange(0.0, LENGTH, 2.0)
    x, y, yaw = np.array([synthetic_drives.place(at) for at in s]).T
    bends = np.where(s % (LENGTH / 2) > STRAIGHT, 1.0 / RADIUS, 0.0)
    return Road.from_columns(LENGTH / len(s), True, x, y, np.unwrap(yaw), bends)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def player(frames, clock):
    return ReplayPlayer(frames, clock)


def ask(player, action, *values):
    assert player.execute_request(PageRequest(action, values)) == ""


def test_it_plays_at_its_speed_until_the_end(player, frames, clock):
    clock.now += 2.0
    assert player.position == pytest.approx(2.0)
    ask(player, "speed", 4.0)
    clock.now += 1.0
    assert player.position == pytest.approx(6.0)
    ask(player, "pause")
    clock.now += 50.0
    assert player.position == pytest.approx(6.0)
    ask(player, "play")
    clock.now += 1e4
    assert player.position == frames.duration
    assert not player.describe_controls()["replay"]["playing"]
    ask(player, "play")
    assert player.position == 0.0


def test_the_frame_is_that_of_the_place(player, frames):
    ask(player, "pause")
    ask(player, "seek", 30.0)
    frame = player.make_frame(7, 1, 1234.5)
    row = frames.row_at(30.0)
    assert frame.row[0] == frames.read_row(row)[0][0]
    ask(player, "step", 1.0)
    assert player.make_frame(8, 1, 1234.5).row[0] == frames.read_row(row + 1)[0][0]
    ask(player, "step", -1e6)
    assert player.position == 0.0


def test_pages_receive_path_and_history_when_scrubbing_is_over(player, frames, clock):
    for place in (10.0, 20.0, 40.0):
        ask(player, "seek", place)
        clock.now += 0.01
        player.update()
    assert player.history_count == 0
    clock.now += SETTLED_S
    player.update()
    player.update()
    assert (player.history_count, player.restart_count) == (1, 1)
    width = len(player.make_frame(1, 0, 0.0).row)
    rows = np.frombuffer(player.encode_rows(), "<f8").reshape(-1, width)
    assert rows[-1, 0] == player.make_frame(1, 0, 0.0).row[0]
    assert rows[-1, 0] - rows[0, 0] == pytest.approx(30.0, abs=0.1)
    assert len(player.encode_path()) % 24 == 0


def test_a_loop_comes_back_and_a_place_outside_ends_it(player, clock):
    ask(player, "loop", 10.0, 12.0)
    assert player.position == 10.0
    clock.now += 5.0
    assert player.position == pytest.approx(11.0)
    ask(player, "loop")
    clock.now += 5.0
    assert player.position == pytest.approx(16.0)
    ask(player, "loop", 10.0, 12.0)
    ask(player, "seek", 30.0)
    assert player.describe_controls()["replay"]["loop"] is None


def test_ghosts_of_other_laps_drive_along(player, frames):
    ask(player, "ghosts", 0.0, 2.0)
    ask(player, "pause")
    ask(player, "seek", frames.laps[1].start + 20.0)
    frame = player.make_frame(1, 0, 0.0)
    assert [ghost.index for ghost in frame.others] == [GHOST_INDEX + 1, GHOST_INDEX + 3]
    assert frame.others[0].x == pytest.approx(frames.lap_path(0).ghost_at(20.0).x, abs=2.0)


def test_time_lost_is_that_to_the_best_lap(player, frames):
    ask(player, "pause")
    best = min((lap for lap in frames.laps if lap.valid), key=lambda lap: lap.time_s)
    other = next(lap for lap in frames.laps if lap is not best and lap.valid)
    ask(player, "seek", other.end - 0.1)
    delta = player.make_frame(1, 0, 0.0).row[-len(LapPace.__slots__) + 1]
    assert delta == pytest.approx(other.time_s - best.time_s, abs=0.1)


def test_the_limit_lap_drives_along_and_its_time_and_braking_points_are_shown(frames, stadium, clock):
    s = np.linspace(0.0, LENGTH, 301)
    points = np.array([synthetic_drives.place(at)[:2] for at in s])
    corner = TargetCorner("T1", 0.0, 0.4 * LENGTH, LENGTH, "", {"limit": 0.3 * LENGTH})
    times = {"best": (s / 20.0).tolist(), "ideal": (s / 20.0).tolist(), "limit": (s / 30.0).tolist()}
    target = TargetLaps("stadium", True, s.tolist(), *points.T.tolist(), times, points.tolist(), [corner], None)
    player = ReplayPlayer(RecordedFrames(frames._recording, stadium), clock, stadium, LocatedTarget(stadium, target))
    ask(player, "pause")
    ask(player, "seek", frames.laps[1].start + 10.0)
    frame = player.make_frame(1, 0, 0.0)
    pace = LapPace(*frame.row[-len(LapPace.__slots__) :])
    (ghost,) = frame.others
    assert ghost.x == pytest.approx(synthetic_drives.place(300.0)[0], abs=1.0)
    assert pace.delta_limit == pytest.approx(10.0 - pace.lap_distance / 30.0, abs=0.05)
    assert 0.0 < pace.brake_limit < 0.3 * LENGTH / 10.0
    ask(player, "seek", frames.duration)
    assert np.isnan(LapPace(*player.make_frame(1, 0, 0.0).row[-len(LapPace.__slots__) :]).coach_corner)


@pytest.mark.parametrize(
    ("action", "values"),
    [
        ("seek", ()), ("step", (1e9,)), ("speed", (0.0,)), ("speed", (1e3,)), ("loop", (5.0, 5.0)),
        ("loop", (-1.0, 5.0)), ("loop", (0.0, 1e9)), ("ghosts", (9.0,)), ("ghosts", (0.5,)), ("fly", ()),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_reason(player, action, values):
    before = player.describe_controls()
    assert player.execute_request(PageRequest(action, values))
    assert player.describe_controls() == before


def test_a_place_beyond_the_recording_is_its_end(player, frames):
    ask(player, "seek", 1e12)
    assert player.position == frames.duration
    ask(player, "seek", -5.0)
    assert player.position == 0.0


def test_the_laps_are_described(player, frames):
    described = player.describe_recording()
    assert [lap["number"] for lap in described["laps"]] == [1, 2, 3]
    assert [lap["valid"] for lap in described["laps"]] == [True, False, True]
    assert described["duration"] == frames.duration


def test_the_corners_are_those_of_the_lap_at_this_place(frames, stadium):
    frames = RecordedFrames(frames._recording, stadium)
    player = ReplayPlayer(frames, Clock(), stadium)
    assert "corners" not in player.describe_recording()["laps"][0]
    shown = []
    for lap in frames.laps:
        ask(player, "seek", lap.start + 1.0)
        shown.append(player.describe_controls()["replay"]["corners"])
    assert [corners["lap"] for corners in shown] == [lap.number for lap in frames.laps]
    for corners, lap in zip(shown, frames.laps, strict=True):
        assert sum(corner["time_s"] for corner in corners["corners"]) == pytest.approx(lap.time_s, abs=0.1)
    ask(player, "seek", frames.duration)
    assert player.describe_controls()["replay"]["corners"] is None
