"""`Actor`: the pad of the programs that drove Forza before this package, with the same calls, as a drop-in.

Source: protocol page forza-data-out, section 5: the class that drove PYXInput's pad. As there, a call sets the axes
that it names and leaves the others as they were. Unlike there, the pad goes neutral after 0.25 s without a call, on
`close`, and at exit; and levels are clamped.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from trailbrake.errors import UsageError, near
from trailbrake.transport import pad_report
from trailbrake.transport.pad import DEAD_MAN, Backend, Pad, backend
from trailbrake.transport.pad_report import NEUTRAL, Button, PadReport

AXES = {"AxisLx": "left_x", "AxisLy": "left_y", "AxisRx": "right_x", "AxisRy": "right_y"}
TRIGGERS = {"TriggerL": "left_trigger", "TriggerR": "right_trigger"}
BUTTONS = {
    "BtnShoulderL": Button.LEFT_SHOULDER, "BtnShoulderR": Button.RIGHT_SHOULDER, "BtnA": Button.A, "BtnX": Button.X,
    "BtnY": Button.Y, "BtnB": Button.B, "BtnThumbL": Button.LEFT_THUMB, "BtnThumbR": Button.RIGHT_THUMB,
    "BtnBack": Button.BACK, "BtnStart": Button.START,
}  # fmt: skip
DPAD = Button.UP | Button.DOWN | Button.LEFT | Button.RIGHT
NAMES = (*AXES, *TRIGGERS, *BUTTONS, "Dpad")
ORDER = (*AXES, *TRIGGERS, *BUTTONS)  # of the sixteen values of `control`


class Actor:
    """A pad by the old names. Sticks -1..1, right and up positive; triggers 0..1; buttons 0 or 1.

    Args:
        load_model: taken and not looked at: the original loaded its network here.
        pad: auto, udp:HOST:PORT, uinput, vgamepad or none; or a backend.
        dead_man: s without a call after which it lets go.
    """

    def __init__(self, load_model: bool = True, *, pad: str | Backend = "auto", dead_man: float = DEAD_MAN) -> None:
        self._pad = Pad(backend(pad, "Actor(pad=...)") if isinstance(pad, str) else pad, dead_man)
        self._report = NEUTRAL

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def control_racing(self, levels: Sequence[float]) -> None:
        """Set [steer, throttle]: the left stick's x and the right trigger; the left trigger stays as it was."""
        steer, throttle = levels
        self._send(_set(_set(self._report, "AxisLx", steer), "TriggerR", throttle))

    def control_throttle(self, level: float) -> None:
        """Set the right trigger."""
        self.set_value("TriggerR", level)

    def control(self, levels: Sequence[float]) -> None:
        """Set all sixteen: LX, LY, RX, RY, LT, RT, LB, RB, A, X, Y, B, left and right thumb, Back, Start.

        Raises:
            UsageError: there are not sixteen.
        """
        if len(levels) != len(ORDER):
            raise UsageError("control() takes all of the pad", where="Actor", expected=f"{len(ORDER)} values",
                             got=str(len(levels)))  # fmt: skip
        report = self._report
        for name, level in zip(ORDER, levels, strict=True):
            report = _set(report, name, level)
        self._send(report)

    def set_value(self, name: str, value: float) -> None:
        """Set one axis, trigger or button by PYXInput's name; `Dpad` takes the sum of 1 up, 2 down, 4 left, 8 right.

        Raises:
            UsageError: no such name.
        """
        self._send(_set(self._report, name, value))

    def reset_controller(self) -> None:
        """Let go of everything."""
        self._send(NEUTRAL)

    def close(self) -> None:
        """Let go and take the pad away."""
        self._pad.close()

    def _send(self, report: PadReport) -> None:
        self._report = report
        self._pad.send(report)


def _set(report: PadReport, name: str, value: float) -> PadReport:
    if name in AXES:
        return report._replace(**{AXES[name]: pad_report.axis(value)})
    if name in TRIGGERS:
        return report._replace(**{TRIGGERS[name]: pad_report.trigger(value)})
    if name == "Dpad":
        return report._replace(buttons=(report.buttons & ~DPAD) | (int(value) & DPAD))
    if name in BUTTONS:
        bit = int(BUTTONS[name])
        return report._replace(buttons=report.buttons | bit if value >= 0.5 else report.buttons & ~bit)
    raise UsageError("no such part of the pad", where="Actor", got=name, hint=near(name, NAMES))
