"""`Actor`: a drop-in replacement for the pad class of programs that drove Forza with PYXInput, with the same calls.

Source: protocol page forza-data-out, section 5. As in the original, a call sets the axes that it names and leaves the
others as they are. Unlike the original, the pad brakes after 0.25 s without a call if a trigger is pressed, and is
neutral 12 s later (`blind_stop`: the car's speed is not known here); it is neutral after `close` and at exit. Levels
are clamped.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Self

from trailbrake.errors import UsageError, suggest_names
from trailbrake.sims.forza.link import blind_stop_report
from trailbrake.transport import pad_report
from trailbrake.transport.pad import DEAD_MAN_S, Pad, PadBackend, open_pad_backend
from trailbrake.transport.pad_report import NEUTRAL, PadButton, PadReport

AXES = {"AxisLx": "left_x", "AxisLy": "left_y", "AxisRx": "right_x", "AxisRy": "right_y"}
TRIGGERS = {"TriggerL": "left_trigger", "TriggerR": "right_trigger"}
BUTTONS = {
    "BtnShoulderL": PadButton.LEFT_SHOULDER, "BtnShoulderR": PadButton.RIGHT_SHOULDER,
    "BtnA": PadButton.A, "BtnX": PadButton.X, "BtnY": PadButton.Y, "BtnB": PadButton.B,
    "BtnThumbL": PadButton.LEFT_THUMB, "BtnThumbR": PadButton.RIGHT_THUMB,
    "BtnBack": PadButton.BACK, "BtnStart": PadButton.START,
}  # fmt: skip
DPAD = PadButton.UP | PadButton.DOWN | PadButton.LEFT | PadButton.RIGHT
PART_NAMES = (*AXES, *TRIGGERS, *BUTTONS, "Dpad")
CONTROL_ORDER = (*AXES, *TRIGGERS, *BUTTONS)  # of the sixteen values of `control`


class Actor:
    """A pad with PYXInput's names. Sticks -1..1, right and up positive; triggers 0..1; buttons 0 or 1.

    Args:
        load_model: ignored; the original loaded its network here.
        pad: auto, udp:HOST:PORT, uinput, vgamepad or none; or a backend.
        dead_man: s without a call after which the pad brakes, and then goes neutral.
    """

    def __init__(
        self, load_model: bool = True, *, pad: str | PadBackend = "auto", dead_man: float = DEAD_MAN_S
    ) -> None:
        backend = open_pad_backend(pad, "Actor(pad=...)") if isinstance(pad, str) else pad
        self._pad = Pad(backend, dead_man, partial(blind_stop_report, speed=math.nan, gear=None))
        self._report = NEUTRAL

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def control_racing(self, levels: Sequence[float]) -> None:
        """Set [steer, throttle]: the left stick's x and the right trigger; the left trigger does not change."""
        steer, throttle = levels
        self._send_report(_set_part(_set_part(self._report, "AxisLx", steer), "TriggerR", throttle))

    def control_throttle(self, level: float) -> None:
        """Set the right trigger."""
        self.set_value("TriggerR", level)

    def control(self, levels: Sequence[float]) -> None:
        """Set all sixteen: LX, LY, RX, RY, LT, RT, LB, RB, A, X, Y, B, left and right thumb, Back, Start.

        Raises:
            UsageError: there are not sixteen.
        """
        if len(levels) != len(CONTROL_ORDER):
            raise UsageError("control() takes all of the pad", where="Actor", expected=f"{len(CONTROL_ORDER)} values",
                             got=str(len(levels)))  # fmt: skip
        report = self._report
        for name, level in zip(CONTROL_ORDER, levels, strict=True):
            report = _set_part(report, name, level)
        self._send_report(report)

    def set_value(self, name: str, value: float) -> None:
        """Set one axis, trigger or button by PYXInput's name; `Dpad` takes the sum of 1 up, 2 down, 4 left, 8 right.

        Raises:
            UsageError: no such name.
        """
        self._send_report(_set_part(self._report, name, value))

    def reset_controller(self) -> None:
        """Set all axes, triggers and buttons to neutral."""
        self._send_report(NEUTRAL)

    def close(self) -> None:
        """Set the pad to neutral and remove it."""
        self._pad.close()

    def _send_report(self, report: PadReport) -> None:
        self._report = report
        self._pad.send(report)


def _set_part(report: PadReport, name: str, value: float) -> PadReport:
    if name in AXES:
        return report._replace(**{AXES[name]: pad_report.encode_axis(value)})
    if name in TRIGGERS:
        return report._replace(**{TRIGGERS[name]: pad_report.encode_trigger(value)})
    if name == "Dpad":
        return report._replace(buttons=(report.buttons & ~DPAD) | (int(value) & DPAD))
    if name in BUTTONS:
        bit = int(BUTTONS[name])
        return report._replace(buttons=report.buttons | bit if value >= 0.5 else report.buttons & ~bit)
    raise UsageError("no such part of the pad", where="Actor", got=name, hint=suggest_names(name, PART_NAMES))
