"""Drives as processes: at once, beside a served world, in real time, killed and interrupted."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import children, command, command_line
from helpers.waiting import wait_for

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.open_connection import make_private_folder, open_connection
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.assetto.spec import LiveOptions
from trailbrake.sims.registry import find

LINUX = Path("/proc/self/task").is_dir()
DRIVE = ["drive", "--json", "--no-report", "--track=pinegrove", "--laps=0"]


def never():
    return False


@pytest.mark.skipif(not LINUX, reason="Windows removes a dead process's pages itself")
def test_folders_of_killed_drives_are_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    for name in ("trailbrake-dead", "trailbrake-young", "trailbrake-bridge"):
        (tmp_path / name).mkdir()
        if name != "trailbrake-bridge":  # of another kind: without the lock
            (tmp_path / name / "trailbrake.owner.lock").touch()
    with make_private_folder() as held:
        for name in ("trailbrake-dead", "trailbrake-bridge", held):
            os.utime(tmp_path / name, (0.0, 0.0))
        with make_private_folder() as other:
            names = {path.name for path in tmp_path.iterdir()}
            assert names == {"trailbrake-young", "trailbrake-bridge", Path(held).name, Path(other).name}


@pytest.mark.parametrize("name", ["lockstep", "twice"])
def test_in_lockstep_doors_are_private_and_gone_afterwards(tmp_path, monkeypatch, name):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    options = DriveFlags(track="kartwerk")
    with open_connection(make_setup(find("assetto"), options.make_spec()), never) as one:
        folders = list(tmp_path.iterdir())
        assert len(folders) == 1
        state = one.link.read(one.pacer.wait_for_sample(one.link))
        assert state.speed == pytest.approx(0.0, abs=0.05)
        if name == "twice":
            with open_connection(make_setup(find("assetto"), options.make_spec()), never) as two:
                assert len(list(tmp_path.iterdir())) == 2
                before = two.link.read(two.pacer.wait_for_sample(two.link)).sequence
                one.pacer.wait_for_sample(one.link)
                assert two.link.read(0.0).sequence == before, "the one's steps move the other's world"
    assert one.host_report["messages_out"] > 0
    assert list(tmp_path.iterdir()) == []


def test_doors_are_closed_when_the_body_raises(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    with (
        pytest.raises(ZeroDivisionError),
        open_connection(make_setup(find("assetto"), DriveFlags(track="kartwerk").make_spec(), LiveOptions()), never),
    ):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_no_simulator_is_one_line_and_asking_to_stop_ends_the_wait(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    with (
        pytest.raises(SimulatorError, match="car 0 is not published"),
        open_connection(make_setup(find("assetto"), DriveFlags(live=True).make_spec(), LiveOptions(wait=0.05)), never),
    ):
        pass
    answers = iter([False, False, True])
    with (
        pytest.raises(KeyboardInterrupt),
        open_connection(
            make_setup(find("assetto"), DriveFlags(live=True).make_spec(), LiveOptions(wait=60.0)),
            lambda: next(answers),
        ),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_for_pages_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path / "gone"))
    options = DriveFlags(track="kartwerk", car="hatchback")
    with (
        pytest.raises(UsageError, match=r"gone: cannot make a folder for the pages: .*TRAILBRAKE_SHM"),
        open_connection(make_setup(find("assetto"), options.make_spec()), lambda: False),
    ):
        pass


@pytest.mark.slow
def test_in_real_time_the_host_is_a_process_and_reports(tmp_path):
    words = [*DRIVE, "--speed=real", "--seconds=2", f"--out={tmp_path / 'out'}"]
    with command(*words, shm=tmp_path) as drive:
        assert drive.end() == 0
        summary = drive.summary
    assert summary["ended"] == "done"
    assert 0.5 < summary["realtime_factor"] < 1.3
    assert summary["loop"]["ticks"] + summary["link"]["lost"] == pytest.approx(2 * 333, rel=0.1)
    assert summary["host"]["sim"] == "assetto"
    assert summary["host"]["loop"]["ticks"] >= summary["loop"]["ticks"]
    assert summary["dropped"] == 0
    assert len(Recording.open(summary["recording"])) == summary["loop"]["ticks"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="looks for the child in /proc")
def test_a_killed_host_ends_the_drive_and_nothing_recorded_is_lost(tmp_path):
    with command(*DRIVE, "--speed=real", f"--out={tmp_path / 'out'}", shm=tmp_path) as drive:
        drive.until("moving at ")
        (host,) = (child for child in children(drive.process.pid) if "serve" in command_line(child))
        os.kill(host, signal.SIGKILL)
        assert drive.end(20.0) == 1
        assert drive.said[-1] == "trailbrake: the host process ended, exit code -9"
        summary = drive.summary
    assert summary["ended"] == "the host process ended, exit code -9"
    assert summary["supervisor"]["stale"] == 1
    assert summary["host"] == {}
    recording = Recording.open(summary["recording"])
    assert len(recording) == summary["loop"]["ticks"] > 0
    assert recording.events[-1].text == summary["ended"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("laps", "ask", "code", "speed"),
    [(2, signal.SIGINT, 130, "max"), (2, signal.SIGTERM, 130, "real"), (0, signal.SIGINT, 0, "real")],
)
def test_a_signal_brakes_the_car_first(tmp_path, laps, ask, code, speed):
    words = ["drive", "--json", "--no-report", "--track=kartwerk", f"--laps={laps}", f"--speed={speed}"]
    with command(*words, f"--out={tmp_path / 'out'}", shm=tmp_path) as drive:
        drive.until("moving at ")
        drive.process.send_signal(ask)
        assert drive.end() == code
        assert drive.said[-1] == "trailbrake: interrupted"
        summary = drive.summary
    assert summary["ended"] == "interrupted"
    recording = Recording.open(summary["recording"])
    assert recording.state["speed"][-1] < 0.3
    assert recording.controls["brake"][-1] >= 0.6
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
def test_two_drives_and_a_served_world_do_not_meet(tmp_path):
    short = [*DRIVE, "--seconds=3"]
    with command("serve", "assetto", "--track=kartwerk", "--json", shm=tmp_path) as serve:
        serve.until("ready ")
        with (
            command(*short, f"--out={tmp_path / 'a'}", shm=tmp_path) as a,
            command(*short, f"--out={tmp_path / 'b'}", shm=tmp_path) as b,
        ):
            assert (a.end(), b.end()) == (0, 0)
            one, two = a.summary, b.summary
        serve.process.send_signal(signal.SIGTERM)
        assert serve.end() == 0
        assert serve.summary["messages_in"] == 0
    assert one["loop"]["ticks"] == two["loop"]["ticks"]
    assert one["mean_speed_mps"] == two["mean_speed_mps"] > 5.0


@pytest.mark.slow
def test_a_live_drive_of_a_served_world_and_a_second_one_is_refused(tmp_path):
    live = ["drive", "--live", "--json", "--no-report", "--track=pinegrove", "--laps=0"]
    with command("serve", "assetto", "--track=pinegrove", "--json", shm=tmp_path) as serve:
        serve.until("ready ")
        with command(*live, "--wait=20", f"--out={tmp_path / 'a'}", shm=tmp_path) as drive:
            drive.until("moving at ")
            with command(*live, "--wait=2", f"--out={tmp_path / 'b'}", shm=tmp_path) as second:
                assert second.end() == 2
                assert second.said[-1].startswith("trailbrake: ")
                assert "car 0 is driven already by another trailbrake" in second.said[-1]
                assert not any("Traceback" in line for line in second.said)
            drive.process.send_signal(signal.SIGINT)
            assert drive.end() == 0
        with command(*live, "--wait=20", "--seconds=1", f"--out={tmp_path / 'c'}", shm=tmp_path) as again:
            assert again.end() == 0, "a car that was given back can be taken again"
        serve.process.send_signal(signal.SIGTERM)
        assert serve.end() == 0
        assert serve.summary["messages_in"] > 300


@pytest.mark.slow
def test_waiting_for_a_simulator_ends_at_ctrl_c(tmp_path):
    with command("drive", "--live", "--track=kartwerk", "--car=gt3", f"--out={tmp_path / 'a'}", shm=tmp_path) as drive:
        wait_for(lambda: any("CarControls" in path.name for path in tmp_path.iterdir()))  # it waits from then on
        drive.process.send_signal(signal.SIGINT)
        assert drive.end(20.0) == 130
        assert drive.said[-1] == "trailbrake: interrupted"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="limits the size of files")
def test_a_full_disk_costs_neither_the_drive_nor_what_was_recorded(tmp_path):
    code = (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
        "from trailbrake.cli.main import main\nmain()"
    )
    words = ["drive", "--json", "--track=kartwerk", "--laps=0", "--seconds=4", f"--out={tmp_path}"]
    said = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    summary = json.loads(said.stdout)
    assert (said.returncode, summary["ended"]) == (0, "done")
    assert summary["loop"]["ticks"] == pytest.approx(4 * 333, abs=2)
    assert "recording stopped" in summary["recording_error"]
    assert said.stderr.splitlines()[-1] == f"trailbrake: the recording ended early: {summary['recording_error']}"
    assert "Traceback" not in said.stderr
    assert 0 < len(Recording.open(summary["recording"])) == summary["loop"]["ticks"] - summary["dropped"]
