"""Checks of the controls that a program passes to `step`: numbers, and within their ranges."""

import copy
from collections.abc import Sequence
from numbers import Real
from operator import attrgetter
from typing import SupportsFloat

from trailbrake.driving.loop.supervisor import find_wrong_value
from trailbrake.errors import UsageError
from trailbrake.state import Controls, FourTorques, WheelTorque, settings_of
from trailbrake.state.controls import SETTINGS

_read_shares = attrgetter("steer", "throttle", "brake", "clutch", "handbrake", "drs", "boost")
_NOTHING_SET = settings_of(Controls())


def limit_range(controls: Controls) -> Controls:
    """Return controls whose steer is within -1..1 and whose pedals are within 0..1; NaN stays.

    Controls that are within their ranges are returned as they are.

    Raises:
        UsageError: a value is no number.
    """
    try:
        steer, throttle, brake = controls.steer, controls.throttle, controls.brake
        if (
            -1.0 <= steer <= 1.0 and 0.0 <= throttle <= 1.0 and 0.0 <= brake <= 1.0
            and 0.0 <= controls.clutch <= 1.0 and 0.0 <= controls.handbrake <= 1.0
        ):  # fmt: skip
            return controls
        limited = copy.copy(controls)
        limited.steer = min(max(steer, -1.0), 1.0)  # of NaN and a number, both return their first argument
        limited.throttle, limited.brake = _clamp_share(throttle), _clamp_share(brake)
        limited.clutch, limited.handbrake = _clamp_share(controls.clutch), _clamp_share(controls.handbrake)
    except (TypeError, ValueError, AttributeError):
        raise _make_error(controls) from None
    return limited


def copy_as_floats(controls: Controls) -> Controls:
    """Return a copy of the controls made of plain floats, without its command.

    Raises:
        UsageError: a value is no number, or `wheels` are not four.
    """
    try:
        steer, throttle, brake, clutch, handbrake, drs, boost = map(_to_float, _read_shares(controls))
        copied = Controls(
            steer=steer, throttle=throttle, brake=brake, clutch=clutch, handbrake=handbrake,
            gear=None if controls.gear is None else int(controls.gear), drs=drs, boost=boost,
            wheels=None if controls.wheels is None else _copy_torques(controls.wheels),
        )  # fmt: skip
        copied.custom = tuple(map(_to_float, controls.custom))
        settings = settings_of(controls)
        if settings != _NOTHING_SET:
            for name, value in zip(SETTINGS, settings, strict=True):
                setattr(copied, name, _to_float(value))
    except (TypeError, ValueError, OverflowError, AttributeError):
        raise _make_error(controls) from None
    return copied


def check_custom_values(values: Sequence[float], room: int) -> None:
    """Check free values.

    Args:
        values: of the program.
        room: how many the simulator's message takes.

    Raises:
        UsageError: too many, or one that is no number.
    """
    if len(values) > room:
        raise UsageError("too many free values", where="custom", expected=f"up to {room}", got=str(len(values)))
    wrong = [value for value in values if not isinstance(value, Real)]
    if wrong:
        raise UsageError("free values are numbers", where="custom", got=repr(wrong[0]))


def _clamp_share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _to_float(value: SupportsFloat) -> float:
    if type(value) is float:
        return value
    if isinstance(value, str | bytes):  # `float` would read it
        raise TypeError
    return float(value)


def _copy_torques(wheels: FourTorques) -> FourTorques:
    a, b, c, d = (WheelTorque(_to_float(w.drive_torque), _to_float(w.brake_torque)) for w in wheels)
    return a, b, c, d


def _make_error(controls: object) -> UsageError:
    got = find_wrong_value(controls) if isinstance(controls, Controls) else type(controls).__name__
    return UsageError("no controls to send", where="step", expected="Controls of numbers", got=got)
