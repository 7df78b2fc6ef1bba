"""The Windows pad against a stand-in for the package, which runs on Windows only."""

import sys
import types
from typing import ClassVar

import pytest

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.pad_report import PadReport
from trailbrake.transport.pad_vgamepad import VGamepadPad


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
