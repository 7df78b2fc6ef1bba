"""Who is being asked, as another process sees it, also when the one that wrote it is gone."""

import subprocess
import sys

import pytest

from trailbrake.race.pulse import NOBODY, Pulse


def test_two_ends_of_a_pulse_see_the_same(tmp_path):
    here, there = Pulse(tmp_path / "pulse"), Pulse(tmp_path / "pulse")
    assert there.read() == (NOBODY, 0)
    here.mark(3, 2**40)
    assert there.read() == (3, 2**40)
    here.close()
    there.close()


@pytest.mark.slow
def test_the_last_mark_outlives_the_process(tmp_path):
    text = (
        "import os, sys, pathlib; from trailbrake.race.pulse import Pulse;"
        "Pulse(pathlib.Path(sys.argv[1])).mark(1, 77); os._exit(9)"
    )
    code = subprocess.run([sys.executable, "-c", text, str(tmp_path / "pulse")], check=False).returncode
    assert code == 9
    pulse = Pulse(tmp_path / "pulse")
    assert pulse.read() == (1, 77)
    pulse.close()
