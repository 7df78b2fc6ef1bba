"""Whole drives in this process, in lockstep, a few seconds each."""

import errno
import json
import math
import pickle
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.driver_files import write_driver
from helpers.synthetic_drives import record_drive
from msgspec import structs

from trailbrake import record
from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import Uncertainty
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session import driver_choice
from trailbrake.driving.session.drive_session import DriveResult, drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.driver_choice import choose_default_driver
from trailbrake.driving.session.progress import SilentListener
from trailbrake.driving.session.resolved_drive import find_course
from trailbrake.errors import DriverError, UsageError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.registry import find
from trailbrake.tracks.track_library import load_track

pytestmark = pytest.mark.slow

SHORT = DriveFlags(track="pinegrove", laps=0, seconds=3.0, report=False)


@pytest.fixture
def own(tmp_path):
    """Return own(body): a driver file whose act() is `body`."""

    return lambda body: str(write_driver(tmp_path / "own.py", body, needs='{"x", "speed"}'))


class Listener(SilentListener):
    def __init__(self):
        self.said, self.laps, self.shares = [], [], []

    def show_message(self, text):
        self.said.append(text)

    def show_lap(self, lap):
        self.laps.append(lap)

    def show_progress(self, share_done, state, lap):
        self.shares.append(share_done)


@pytest.fixture(scope="module")
def lap(tmp_path_factory):
    """One lap with everything on, and what was said."""
    heard = Listener()
    options = DriveFlags(track="kartwerk", car="gt3", laps=1, seed=4, out=tmp_path_factory.mktemp("lap"))
    return drive(options.make_spec(), listener=heard), heard


def learned_car(laps=0):
    deviations = dict.fromkeys(("lateral_grip", "braking", "drive_force", "downforce", "steer_angle", "delay"), 0.02)
    return structs.replace(load_car("gt3"), uncertainty=Uncertainty(source="test", verified_laps=laps, **deviations))


@pytest.mark.parametrize(
    ("sim", "course", "expected"),
    [
        ("assetto", lambda: Course(load_track("kartwerk"), load_car("gt3")), "line_track"),
        ("assetto", lambda: Course(load_track("kartwerk"), learned_car()), "line_follow"),
        ("forza", lambda: Course(load_track("kartwerk"), learned_car()), "line_follow"),
        ("forza", lambda: Course(load_track("kartwerk"), learned_car(laps=2)), "line_track"),
        ("forza", lambda: Course(load_track("kartwerk"), None), "policy:any"),
        ("forza", UnmappedCourse, "lane_keep"),
        ("beamng", UnmappedCourse, "line_track"),  # refused there, with advice
        ("donkeycar", lambda: Course(load_track("kartwerk"), learned_car()), "lane_pid"),
        ("donkeycar", lambda: Course(load_track("kartwerk"), None), "lane_pid"),
    ],
)
def test_the_driver_that_nobody_names(sim, course, expected):
    assert choose_default_driver(find(sim), course()) == expected


def test_the_summary_has_what_was_promised(lap):
    summary, _ = lap
    promised = {
        "sim", "driver", "track", "car", "seed", "laps", "best_s", "off_track_s", "contacts", "mean_speed_mps",
        "max_abs_lateral_error_m", "loop", "link", "recording", "report",
    }  # fmt: skip
    assert promised <= set(summary)
    assert {"number", "time_s", "valid"} <= set(summary["laps"][0])
    assert {"ticks", "p50_us", "p99_us", "p999_us", "overruns"} <= set(summary["loop"])
    assert {"received", "lost", "stale", "resyncs"} <= set(summary["link"])
    json.dumps(summary)


def test_a_lap_is_driven_and_scored(lap):
    summary, heard = lap
    assert (summary["sim"], summary["track"], summary["car"], summary["seed"]) == ("assetto", "kartwerk", "gt3", 4)
    assert summary["ended"] == "done"
    assert [one["valid"] for one in summary["laps"]] == [True]
    assert summary["best_s"] == summary["laps"][0]["time_s"] == pytest.approx(sum(heard.laps[0].sectors_s))
    assert summary["predicted_s"] < summary["best_s"] < 1.2 * summary["predicted_from_rest_s"]
    assert summary["off_track_s"] == summary["contacts"] == 0
    assert summary["link"]["lost"] == summary["link"]["stale"] == summary["link"]["torn"] == 0
    assert summary["link"]["received"] == summary["loop"]["ticks"]
    assert summary["loop"]["ticks"] / 333.0 == pytest.approx(summary["best_s"], abs=0.1)
    assert set(summary["supervisor"].values()) == {0}
    assert summary["host"]["rejected"] == 0


