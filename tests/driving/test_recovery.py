"""Kill -9 in mid-corner, of the one end and of the other: who is left notices, says so, and goes on with the next."""

import signal
import struct
import sys

import pytest
from helpers.processes import command
from helpers.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="kill -9")]
SERVE = ["serve", "assetto", "--track=pinegrove", "--no-classic"]
DRIVE = ["drive", "--live", "--track=pinegrove", "--car=gt3", "--laps=0", "--no-report"]


def wait_for_speed(folder, speed):
    """Wait until the page that the game publishes for all says so, m/s: by its document km/h at byte 16."""
    page = folder / "AcTools.CSP.NewBehaviour.CustomAI.CarPublic0.v0"
    wait_for(lambda: page.exists() and struct.unpack_from("<f", page.read_bytes(), 16)[0] > 3.6 * speed)


def test_the_host_is_killed(tmp_path):
    with command(*SERVE, shm=tmp_path) as host:
        host.until("ready ")
        with command(*DRIVE, "--json", f"--out={tmp_path}", shm=tmp_path) as drive:
            drive.until("moving at ")
            wait_for_speed(tmp_path, 10.0)
            host.process.kill()
            drive.until("the simulator has gone silent")
            with command(*SERVE, shm=tmp_path) as again:
                again.until("ready ")
                drive.until("the simulator is back")
                wait_for_speed(tmp_path, 1.0)
                drive.process.send_signal(signal.SIGINT)
                assert drive.end() == 0
                assert drive.summary["link"]["stale"] >= 1
                assert drive.summary["ended"] == "interrupted"
                again.process.send_signal(signal.SIGTERM)
                assert again.end() == 0


def test_the_client_is_killed(tmp_path):
    with command(*SERVE, shm=tmp_path) as host:
        host.until("ready ")
        with command(*DRIVE, f"--out={tmp_path}", shm=tmp_path) as drive:
            drive.until("moving at ")
            wait_for_speed(tmp_path, 10.0)
            drive.process.kill()
            host.until("trailbrake: car 0: its client is gone")
        with command(*DRIVE, "--json", "--seconds=2", f"--out={tmp_path}", shm=tmp_path) as another:
            assert another.end() == 0
            assert another.summary["ended"] == "done"
            assert another.summary["mean_speed_mps"] > 0.5
        host.process.send_signal(signal.SIGTERM)
        assert host.end() == 0
