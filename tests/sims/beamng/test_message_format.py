"""Both generations behind one interface."""

import pytest
from helpers.beamng.contracts import THROTTLE

from trailbrake.sims.beamng.message_format import FixedFormat, make_message_format
from trailbrake.sims.beamng.signal_format import SignalListFormat
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.state import Controls


def test_the_generation_is_chosen_by_the_options(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(THROTTLE)
    assert isinstance(make_message_format(ServeOptions()), FixedFormat)
    assert isinstance(make_message_format(LiveOptions(generation=2, contract=path)), SignalListFormat)


def test_both_ends_in_lockstep(session, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(THROTTLE)
    both = {"generation": 2, "contract": path, "simulink_time": 0.0005}
    session.serve(**both)
    link = session.connect(**both)
    s = session.exchange(link, Controls(throttle=0.5), times=100)
    assert s.sequence == 99
    assert session.plant.inputs[-1][0].throttle == 0.5
    assert s.speed == pytest.approx(98 * 0.0005 * 5.0, rel=0.05)