def test_those_who_watch_are_told(lap):
    _, heard = lap
    assert heard.said[-1].startswith("moving at 0.")
    assert [one.number for one in heard.laps] == [1]
    assert heard.shares == sorted(heard.shares)
    assert 0.0 <= heard.shares[0] < heard.shares[-1] <= 1.0


def test_the_first_compilation_is_announced(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_choice, "CACHE_IS_COLD", True)
    heard = Listener()
    drive(DriveFlags(track="kartwerk", seconds=0.1, out=tmp_path, report=False).make_spec(), listener=heard)
    assert heard.said[0].startswith("compiling kernels")


def test_a_first_start_goes_on_where_a_rehearsal_fails(tmp_path, monkeypatch):
    own = tmp_path / "own.py"
    own.write_text(
        "from trailbrake.drivers.line_follow import Driver as Follow\n\n"
        "class Driver(Follow):\n    def rehearse(self, state, dt):\n        raise ValueError('not today')\n"
    )
    monkeypatch.setattr(driver_choice, "CACHE_IS_COLD", True)
    summary = drive(DriveFlags(track="kartwerk", driver=str(own), seconds=0.1, out=tmp_path, report=False).make_spec())
    assert summary["ended"] == "done"


def test_the_recording_and_the_report_hold_the_drive(lap):
    summary, _ = lap
    recording = Recording.open(summary["recording"])
    assert len(recording) == summary["loop"]["ticks"]
    assert not recording.truncated
    assert [one.time_s for one in recording.laps] == [summary["best_s"]]
    assert recording.road_map.closed
    assert len(recording.plan.speed) > 500
    assert (summary["recording_error"], summary["dropped"]) == ("", 0)
    page = Path(summary["report"]).read_text(encoding="utf-8")
    assert "Kartwerk".lower() in page.lower()


def test_seconds_end_a_drive(tmp_path):
    summary = drive(replace(SHORT, seconds=1.5, out=tmp_path).make_spec())
    assert (summary["ended"], summary["laps"], summary["best_s"], summary["report"]) == ("done", [], None, None)
    assert summary["loop"]["ticks"] == pytest.approx(1.5 * 333, abs=2)


def test_an_open_road_ends_after_one_run_however_many_laps(tmp_path):
    (tmp_path / "road.toml").write_text(
        "closed = false\n[[segment]]\nstraight = 120\n[[segment]]\nradius = 80\nturn = 60\n[[segment]]\nstraight = 90\n"
    )
    options = DriveFlags(sim="forza", track=str(tmp_path / "road.toml"), car="hatchback", out=tmp_path, report=False,
                         seconds=60.0)  # fmt: skip
    for laps in (3, 0):
        summary = drive(replace(options, laps=laps).make_spec())
        assert summary["ended"] == "done"
        assert [lap["valid"] for lap in summary["laps"]] == [True]
        assert summary["loop"]["ticks"] < 30 * 60
        assert summary["contacts"] == 0


def test_a_driver_that_needs_what_the_simulator_has_not_is_refused_before_anything_moves(own, tmp_path):
    path = own("return Controls()")
    Path(path).write_text(Path(path).read_text().replace('{"x", "speed"}', '{"x", "line_ahead", "image"}'))
    with pytest.raises(
        UsageError, match="needs what assetto does not supply: image, line_ahead; no simulator"
    ) as caught:
        drive(replace(SHORT, driver=path, out=tmp_path / "out").make_spec())
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_broken_driver_stops_the_car_and_is_recorded(own, tmp_path):
    driver = own("return 1 / 0 if state.time > 1.5 else Controls(throttle=0.7)")
    summary = drive(replace(SHORT, driver=driver, seconds=0, out=tmp_path).make_spec())
    assert summary["ended"].startswith(f"the driver raised ZeroDivisionError at {driver}:7: ")
    recording = Recording.open(summary["recording"])
    assert recording.state["speed"].max() > 5.0
    assert recording.state["speed"][-1] < 0.3
    assert [event.text for event in recording.events] == [summary["ended"]]


def test_a_driver_whose_reset_raises_is_named_with_its_line(own, tmp_path):
    path = own("return Controls()")
    Path(path).write_text(Path(path).read_text().replace("        pass", "        course.lines"))
    with pytest.raises(DriverError) as caught:
        drive(replace(SHORT, driver=path, out=tmp_path).make_spec())
    assert str(caught.value).startswith(f"{path}:5: reset() raised AttributeError: ")


