"""The drop-in for the old programs' pad: the contract of section 5 of the protocol page."""

import threading

import pytest

from trailbrake.errors import UsageError
from trailbrake.sims.forza.actor import Actor
from trailbrake.transport.pad import LoopbackPad
from trailbrake.transport.pad_report import NEUTRAL, PadReport


@pytest.fixture
def driven():
    pad = LoopbackPad()
    with Actor(load_model=False, pad=pad, dead_man=0.0) as actor:
        yield actor, pad


def test_racing_sets_two_axes_and_leaves_the_brake(driven):
    actor, pad = driven
    actor.set_value("TriggerL", 0.25)
    actor.control_racing([-0.25, 0.1])
    assert pad.report == PadReport(left_trigger=64, right_trigger=26, left_x=-8192)
    actor.control_throttle(1.0)
    assert pad.report == PadReport(left_trigger=64, right_trigger=255, left_x=-8192)
    actor.reset_controller()
    assert pad.report == NEUTRAL


def test_sixteen_values_in_the_old_order(driven):
    actor, pad = driven
    actor.control([0.5, -0.5, 1, -1, 0.25, 0.75, *[0] * 10])
    assert pad.report == PadReport(0, 64, 191, 16384, -16384, 32767, -32767)
    # LB RB A X Y B left thumb, right thumb, Back, Start: bits of section 6.2
    bits = [0x0100, 0x0200, 0x1000, 0x4000, 0x8000, 0x2000, 0x0040, 0x0080, 0x0020, 0x0010]
    for k, bit in enumerate(bits):
        actor.control([0] * 6 + [int(i == k) for i in range(10)])
        assert pad.report == PadReport(buttons=bit)


def test_single_values_by_the_old_names(driven):
    actor, pad = driven
    actor.set_value("BtnA", 1)
    actor.set_value("Dpad", 9)
    assert pad.report.buttons == 0x1009
    actor.set_value("BtnA", 0)
    actor.set_value("Dpad", 2)
    assert pad.report.buttons == 0x0002
    actor.set_value("AxisLx", 7.0)
    assert pad.report.left_x == 32767


def test_wrong_calls_are_said(driven):
    actor, _ = driven
    with pytest.raises(UsageError, match=r"no such part of the pad, got AxisLX; did you mean .*AxisLx"):
        actor.set_value("AxisLX", 1.0)
    with pytest.raises(UsageError, match="expected 16 values, got 2"):
        actor.control([0.0, 1.0])


class Watched(LoopbackPad):
    """Tells when the dead-man brakes."""

    def __init__(self):
        super().__init__()
        self.braked = threading.Event()

    def send(self, report):
        super().send(report)
        if report.left_trigger == 153:
            self.braked.set()


def test_a_program_that_hangs_brakes():
    pad = Watched()
    with Actor(pad=pad, dead_man=0.02) as actor:
        actor.control_racing([0.5, 1.0])
        assert pad.braked.wait(20.0)
        assert pad.report == PadReport(left_trigger=153, right_trigger=26, left_x=16384)
    assert pad.report == NEUTRAL


def test_leaving_lets_go():
    pad = LoopbackPad()
    with Actor(pad=pad) as actor:
        actor.control_throttle(1.0)
    assert pad.report == NEUTRAL
