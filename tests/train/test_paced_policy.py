"""A network that takes 30 ms drives Formula Trend as it does without them: the simulator waits for its commands."""

import signal
import textwrap

import numpy as np
import pytest
from helpers.processes import command

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive
from trailbrake.record.recording_reader import Recording
from trailbrake.train.clone import clone_policy
from trailbrake.train.options import CloneOptions

pytestmark = pytest.mark.train
SLOW = """
    import time
    from pathlib import Path

    from trailbrake.drivers.loading.policy import Driver as Policy
    from trailbrake.drivers.loading.policy import read_policy


    class Driver(Policy):
        def __init__(self):
            super().__init__(read_policy(Path({policy!r})))

        def act(self, state, dt):
            until = time.perf_counter() + {delay}
            while time.perf_counter() < until:
                pass
            return super().act(state, dt)
"""


def drive_served(folder, policy, delay):
    """Return the summary of a live drive, and columns of its recording."""
    folder.mkdir()
    file = folder / "slow.py"
    file.write_text(textwrap.dedent(SLOW.format(policy=str(policy), delay=delay)))
    with command("serve", "trend", "--pace=lockstep", shm=folder) as host:
        with command("drive", "--sim=trend", "--live", f"--driver={file}", "--json", "--seconds=4", "--no-report",
                     f"--out={folder}", shm=folder) as driving:  # fmt: skip
            assert driving.end() == 0, driving.said
            summary = driving.summary
        host.process.send_signal(signal.SIGTERM)
        host.end()
    state = Recording.open(next(folder.glob("*.mcap"))).state
    return summary, {name: state[name] for name in ("time", "speed", "steering_wheel_angle")}


def test_trained_and_driven_at_exact_pace(tmp_path):
    drive(DriveFlags(sim="trend", seconds=12.0, out=tmp_path / "laps", report=False).make_spec())
    policy = tmp_path / "policy.npz"
    clone_policy([tmp_path / "laps"], CloneOptions(out=policy, epochs=2))
    quick, without = drive_served(tmp_path / "quick", policy, 0.0)
    slow, delayed = drive_served(tmp_path / "slow", policy, 0.03)
    assert slow["loop"]["p50_us"] >= 30e3
    assert slow["link"]["lost"] == quick["link"]["lost"] == 0
    assert slow["loop"]["ticks"] == quick["loop"]["ticks"]
    for name, values in without.items():
        np.testing.assert_array_equal(delayed[name], values, err_msg=name)
