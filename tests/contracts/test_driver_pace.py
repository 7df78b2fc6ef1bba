"""A driver that needs 15 ms for an answer, in real time: no wire loses a sample while the simulator waits for it."""

import time

import pytest
from helpers.driver_files import write_driver

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import UsageError

pytestmark = pytest.mark.slow

SLOW = "import time; time.sleep(0.015); return Controls(throttle=0.3)"


@pytest.fixture
def slow_driver(tmp_path):
    return str(write_driver(tmp_path / "slow.py", SLOW, needs='{"speed"}'))


def drive_slowly(driver, tmp_path, sim, pace, seconds):
    began = time.perf_counter()
    summary = drive(DriveFlags(sim=sim, driver=driver, track="proving_ground", car="hatchback", seconds=seconds,
                                 speed="real", pace=pace, out=tmp_path, report=False).make_spec())  # fmt: skip
    return summary, time.perf_counter() - began


@pytest.mark.parametrize(("sim", "period", "seconds"), [("assetto", 1 / 333, 0.3), ("beamng", 0.005, 0.5)])
def test_every_sample_is_answered(slow_driver, tmp_path, sim, period, seconds):
    summary, took = drive_slowly(slow_driver, tmp_path, sim, "driver", seconds)
    assert summary["ended"] == "done"
    answered, lost = summary["loop"]["ticks"], summary["link"]["lost"]
    assert answered + lost >= seconds / period - 2
    # Between taking the car and the first request, and whenever this machine does something else for a while. At the
    # simulator's own pace four of five samples are lost.
    assert lost <= answered
    assert took > 0.015 * seconds / period
    if sim == "assetto":
        assert summary["pace"]["step_time_s"] >= 0.015


def test_at_the_simulator_s_own_pace_most_samples_are_lost(slow_driver, tmp_path):
    summary, _ = drive_slowly(slow_driver, tmp_path, "assetto", "simulator", 0.3)
    assert summary["link"]["lost"] > 2 * summary["loop"]["ticks"]


def test_a_simulator_that_cannot_wait_is_refused(slow_driver, tmp_path):
    with pytest.raises(UsageError, match="forza cannot wait for a driver"):
        drive_slowly(slow_driver, tmp_path, "forza", "driver", 0.1)
