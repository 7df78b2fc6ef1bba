"""Kill -9 in mid-corner, of the one end and of the other: who is left notices, says so, and goes on with the next."""

import signal
import sys
import time

import pytest
from helpers.processes import command

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="kill -9")]
NOTICED = 1.5  # s, on a busy machine; a quiet one needs 0.3 s
SERVE = ["serve", "assetto", "--track=pinegrove", "--no-classic"]
DRIVE = ["drive", "--live", "--track=pinegrove", "--car=gt3", "--laps=0", "--no-report"]


def kill(it):
    it.process.kill()
    return time.monotonic()


def test_the_host_is_killed(tmp_path):
    with command(*SERVE, shm=tmp_path) as host:
        host.until("ready ")
        with command(*DRIVE, "--json", f"--out={tmp_path}", shm=tmp_path) as drive:
            drive.until("moving at ")
            time.sleep(2.0)
            killed = kill(host)
            drive.until("the simulator has gone silent")
            assert time.monotonic() - killed < NOTICED
            with command(*SERVE, shm=tmp_path) as again:
                again.until("ready ")
                drive.until("the simulator is back")
                time.sleep(1.0)
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
            time.sleep(2.0)
            killed = kill(drive)
            host.until("trailbrake: car 0: its client is gone")
            assert time.monotonic() - killed < NOTICED
        with command(*DRIVE, "--json", "--seconds=2", f"--out={tmp_path}", shm=tmp_path) as another:
            assert another.end() == 0
            assert another.summary["ended"] == "done"
            assert another.summary["mean_speed_mps"] > 0.5
        host.process.send_signal(signal.SIGTERM)
        assert host.end() == 0
