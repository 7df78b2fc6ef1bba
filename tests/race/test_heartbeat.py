"""Who is being asked, as another process sees it, also when the one that wrote it is gone."""

import subprocess
import sys

import pytest

from trailbrake.race.heartbeat import NO_ENTRY, Heartbeat


def test_two_ends_of_a_pulse_see_the_same(tmp_path):
    here, there = Heartbeat(tmp_path / "pulse"), Heartbeat(tmp_path / "pulse")
    assert there.read_mark() == (NO_ENTRY, 0)
    here.mark_entry(3, 2**40)
    assert there.read_mark() == (3, 2**40)
    here.close()
    there.close()


@pytest.mark.slow
def test_the_last_mark_outlives_the_process(tmp_path):
    text = (
        "import os, sys, pathlib; from trailbrake.race.heartbeat import Heartbeat;"
        "Heartbeat(pathlib.Path(sys.argv[1])).mark_entry(1, 77); os._exit(9)"
    )
    code = subprocess.run([sys.executable, "-c", text, str(tmp_path / "pulse")], check=False).returncode
    assert code == 9
    pulse = Heartbeat(tmp_path / "pulse")
    assert pulse.read_mark() == (1, 77)
    pulse.close()