def test_a_disk_that_fills_up_ends_the_recording_and_not_the_drive(tmp_path, monkeypatch):
    create, room = record.recorder.create_file, 200_000

    class Disk:
        def __init__(self, stream):
            self.stream, self.left = stream, room

        def write(self, data):
            fits = min(len(data), self.left)
            self.left -= fits
            if not fits:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.stream.write(bytes(data)[:fits])

        def __getattr__(self, name):
            return getattr(self.stream, name)

    def small_disk(path):
        stream, got = create(path)
        return Disk(stream), got

    monkeypatch.setattr(record.recorder, "create_file", small_disk)
    summary = drive(replace(SHORT, seconds=6.0, out=tmp_path, report=True).make_spec())
    assert summary["ended"] == "done"
    assert summary["loop"]["ticks"] == pytest.approx(6 * 333, abs=2)
    assert "No space left on device" in summary["recording_error"]
    recording = Recording.open(summary["recording"])
    assert 0 < len(recording) == summary["loop"]["ticks"] - summary["dropped"]
    assert recording.truncated
    assert summary["report"]


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be removed there")
def test_a_recording_whose_folder_vanishes_is_said(tmp_path):
    folder = tmp_path / "out"
    vanish = Listener()
    vanish.show_message = lambda text: shutil.rmtree(folder, ignore_errors=True) if text.startswith("moving") else None
    summary = drive(replace(SHORT, out=folder).make_spec(), listener=vanish)
    assert summary["ended"] == "done"
    assert summary["recording_error"] == f"{summary['recording']}: the file is gone"


def test_a_report_that_cannot_be_written_does_not_cost_the_summary(tmp_path, monkeypatch):
    def full(recording, out):
        raise UsageError("cannot write the report", where=str(out), got="No space left on device")

    monkeypatch.setattr("trailbrake.analysis.report.write_report", full)
    heard = Listener()
    summary = drive(replace(SHORT, seconds=1.0, report=True, out=tmp_path).make_spec(), listener=heard)
    assert (summary["ended"], summary["report"]) == ("done", None)
    assert heard.said[-1].startswith("no report: ")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot create the recording") as caught:
        drive(replace(SHORT, out=tmp_path / "file").make_spec())
    assert "\n" not in str(caught.value)
    assert math.isfinite(
        drive(replace(SHORT, seconds=0.5, out=tmp_path / "new" / "folder").make_spec())["mean_speed_mps"]
    )


def test_a_track_and_a_car_of_one_s_own_by_file(tmp_path):
    ring = [(60 * math.cos(k * math.tau / 90), 60 * math.sin(k * math.tau / 90)) for k in range(90)]
    track = tmp_path / "my ring.csv"
    track.write_text("# x_m,y_m,w_tr_right_m,w_tr_left_m\n" + "".join(f"{x:.3f},{y:.3f},5.0,5.0\n" for x, y in ring))
    summary = drive(DriveFlags(track=str(track), laps=1, out=tmp_path / "out", report=False).make_spec())
    assert [lap["valid"] for lap in summary["laps"]] == [True]
    assert "my-ring" in summary["recording"]


def test_a_random_circuit_in_the_wet_is_driven_cleanly_and_slower(tmp_path):
    options = DriveFlags(sim="forza", laps=0, seconds=25.0, report=False, out=tmp_path)
    dry, wet = (drive(replace(options, track=f"gen:3{where}").make_spec()) for where in ("", "@wet=0.5"))
    for summary in (dry, wet):
        assert (summary["off_track_s"], summary["contacts"]) == (0.0, 0)
        assert ":" not in Path(summary["recording"]).name
    assert 1.2 * wet["mean_speed_mps"] < dry["mean_speed_mps"]  # sqrt(2) in bends, less on the straights


@pytest.mark.parametrize(("sim", "driver"), [("assetto", "convoy"), ("beamng", "line_follow")])
def test_several_cars_have_a_recording_and_a_score_each(sim, driver, tmp_path):
    options = replace(SHORT, sim=sim, track="kartwerk", car="kart", driver=driver, cars=3, out=tmp_path)
    summary = drive(options.make_spec())
    assert summary["ended"] == "done"
    assert [car["number"] for car in summary["others"]] == [1, 2]
    assert [car["ended"] for car in summary["others"]] == ["done", "done"]
    cars = (summary, *summary["others"])
    assert not any(car["contacts"] > 0 for car in cars)  # beamng: NaN
    assert all(car["mean_speed_mps"] > 1.0 and car["laps"] == [] for car in cars)
    recordings = [Recording.open(car["recording"]) for car in cars]
    assert len({recording.state["x"][0] for recording in recordings}) == 3  # from three places of the grid
    assert recordings[2].about["number"] == 2


