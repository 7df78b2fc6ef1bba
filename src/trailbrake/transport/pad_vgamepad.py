"""An Xbox 360 pad on Windows, through the package vgamepad and the ViGEmBus driver that it brings.

Source: protocol page forza-data-out, section 6.3. The package raises on import where the driver is missing, so it is
imported only when a pad is made. ViGEmBus keeps the last report of a process that is killed.
"""

from typing import Any

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.pad_report import PadReport


class VGamepadPad:
    """The pad. It exists from construction until `close`.

    Raises:
        UsageError: the package is not installed.
        SimulatorError: the driver is missing or refuses.
    """

    def __init__(self) -> None:
        try:
            import vgamepad
        except ImportError as error:
            raise UsageError(
                "the package vgamepad is missing", where="--pad vgamepad", hint='pip install "trailbrake[windows]"'
            ) from error
        except Exception as error:  # its own load of the driver's client library
            raise _driver_error(error) from error
        try:
            self._pad: Any = vgamepad.VX360Gamepad()
        except Exception as error:
            raise _driver_error(error) from error

    def send(self, report: PadReport) -> None:
        """Show `report`. The package's own record has the report's fields, under the names of its C header."""
        shown = self._pad.report
        shown.wButtons = report.buttons
        shown.bLeftTrigger, shown.bRightTrigger = report.left_trigger, report.right_trigger
        shown.sThumbLX, shown.sThumbLY = report.left_x, report.left_y
        shown.sThumbRX, shown.sThumbRY = report.right_x, report.right_y
        try:
            self._pad.update()
        except Exception as error:
            raise SimulatorError(f"the gamepad is gone: {error}", where="ViGEmBus") from error

    def close(self) -> None:
        """Remove the pad: the package does so when its object is deleted."""
        self._pad = None


def _driver_error(error: Exception) -> SimulatorError:
    return SimulatorError(
        f"no virtual gamepad: {error}",
        where="--pad vgamepad",
        hint="install the ViGEmBus driver (vgamepad's installer offers it) and try again",
    )
