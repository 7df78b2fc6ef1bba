"""What a client's buttons and paddles have selected so far: the gear, and the levels of the settings. Pure.

Source: protocol page assetto-custom-ai, section 4.2. The game acts on rising edges, one step each. The size of a step
is not known; here it is a tenth of the car's own level, and a hundredth of the brake torque for the bias.
"""

import math
from operator import attrgetter
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.sims.assetto.codec import CarControls
from trailbrake.state.controls import SETTINGS

_SHIFT_STEPS = 166  # physics steps, 0.5 s, after which a shift that was not completed is dropped
_LEVEL_STEP, _BIAS_STEP = 0.1, 0.01
_BUTTONS = {  # setting: name of its pair of buttons on the wire
    "brake_bias": "brake_balance",
    "abs_level": "abs",
    "tc_level": "tc",
    "turbo_level": "turbo",
    "engine_brake_level": "engine_brake",
    "delivery_level": "mguk_delivery",
    "recovery_level": "mguk_recovery",
}
_read_buttons: Any = attrgetter(*(f"{_BUTTONS[name]}_{way}" for name in SETTINGS for way in ("up", "dn")))
_ALL_RELEASED = _read_buttons(CarControls())
_FIRST_FUNCTION, _BEHIND_FUNCTIONS = (CarControls._fields.index(name) for name in ("drs", "teleport_to"))


class GearSelector:
    """The gear selected by paddles: one gear per rising edge, none while a shift is under way."""

    __slots__ = ("_down", "_gear", "_steps_left", "_up")

    def __init__(self) -> None:
        self._up = self._down = False
        self._gear: int | None = None
        self._steps_left = 0

    def select_gear(self, message: CarControls, gear: int, top_gear: int) -> int:
        """Return the selected gear; call it once per physics step.

        Args:
            message: the newest controls.
            gear: the car's gear now (-1, 0, 1, ...).
            top_gear: of the car.
        """
        up, down = message.gear_up != 0, message.gear_dn != 0
        # Both at once cancel.
        step = (up and not self._up) - (down and not self._down)
        self._up, self._down = up, down
        if self._gear is not None and self._gear != gear and self._steps_left > 0:
            self._steps_left -= 1
            return self._gear
        self._gear = max(-1, min(top_gear, gear + step))
        self._steps_left = _SHIFT_STEPS
        return self._gear

    def cancel_shift(self) -> None:
        """Drop a pending shift: the car was moved, or shifts by itself."""
        self._gear = None


class SettingCounters:
    """The levels of the settings; NaN, the car's own level, until a button is pressed.

    Attributes:
        values: one per name of `state.controls.SETTINGS`, 0..1.
    """

    __slots__ = ("_own_levels", "_pressed", "values")

    def __init__(self, car: CarParams) -> None:
        self._own_levels = [car.brakes.front_share if name == "brake_bias" else 1.0 for name in SETTINGS]
        self._pressed = _ALL_RELEASED
        self.values: tuple[float, ...] = (math.nan,) * len(SETTINGS)

    def count_presses(self, message: CarControls) -> None:
        """Count the presses in a new message."""
        pressed = _read_buttons(message)
        if pressed == self._pressed:
            return
        values = list(self.values)
        for i, (name, own) in enumerate(zip(SETTINGS, self._own_levels, strict=True)):
            up, down = (pressed[k] != 0 and self._pressed[k] == 0 for k in (2 * i, 2 * i + 1))
            if up != down:
                now = own if math.isnan(values[i]) else values[i]
                step = _BIAS_STEP if name == "brake_bias" else _LEVEL_STEP
                values[i] = min(max(round(now + (step if up else -step), 6), 0.0), 1.0)
        self._pressed, self.values = pressed, tuple(values)


def unsupported_requests(message: CarControls, car: CarParams) -> list[str]:
    """Return the names of the functions that `message` uses and that `car`, as our world has it, lacks."""
    if not any(message[_FIRST_FUNCTION:_BEHIND_FUNCTIONS]):  # of most messages; they come in every step
        return []
    has_hybrid = car.hybrid is not None
    wanted = (
        ("drs", message.drs, car.aero.has_drs),
        ("kers", message.kers, has_hybrid),
        ("abs", message.abs_up or message.abs_dn, car.brakes.abs),
        ("tc", message.tc_up or message.tc_dn, car.brakes.tc),
        ("turbo", message.turbo_up or message.turbo_dn, car.engine.turbo_share > 0.0),
        ("mguk_delivery", message.mguk_delivery_up or message.mguk_delivery_dn, has_hybrid),
        ("mguk_recovery", message.mguk_recovery_up or message.mguk_recovery_dn, has_hybrid),
        ("mguh_mode", message.mguh_mode, False),
        ("headlights", message.headlights, False),
    )
    return [name for name, value, there in wanted if value and not there]
