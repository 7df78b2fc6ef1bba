"""What a client's buttons have done so far: gears, and the settings with an up and a down button. Pure.

Source: protocol page assetto-custom-ai, section 4.2. The game acts on rising edges, one step each. How far a step
of a setting goes is not known; here a tenth of the car's own, and a hundredth of the brake torque for the bias.
"""

import math
from operator import attrgetter
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.sims.assetto.codec import CarControls
from trailbrake.state.controls import SETTINGS

_SHIFT_STEPS = 166  # a shift that has not come after 0.5 s is forgotten
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
_RELEASED = _read_buttons(CarControls())


class Gears:
    """The gear wanted by paddles: one gear per rising edge, none while a shift is still under way."""

    __slots__ = ("_down", "_left", "_up", "_wish")

    def __init__(self) -> None:
        self._up = self._down = False
        self._wish: int | None = None
        self._left = 0

    def gear(self, message: CarControls, gear: int, top_gear: int) -> int:
        """Return the gear wanted by a car that is in `gear`. To be called once per physics step."""
        up, down = message.gear_up != 0, message.gear_dn != 0
        # Both at once are an up and a down, which is nothing.
        step = (up and not self._up) - (down and not self._down)
        self._up, self._down = up, down
        if self._wish is not None and self._wish != gear and self._left > 0:
            self._left -= 1
            return self._wish
        self._wish = max(-1, min(top_gear, gear + step))
        self._left = _SHIFT_STEPS
        return self._wish

    def forget(self) -> None:
        """Drop a pending shift: the car was put somewhere else, or shifts by itself."""
        self._wish = None


class Dials:
    """The settings as they stand, NaN where no button was pressed yet: the car's own.

    Attributes:
        values: one per name of `state.controls.SETTINGS`, 0..1.
    """

    __slots__ = ("_own", "_pressed", "values")

    def __init__(self, car: CarParams) -> None:
        self._own = [car.brakes.front_share if name == "brake_bias" else 1.0 for name in SETTINGS]
        self._pressed = _RELEASED
        self.values: tuple[float, ...] = (math.nan,) * len(SETTINGS)

    def turn(self, message: CarControls) -> None:
        """Take the buttons of a new message."""
        pressed = _read_buttons(message)
        if pressed == self._pressed:
            return
        values = list(self.values)
        for i, (name, own) in enumerate(zip(SETTINGS, self._own, strict=True)):
            up, down = (pressed[k] != 0 and self._pressed[k] == 0 for k in (2 * i, 2 * i + 1))
            if up != down:
                now = own if math.isnan(values[i]) else values[i]
                step = _BIAS_STEP if name == "brake_bias" else _LEVEL_STEP
                values[i] = min(max(round(now + (step if up else -step), 6), 0.0), 1.0)
        self._pressed, self.values = pressed, tuple(values)


def missing(message: CarControls, car: CarParams) -> list[str]:
    """Return what `message` asks for that `car`, as our world has it, has not."""
    asked = message
    has_hybrid = car.hybrid is not None
    wanted = (
        ("drs", asked.drs, car.aero.has_drs),
        ("kers", asked.kers, has_hybrid),
        ("abs", asked.abs_up or asked.abs_dn, car.brakes.abs),
        ("tc", asked.tc_up or asked.tc_dn, car.brakes.tc),
        ("turbo", asked.turbo_up or asked.turbo_dn, car.engine.turbo_share > 0.0),
        ("mguk_delivery", asked.mguk_delivery_up or asked.mguk_delivery_dn, has_hybrid),
        ("mguk_recovery", asked.mguk_recovery_up or asked.mguk_recovery_dn, has_hybrid),
        ("mguh_mode", asked.mguh_mode, False),
        ("headlights", asked.headlights, False),
    )
    return [name for name, value, there in wanted if value and not there]
