import pytest
from helpers.socketio_agents import ring

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive
from trailbrake.evaluate.cell_drive import build_spec, drive_cell
from trailbrake.evaluate.plan import Cell


def make_cell(**values):
    return Cell(**({"sim": "assetto", "track": "hartmoor", "car": "gt3", "driver": "line_follow"} | values))


def test_a_driver_gets_what_it_believes_and_the_world_its_own():
    drive = build_spec(make_cell(believed_car="f1", believed_track="oval.csv", condition=("grip=0.9",)))
    assert (drive.car, drive.track) == ("f1", "oval.csv")
    assert (drive.site.car, drive.site.track, drive.site.conditions) == ("gt3", "hartmoor", ("grip=0.9",))
    plain = build_spec(make_cell())
    assert (plain.car, plain.track, plain.site.conditions) == ("gt3", "hartmoor", ())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"driver": "lane_keep"}, "driving_line"),
        ({"believed_car": "missing.toml"}, "missing.toml"),
        ({"believed_car": "unknown"}, "line_follow"),
        ({"sim": "trend", "driver": "lane_sign"}, "miniature"),
    ],
)
def test_what_cannot_be_driven_is_a_result(values, words):
    result = drive_cell(make_cell(**values), None, print)
    assert result.outcome == "error"
    assert words in result.ended


def test_a_drive_of_a_cell_agrees_to_the_millisecond(tmp_path):
    """Finding E1. The first lap begins for both when the driver gets its first state."""
    track = str(ring(tmp_path, straight=40.0, radius=20.0))
    result = drive_cell(make_cell(track=track, car="kart", laps=2), None, print)
    options = DriveFlags(track=track, car="kart", driver="line_follow", laps=2, report=False,
                         out=tmp_path)  # fmt: skip
    driven = [lap["time_s"] for lap in drive(options.make_spec())["laps"]]
    assert [lap.time_s for lap in result.laps] == pytest.approx(driven, abs=1e-3)
