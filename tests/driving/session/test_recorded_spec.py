import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.goals import Laps
from trailbrake.driving.session.drive_inputs import LACKS, list_differences, make_like, read_recorded_drive
from trailbrake.driving.spec import EmbeddedSite, LiveSite, write_spec
from trailbrake.errors import DataError
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording


def record(tmp_path, about):
    recorder = Recorder(tmp_path / "run.mcap")
    recorder.start(about)
    recorder.close()
    return Recording.open(recorder.path)


OLD = {
    "sim": "forza", "live": False, "driver": "line_follow", "track": "kartwerk", "car": "kart", "gain": ["learn=1"],
    "world": ["grip=0.9", "car=gt3"], "seed": 4, "speed": "max", "laps": 3, "trailbrake": "0.2.0",
}  # fmt: skip


def test_a_recording_of_before_is_driven_with_what_it_tells(tmp_path):
    drive = read_recorded_drive(record(tmp_path, OLD))
    spec = drive.spec
    assert (spec.site.sim, spec.site.track, spec.site.car, spec.site.seed) == ("forza", "kartwerk", "gt3", 4)
    assert (spec.first.driver, spec.first.gain, spec.car, spec.goal) == ("line_follow", ("learn=1",), "kart", Laps(3))
    assert (drive.contents, drive.lacks) == (None, LACKS)


def test_a_spec_in_a_recording_is_taken_as_it_is(tmp_path):
    spec = DriveFlags(sim="forza", track="oval", laps=0, seconds=20.0).make_spec()
    drive = read_recorded_drive(record(tmp_path, {"sim": "forza", "driver": "x", "spec": write_spec(spec)}))
    assert drive.spec == spec
    assert drive.lacks


@pytest.mark.parametrize(
    ("about", "said"),
    [({}, "no driver of ours"), ({"sim": "forza", "driver": None}, "no driver of ours"),
     ({"spec": {"version": 9}}, "another version"), ({"spec": {"version": 1, "site": {}, "x": 1}}, "no drive"),
     ({"spec": write_spec(DriveFlags().make_spec()), "inputs": {"contents": 5}}, "cannot be read")],
)  # fmt: skip
def test_what_cannot_be_driven_again_is_one_line(tmp_path, about, said):
    with pytest.raises(DataError, match=said):
        read_recorded_drive(record(tmp_path, about))


def test_a_live_drive_is_driven_again_in_the_embedded_world_unless_live_is_named(tmp_path):
    about = {**OLD, "live": True, "world": ["grip=0.9"]}
    drive = read_recorded_drive(record(tmp_path, about))
    assert isinstance(drive.spec.site, LiveSite)
    site = make_like(drive, live=False).site
    assert site == EmbeddedSite(sim="forza", track="kartwerk", car="kart")
    assert isinstance(make_like(drive, live=True).site, LiveSite)


def test_differences_are_listed_by_place():
    one = write_spec(DriveFlags(driver="line_follow", laps=2).make_spec())
    two = write_spec(DriveFlags(driver="mine.py", laps=3).make_spec())
    assert list_differences(one, two) == ["cars[0].driver: line_follow -> mine.py", "goal.count: 2 -> 3"]
    assert list_differences(one, one) == []
