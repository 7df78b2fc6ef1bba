"""The name of a car's recording: fit for every system, whatever the track and the driver are called."""

import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.car_session import SessionPlan, _make_recorder
from trailbrake.planning.course import UnmappedCourse


@pytest.mark.parametrize(
    ("track", "driver", "name"),
    [
        ("gen:7", "line_follow", "gen-7_gt3_line_follow"),
        ("a/b: c", "mine.py:Fast", "a-b-c_gt3_mine"),
        ("kart", "policy:run 5", "kart_gt3_policy-run-5"),
    ],
)
def test_no_colons_and_no_spaces(tmp_path, track, driver, name):
    options = DriveFlags(track=track, driver=driver, car="gt3", out=tmp_path)
    recorder = _make_recorder(SessionPlan(options.make_spec(), 1, UnmappedCourse(), {"sim": "trend"}), 0)
    recorder.start({})
    recorder.close()
    assert recorder.path.parent == tmp_path
    assert recorder.path.name.startswith(f"{name}_2")
