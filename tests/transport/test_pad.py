"""The pad's dead-man and its backends that need no device."""

import subprocess
import sys
import threading
import types
from contextlib import closing
from typing import ClassVar

import pytest

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.pad import LoopbackPad, Pad, UdpPad, VGamepadPad, open_pad_backend
from trailbrake.transport.pad_report import NEUTRAL, PadButton, PadReport
from trailbrake.transport.udp import UdpSocket

PATIENCE = 10.0  # s, for another thread on a busy machine


class Watched(LoopbackPad):
    """Tells when a neutral report comes, and keeps all."""

    def __init__(self):
        super().__init__()
        self.all = []
        self.closed = 0
        self.let_go = threading.Event()

    def send(self, report):
        self.all.append(report)
        super().send(report)
        if report == NEUTRAL:
            self.let_go.set()

    def close(self):
        self.closed += 1


def test_commands_become_reports_with_the_stick_to_the_right():
    seen = LoopbackPad()
    with Pad(seen, dead_man=0.0) as pad:
        pad.apply_controls(0.5, 0.75, 0.25, PadButton.A)
        assert seen.report == PadReport(0x1000, 64, 191, 16384)
        pad.apply_controls(7.0, -1.0)
        assert seen.report == PadReport(left_x=32767)
        pad.apply_controls(float("nan"), 1.0)
        assert seen.report == NEUTRAL
        pad.apply_controls(0.0, 1.0)
        pad.send_neutral()
        assert seen.report == NEUTRAL


def test_who_stops_calling_lets_go():
    seen = Watched()
    with Pad(seen, dead_man=0.02) as pad:
        pad.apply_controls(1.0, 1.0)
        assert seen.let_go.wait(PATIENCE)
        assert seen.all[0].right_trigger == 255
        assert pad.dead_man_releases == 1
        # It drives again when it is called again, and lets go once only while nobody does.
        seen.let_go.clear()
        pad.apply_controls(0.0, 0.5)
        assert seen.let_go.wait(PATIENCE)
        assert seen.all.count(NEUTRAL) == 2


def test_a_stop_comes_before_the_neutral_report():
    seen, asked = Watched(), []

    def stop(last, elapsed):
        asked.append((last, elapsed))
        return PadReport(left_trigger=200) if len(asked) < 3 else NEUTRAL

    with Pad(seen, dead_man=0.02, stop=stop) as pad:
        pad.apply_controls(1.0, 1.0)
        assert seen.let_go.wait(PATIENCE)
        assert [report.left_trigger for report in seen.all] == [0, 200, 200, 0]
        assert {last.right_trigger for last, _ in asked} == {255}
        assert 0.02 <= asked[0][1] < asked[1][1] < asked[2][1]
        assert pad.dead_man_releases == 1


def test_without_a_dead_man_nobody_watches():
    before = threading.active_count()
    with Pad(Watched(), dead_man=0.0) as pad:
        pad.apply_controls(1.0, 1.0)
        assert threading.active_count() == before


def test_an_exception_lets_go_and_takes_the_pad_away():
    seen = Watched()

    def crash():
        with Pad(seen, dead_man=0.0) as pad:
            pad.apply_controls(1.0, 1.0)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        crash()
    assert seen.report == NEUTRAL
    assert seen.closed == 1


def test_a_closed_pad_is_closed():
    seen = Watched()
    pad = Pad(seen)
    pad.apply_controls(0.0, 1.0)
    pad.close()
    pad.close()
    assert seen.closed == 1
    with pytest.raises(SimulatorError, match="the pad is closed"):
        pad.apply_controls(0.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["pass", "raise SystemExit(3)", "1 / 0"])
def test_a_program_that_ends_leaves_a_neutral_pad(end):
    with closing(UdpSocket()) as receiver:
        code = (
            "from trailbrake.transport.pad import Pad, UdpPad\n"
            f"pad = Pad(UdpPad(('127.0.0.1', {receiver.port})), dead_man=30.0)\n"
            "pad.apply_controls(1.0, 1.0)\n" + end
        )
        subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, timeout=60)
        reports = []
        while (got := receiver.receive()) is not None:
            reports.append(got[0].hex())
    assert reports == ["000000ffff7f000000000000", "000000000000000000000000"]


def test_reports_go_over_udp():
    receiver = UdpSocket()
    pad = UdpPad(("127.0.0.1", receiver.port))
    try:
        pad.send(PadReport(left_x=-32767, left_trigger=255))
        assert receiver.wait_readable(PATIENCE)
        data, _ = receiver.receive()
        assert data.hex() == "0000ff000180000000000000"
    finally:
        pad.close()
        receiver.close()


def test_backends_by_name():
    assert isinstance(open_pad_backend("none"), LoopbackPad)
    made = open_pad_backend("udp:127.0.0.1:2561")
    assert isinstance(made, UdpPad)
    made.close()
    with pytest.raises(UsageError, match="no such pad, expected auto, udp:HOST:PORT, uinput, vgamepad or none, got x"):
        open_pad_backend("x")
    with pytest.raises(UsageError, match="not an address"):
        open_pad_backend("udp:2561")


def stand_in(monkeypatch, gamepad):
    module = types.ModuleType("vgamepad")
    module.VX360Gamepad = gamepad
    monkeypatch.setitem(sys.modules, "vgamepad", module)


class Gamepad:
    """What vgamepad 0.2 has of an Xbox 360 pad: a record with the names of its C header, and update()."""

    made: ClassVar = []

    def __init__(self):
        self.report = types.SimpleNamespace(
            wButtons=0, bLeftTrigger=0, bRightTrigger=0, sThumbLX=0, sThumbLY=0, sThumbRX=0, sThumbRY=0
        )
        self.shown = []
        Gamepad.made.append(self)

    def update(self):
        self.shown.append(dict(vars(self.report)))


def test_a_report_reaches_the_driver_whole(monkeypatch):
    stand_in(monkeypatch, Gamepad)
    pad = VGamepadPad()
    pad.send(PadReport(0x1001, 2, 3, 4, 5, 6, 7))
    wanted = {"wButtons": 0x1001, "bLeftTrigger": 2, "bRightTrigger": 3, "sThumbLX": 4, "sThumbLY": 5, "sThumbRX": 6,
              "sThumbRY": 7}  # fmt: skip
    assert Gamepad.made[-1].shown == [wanted]
    pad.close()


def test_a_missing_package_or_driver_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "vgamepad", None)  # an ImportError
    with pytest.raises(UsageError, match=r'the package vgamepad is missing; pip install "trailbrake\[windows\]"'):
        VGamepadPad()

    def no_bus():
        raise Exception("VIGEM_ERROR_BUS_NOT_FOUND")

    stand_in(monkeypatch, no_bus)
    with pytest.raises(SimulatorError, match="no virtual gamepad: VIGEM_ERROR_BUS_NOT_FOUND; install the ViGEmBus"):
        VGamepadPad()
