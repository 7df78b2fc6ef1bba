"""What a drive names is found once, and before anything that takes time."""

import pytest
from helpers.kept_line import CAR, TRACK, keep_line

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session import drive_inputs, drive_setup, line_choice, resolved_drive
from trailbrake.driving.session.drive_inputs import make_like, read_recorded_drive
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.line_choice import MINIMUM_TIME
from trailbrake.driving.session.resolved_drive import resolve_drive
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.sims import registry


@pytest.fixture
def calls(monkeypatch):
    """Return the names of the resolving functions in the order in which they are called."""
    made = []

    def count(module, name):
        function = getattr(module, name)

        def counted(*args, **options):
            made.append(name)
            return function(*args, **options)

        monkeypatch.setattr(module, name, counted)

    count(registry, "find")
    count(drive_setup, "choose_camera")
    count(resolved_drive, "load_car")
    count(resolved_drive, "load_track")
    count(resolved_drive, "make_drivers")
    count(line_choice, "load_line_course")
    count(drive_inputs, "hash_inputs")
    monkeypatch.setattr(resolved_drive, "hash_inputs", drive_inputs.hash_inputs)
    return made


def test_a_drive_finds_each_thing_that_it_names_once(tmp_path, monkeypatch, calls):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    keep_line(1.0)
    spec = DriveFlags(track=TRACK, car=CAR, driver="line_track", seconds=0.1, out=tmp_path, report=False).make_spec()
    summary = drive(spec)
    order = ["find", "choose_camera", "load_car", "load_track", "make_drivers", "load_line_course", "hash_inputs"]
    assert calls == order
    assert summary["line"]["kind"] == MINIMUM_TIME
    calls.clear()
    recorded = read_recorded_drive(Recording.open(summary["recording"]))
    drive(make_like(recorded, live=False), contents=recorded.contents)
    assert calls == order


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": ("rat=3",)}, "--host rat=3"),
        ({"signals": ("nope",)}, "--signals"),
        ({"camera": "nope"}, "--camera"),
        ({"world": ("grp=1",)}, "--world grp=1"),
        ({"sim": "forza", "speed": "real", "pace": "driver"}, "--pace driver"),
    ],
)
def test_what_the_simulator_does_not_have_is_refused_before_a_road_is_loaded(options, said, calls):
    with pytest.raises(UsageError, match=said):
        drive(DriveFlags(**options).make_spec())
    assert "load_track" not in calls
    assert "load_car" not in calls


def test_an_open_road_is_driven_once(tmp_path):
    def count(**names):
        setup = make_setup(registry.find("assetto"), DriveFlags(car=CAR, driver="cruise", **names).make_spec())
        return resolve_drive(setup).about["laps"]

    assert count(track="proving_ground", laps=3) == 1
    assert count(track=TRACK, laps=3) == 3
    assert count(track=TRACK, laps=0) == 0


def test_stability_control_needs_a_car_that_is_known():
    def name(**flags):
        spec = DriveFlags(track="kartwerk", laps=1, **flags).make_spec()
        return resolve_drive(make_setup(registry.find("assetto"), spec)).named

    assert name(driver="speed_hold", car="gt3")[0].stability is None
    assert name(driver="speed_hold", car="gt3", stability=True)[0].stability is not None
    with pytest.raises(UsageError, match="--stability: no stability control"):
        name(driver="speed_hold", car="unknown", world=("car=gt3",), stability=True)