def test_a_race_has_its_grid_and_its_order_in_the_summary(own, tmp_path):
    driver = own("return Controls(throttle=0.4)")
    options = replace(SHORT, driver=driver, cars=3, grid="rolling:2,1,0", seconds=1.5, out=tmp_path)
    summary = drive(options.make_spec())
    assert [row["position"] for row in summary["race"]] == [1, 2, 3]
    assert summary["race"][2]["car"] == 0  # from the second row
    assert summary["race"][2]["laps_down"] == 0
    assert Recording.open(summary["recording"]).state["speed"][0] > 15.0


def test_a_contact_of_two_cars_is_in_the_summary_and_in_both_recordings(own, tmp_path):
    """Car 1 stands 8 m behind car 0, which brakes, and rams it."""
    driver = own("return Controls(throttle=0.5) if state.x < -1.0 else Controls(brake=1.0)")
    summary = drive(replace(SHORT, driver=driver, cars=2, seconds=4.0, out=tmp_path).make_spec())
    (contact,) = summary["car_contacts"]
    assert (contact["first"], contact["second"]) == (0, 1)
    assert contact["closing_mps"] > 2.0
    assert contact["impulse_ns"] > 1000.0
    for other, car in enumerate((summary["others"][0], summary)):
        recording = Recording.open(car["recording"])
        (event,) = [event for event in recording.events if "contact" in event.text]
        touched = recording.state["time"][recording.state["contact_depth"] > 0.0]  # on the clock of this car's wire
        assert event.time == pytest.approx(touched[0], abs=1e-6)
        assert event.text.startswith(f"contact with car {other} at s ")
    assert contact["time_s"] == pytest.approx(event.time, abs=1e-6)
    assert contact["end_s"] > contact["time_s"]
    assert Path(summary["others"][0]["recording"]).stem == Path(summary["recording"]).stem + "_car1"


def test_cars_through_a_wire_that_has_one(monkeypatch):
    with pytest.raises(UsageError, match="a drive needs a car"):
        drive(replace(SHORT, cars=0).make_spec())


def test_an_interrupt_while_it_plans_ends_it_before_the_car_moves(tmp_path):
    reset = "import signal; signal.raise_signal(signal.SIGINT); open(__file__ + '.done', 'w').close()"
    own = write_driver(tmp_path / "own.py", "raise AssertionError", reset=reset)
    options = DriveFlags(driver=str(own), track="kartwerk", car="kart", out=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        drive(options.make_spec())
    assert (tmp_path / "own.py.done").exists()  # it was not broken off inside
    assert not list(tmp_path.glob("*.mcap"))


@pytest.mark.parametrize("sim", ["udacity_mpc", "donkeycar", "forza", "beamng"])
def test_a_live_drive_has_a_map_only_where_one_is_named(sim):
    def course(**options):
        spec = DriveFlags(sim=sim, **options).make_spec()
        return find_course(make_setup(find(sim), spec), lambda: False, print)[1]

    assert isinstance(course(live=True), UnmappedCourse)
    assert course(live=True, track="lakeside", car="hatchback").track.name == "lakeside"
    assert course(live=True, track="lakeside").car is None
    assert course(live=True, car="hatchback").car.name == "hatchback"
    assert course().track.name in ("lakeside", "hartmoor")  # the embedded world's


LAP = {"number": 1, "time_s": 62.5, "valid": True}


def made(path):
    return DriveResult(driver="<b>", car="kart", track=None, laps=[LAP], ended="off the road", recording=str(path))


def test_a_notebook_shows_the_laps_and_escapes_names():
    shown = made("a/run.mcap")._repr_html_()
    assert "<td>1:02.500</td>" in shown
    assert "&lt;b&gt;, kart" in shown
    assert "off the road" in shown
    assert "run.mcap" in shown
    assert "<svg" not in shown, "the file is not there"


def test_a_result_has_its_recording_with_laps_and_a_picture(tmp_path):
    result = made(record_drive(tmp_path / "run.mcap", rate=40.0).path)
    best = result.laps.best()
    assert best is result.recording.laps.best()
    assert Path(result.recording).is_file(), "a recording is a path to its file"
    assert len(best.telemetry()["speed"]) == best.row - best.first
    shown = result._repr_html_()
    assert shown.count("<svg") == 2
    assert f"path of lap {best.number}" in shown
    assert pickle.loads(pickle.dumps(result)).recording.path == result.recording.path
    pytest.importorskip("pandas", exc_type=ImportError)
    assert len(result.to_pandas()) == len(result.recording)
