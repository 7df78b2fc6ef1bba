"""The verb around a drive: what it prints where, and its exit codes. The drives themselves are tested in run/."""

import socket

import pytest

from trailbrake.driving.goals import Laps, TimeUp
from trailbrake.driving.session import drive_session
from trailbrake.driving.spec import LiveSite
from trailbrake.sims.registry import find

SUMMARY = {
    "sim": "assetto", "driver": "line_follow", "track": "pinegrove", "car": "gt3", "seed": 0,
    "laps": [{"number": 1, "time_s": 62.5, "valid": True, "sectors_s": [20.0, 20.0, 22.5],
              "invalid_reason": ""},
             {"number": 2, "time_s": 61.0, "valid": False, "sectors_s": [20.0, 20.0, 21.0],
              "invalid_reason": "contact"}],
    "best_s": 62.5, "predicted_s": 60.0, "predicted_from_rest_s": 64.0, "off_track_s": 0.0, "contacts": 1,
    "mean_speed_mps": 30.0, "max_abs_lateral_error_m": float("nan"), "ended": "done", "realtime_factor": 16.0,
    "loop": {"ticks": 5, "overruns": 0}, "recording": "a.mcap", "recording_parts": ["a.mcap"], "recording_error": "",
    "dropped": 0, "stability": None,
    "report": "a.html",
    "driving_log": None, "car_contacts": [], "race": [],
}  # fmt: skip


@pytest.fixture
def fake(monkeypatch):
    """Return fake(**changes): makes drive() answer SUMMARY with changes; returns the list of what it was asked."""

    def make(**changes):
        asked = []

        def drive(setup, *, listener=None, view=None):
            asked.append((setup.spec, view))
            listener.show_message("moving")
            return SUMMARY | changes

        monkeypatch.setattr(drive_session, "run_setup", drive)
        return asked

    return make


def test_json_is_alone_on_stdout(cli, fake):
    fake()
    said = cli("drive", "--json")
    assert said.code == 0
    assert said.object["best_s"] == 62.5
    assert said.object["max_abs_lateral_error_m"] is None
    assert said.err == ["moving"]


def test_people_get_a_table_and_where_things_are(cli, fake):
    fake()
    said = cli("drive")
    assert said.code == 0
    assert "1:02.500" in said.out
    assert "best 1:02.500, planned 1:00.000" in said.out
    assert "recording a.mcap" in said.out
    assert "stability" not in said.out
    fake(stability={"slides": 3})
    assert "stability control on; slides in which it acted: 3\n" in cli("drive").out
    assert "a.html" in said.out
    assert said.err == ["moving"]


def test_flags_become_a_spec(cli, fake):
    asked = fake()
    words = "--track kartwerk --car hatchback --laps 5 --seconds 2.5 --no-report --live --wait 3 --car-index=1"
    assert cli("drive", *words.split(), "--driver", "own.py:Mine", "--out", "some where").code == 0
    spec, _ = asked[0]
    assert (spec.track, spec.car, spec.goal) == ("kartwerk", "hatchback", Laps(5).or_when(TimeUp(2.5, 5)))
    assert (spec.first.driver, spec.keep.out, spec.keep.report) == ("own.py:Mine", "some where", False)
    assert spec.site == LiveSite(options={"car_index": 1, "wait": 3.0})
    assert cli("drive", "--seed", "9", "--speed", "real").code == 0
    assert (asked[1][0].site.seed, asked[1][0].site.speed) == (9, "real")


def test_without_flags_two_laps_of_the_best_there_is(cli, fake):
    asked = fake()
    cli("drive")
    spec = asked[0][0]
    assert (spec.site.sim, spec.goal, spec.is_live) == ("assetto", Laps(2), False)
    assert find(spec.site.sim).default_driver == "line_track"
    assert spec.first.driver == ""  # nobody named


@pytest.mark.parametrize(
    ("ended", "words", "code"),
    [
        ("done", [], 0),
        ("interrupted", [], 130),
        ("interrupted", ["--laps", "0"], 0),
        ("the driver raised ValueError at own.py:3: no", [], 1),
        ("the simulator went silent for 60 s", ["--laps", "0"], 1),
    ],
)
def test_exit_codes_and_the_reason_on_stderr(cli, fake, ended, words, code):
    fake(ended=ended)
    for more in ([], ["--json"]):
        said = cli("drive", *words, *more)
        assert said.code == code
        assert said.err == ["moving"] + ([f"trailbrake: {ended}"] if ended != "done" else [])


def test_a_recording_that_ended_early_is_said_on_stderr(cli, fake):
    fake(recording_error="a.mcap: recording stopped, got No space left on device")
    for more in ([], ["--json"]):
        said = cli("drive", *more)
        assert said.code == 0
        assert said.err[-1].endswith("No space left on device")


def test_a_recording_that_is_gone_is_a_failure(cli, fake):
    fake(recording_error="a.mcap: the file is gone")
    said = cli("drive")
    assert (said.code, said.err[-1]) == (1, "trailbrake: the recording ended early: a.mcap: the file is gone")


def test_an_unknown_simulator_is_refused(cli):
    assert "no such simulator" in cli("drive", "--sim", "nowhere").error


@pytest.mark.slow
def test_a_real_drive_end_to_end(cli, tmp_path):
    said = cli("drive", "--track=kartwerk", "--laps=0", "--seconds=1.5", "--json", f"--out={tmp_path}")
    assert said.code == 0
    assert said.object["ended"] == "done"
    assert said.object["recording"].startswith(str(tmp_path))
    assert any(line.startswith("moving at ") for line in said.err)
    report = cli("report", said.object["recording"], "--json", "--out", tmp_path / "r.html").object
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!")
    assert report == {"recording": said.object["recording"], "report": str(tmp_path / "r.html")}


def test_a_watched_drive_runs_in_real_time_and_says_where_the_page_is(cli, fake):
    asked = fake()
    said = cli("drive", "--watch", "--json")
    ((spec, watch),) = asked
    assert spec.site.speed == "real"
    assert said.err == [f"the page is at {watch.url}", "moving"]
    assert said.object["best_s"] == 62.5


def test_a_drive_that_nobody_watches_has_no_page(cli, fake):
    asked = fake()
    assert "the page" not in "".join(cli("drive").err)
    assert asked[0][0].site.speed == "max"


def test_flags_of_the_page_without_the_page(cli, fake):
    fake()
    assert "add --watch" in cli("drive", "--watch-port", 8000).error


def test_a_taken_port_is_one_line(cli, fake):
    fake()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "cannot serve the page" in cli("drive", "--watch", "--watch-port", taken.getsockname()[1]).error


@pytest.mark.slow
def test_who_drives_by_hand_needs_the_page(cli):
    assert "add --watch" in cli("drive", "--driver", "manual", "--track", "pinegrove").error
