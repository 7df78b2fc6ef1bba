"""What a live drive finds out by itself, on pages and files made for it."""

import math
import sys

import msgspec
import numpy as np
import pytest
from helpers.assetto.foreign_pages import let_go, pages

from trailbrake.cars.car_library import load_car
from trailbrake.errors import DataError, SimulatorError, UsageError
from trailbrake.sims.assetto import codec, session_detection, spec
from trailbrake.sims.assetto.install import content, lane_conversion
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.shm import SharedMemory

TRACK, CAR = "hartmoor", "ks_car"


@pytest.fixture
def root(tmp_path):
    """An installation with one track and one car, as a served world makes it."""
    track, car = load_track(TRACK), msgspec.structs.replace(load_car("gt3"), name=CAR)
    content.write_content(tmp_path / "game", track, car, lane_conversion.lane_from_line(track))
    return tmp_path / "game"


@pytest.fixture(autouse=True)
def all_let_go():
    yield
    let_go()


def publish(folder, *, static=None, status=acpmf.LIVE, steps=5000):
    folder.mkdir(exist_ok=True)
    told = {"car_model": CAR, "track": TRACK, "num_cars": 2, "max_rpm": 8700} | (static or {})
    there = pages(folder)
    (there / "acpmf_static").write_bytes(acpmf.encode_static(acpmf.Static(**told)).ljust(2048, b"\0"))
    graphics = acpmf.Graphics(status=status, session=3, completed_laps=2, i_last_time=65432, i_best_time=0)
    (there / "acpmf_graphics").write_bytes(acpmf.encode_graphics(graphics).ljust(2048, b"\0"))
    (there / "acpmf_physics").write_bytes(acpmf.encode_physics(acpmf.Physics(packet_id=steps)).ljust(2048, b"\0"))
    return folder


def detect(doors, root=None, *, track=True, car=True, wait=1.0, clock=None):
    said = []
    now = iter(np.arange(0.0, 1000.0, 0.1)) if clock is None else clock
    options = spec.LiveOptions(root=root, wait=wait)
    return session_detection.detect_session(
        options, track=track, car=car, idle=lambda: float(next(now)), say=said.append, doors=doors
    ), said


def test_the_game_s_track_and_car(tmp_path, root):
    found, said = detect(publish(tmp_path / "shm"), root)
    was = load_track(TRACK).road
    assert found.track.name == TRACK
    assert found.track.road.length == pytest.approx(was.length, rel=1e-3)
    assert found.track.source.endswith("fast_lane.ai")
    assert found.car.name == CAR
    assert found.car.body.mass == 1345.0
    assert found.live.shifts == "game"  # its gears are a guess
    assert said[0] == "the game: ks_car on hartmoor, hotlap"
    assert said[1].startswith("track by ")
    assert "a careful guess is grip, gearbox, top speed; the game shifts" in said[2]
    if sys.platform != "win32":
        assert (tmp_path / "shm" / "acpmf_static").stat().st_size == 2048  # a bridge's file stays as it is


def test_a_car_of_ours_is_known_better(tmp_path, root):
    found, said = detect(publish(tmp_path / "shm", static={"car_model": "kart"}), root)
    assert found.car == load_car("kart")
    assert found.live.shifts == "driver"
    assert said[2] == "car kart: a car of our own"


def test_only_what_is_wanted(tmp_path, root):
    doors = publish(tmp_path / "shm")
    assert detect(doors, root, track=False)[0].track is None
    assert detect(doors, root, car=False)[0].car is None
    found, said = detect(doors, root, track=False, car=False)
    assert (found.track, found.car, said) == (None, None, [])


def test_a_layout_and_another_case(tmp_path, root):
    (root / "content/tracks/hartmoor").rename(root / "content/tracks/HartMoor")
    (root / "content/tracks/HartMoor/GP").mkdir()
    (root / "content/tracks/HartMoor/ai").rename(root / "content/tracks/HartMoor/GP/ai")
    found, _ = detect(publish(tmp_path / "shm", static={"track_configuration": "gp"}), root)
    assert found.track.name == "hartmoor-gp"


def test_tracks_of_ours_need_no_files(tmp_path, monkeypatch):
    monkeypatch.setattr("trailbrake.sims.assetto.install.installation._steam_folders", lambda home: [])
    monkeypatch.delenv("TRAILBRAKE_ASSETTO", raising=False)
    found, said = detect(publish(tmp_path / "shm", static={"car_model": "gt3"}))
    assert found.track.road.length == load_track(TRACK).road.length
    assert said[1:] == ["track hartmoor: a track of our own", "car gt3: a car of our own"]


def test_what_is_missing_is_named(tmp_path, root, monkeypatch):
    doors = publish(tmp_path / "shm", static={"track": "imola"})
    with pytest.raises(DataError, match=r"imola.ai.fast_lane.ai: the track's line is needed .*, got no such file"):
        detect(doors, root)
    with pytest.raises(UsageError, match=r"--root .*: no Assetto Corsa here"):
        detect(doors, tmp_path / "elsewhere")
    monkeypatch.setattr("trailbrake.sims.assetto.install.installation._steam_folders", lambda home: [])
    with pytest.raises(DataError, match=r"got the game's folder is not known; name the game's folder by --root"):
        detect(doors)
    (root / "content/cars/ks_car/ui/ui_car.json").unlink()
    with pytest.raises(DataError, match=r"ui_car.json: the car's description is needed to drive it, got no such file"):
        detect(publish(tmp_path / "shm"), root)


def test_a_host_without_the_game_s_own_pages_names_nothing(tmp_path):
    page = SharedMemory(tmp_path).create_page(spec.public_name(0), size=codec.PUBLIC_SIZE)
    found, said = detect(tmp_path)
    page.close(remove=True)
    assert (found.track, found.car) == (None, None)
    assert said == ["no acpmf_static names the track and the car"]


def test_it_waits_for_a_game_to_come(tmp_path):
    with pytest.raises(SimulatorError, match=r"acpmf_static: no game is there, expected a session within 1 s"):
        detect(tmp_path)


def test_it_waits_for_the_session_to_run_and_to_settle(tmp_path, root):
    doors = publish(tmp_path / "shm", status=acpmf.OFF)
    looks = 0

    def clock():
        nonlocal looks
        while True:
            yield 0.1 * looks
            looks += 1
            if looks == 5:
                publish(doors, status=acpmf.LIVE, steps=13)
            if looks == 8:
                publish(doors, steps=700)

    _, said = detect(doors, root, wait=5.0, clock=clock())
    assert said[0] == "waiting for the session: the game is in status off"
    assert said[1].startswith("the game: ")
    assert looks == 8


@pytest.mark.parametrize(
    ("status", "steps", "message"),
    [
        (acpmf.PAUSE, 5000, "acpmf_graphics: no running session: the game is in status pause, expected status live"),
        (acpmf.LIVE, 13, "no running session: the game is just beginning"),
        (77, 5000, "the game is in status 77"),
    ],
)
def test_a_session_that_does_not_come(tmp_path, status, steps, message):
    with pytest.raises(SimulatorError, match=message):
        detect(publish(tmp_path / "shm", status=status, steps=steps))


def test_what_the_game_says_when_it_is_over(tmp_path):
    told = session_detection.report_session(publish(tmp_path / "shm"))
    assert told["session"] == "hotlap"
    assert (told["track"], told["car"], told["cars"], told["completed_laps"]) == ("hartmoor", "ks_car", 2, 2)
    assert told["last_lap_s"] == pytest.approx(65.432)
    assert math.isnan(told["best_lap_s"])
    assert session_detection.report_session(tmp_path) == {}
