"""Wishes for the settings as presses of their up and down buttons, which is all that the wire has for them. Pure.

Source: protocol page assetto-custom-ai, sections 4.2, 4.3 and 6: a press acts on its rising edge. Where a setting
stands is told by acpmf_physics for a few of them, and for the player's car only; these are pressed until they stand as
near to the wish as they can. The others are counted: from the car's own, 1, by tenths, as in `paddles` on the host's
side. How many steps a setting of the game's car has, no source tells.
"""

import math
from collections.abc import Sequence

from trailbrake.sims.assetto.acpmf import Physics, Static
from trailbrake.state.controls import SETTINGS

Buttons = tuple[int, ...]  # 0 or 1, an up and a down of each of SETTINGS: their order on the wire too
RELEASED: Buttons = (0,) * (2 * len(SETTINGS))
UNKNOWN = (math.nan,) * len(SETTINGS)

_HOLD_STEPS = 3  # a button is held so many physics steps: the game must see it in at least one
_REST_STEPS = 3  # then released at least so long
_TELL_STEPS = 33  # from its release on, before what is told is taken for its effect: 0.1 s
_TRIES = 3  # presses without an effect before a wish is given up
_STEP = 0.1  # how far a press goes where nobody tells
_NEAR = 1e-3  # a setting within this of the wish is there
_RECOVERY_STEPS = 10  # of what acpmf_physics tells of the recharging; a count of them is on no page


def told_by(physics: Physics, static: Static) -> tuple[float, ...]:
    """Return how the settings of the player's car stand, one per name of SETTINGS, 0..1; NaN where nobody tells."""
    brakes, power = static.engine_brake_settings_count - 1, static.ers_power_controller_count - 1
    told = {
        "brake_bias": physics.brake_bias if physics.brake_bias > 0.0 else math.nan,
        "engine_brake_level": physics.engine_brake / brakes if brakes > 0 else math.nan,
        "delivery_level": physics.ers_power_level / power if power > 0 else math.nan,
        "recovery_level": physics.ers_recovery_level / _RECOVERY_STEPS if power > 0 else math.nan,
    }
    return tuple(told.get(name, math.nan) for name in SETTINGS)


class _Knob:
    """One setting.

    Attributes:
        turned: whether it was pressed away from the car's own.
    """

    __slots__ = ("_failed", "_held", "_level", "_own", "_since", "_stride", "_told", "_way", "_wish", "turned")

    def __init__(self, own: float) -> None:
        self._own = self._level = own
        self._stride = 0.0  # how far a press goes, as was told
        self._told = math.nan  # when it was pressed last
        self._way, self._held = 0, False
        # Step from which on the button is known to be as it is; None until the next: what is returned is written after
        # `step` was read, and how long after nobody knows.
        self._since: int | None = -_TELL_STEPS
        self._wish = math.nan
        self._failed = 0  # presses towards `_wish` that did not help
        self.turned = False

    def press(self, wish: float, told: float, step: int) -> int:
        """Return what to hold in `step`: 1 the button up, -1 the button down, 0 none."""
        if self._since is None:
            self._since = step
        since = step - self._since
        if self._held:
            if since < _HOLD_STEPS:
                return self._way
            self._held, self._since = False, None
            return 0
        is_told = not math.isnan(told)
        if since < (_TELL_STEPS if is_told else _REST_STEPS):
            return 0
        if is_told:
            self._learn(told)
        if math.isnan(wish):
            if not self.turned:
                return 0
            wish = self._own
        if wish != self._wish:
            self._wish, self._failed = wish, 0
        error = wish - self._level
        near = max(0.5 * (self._stride if is_told else _STEP) + 1e-6, _NEAR)
        if self._failed >= _TRIES or math.isnan(error) or abs(error) <= near:
            self.turned = self.turned and wish != self._own
            return 0
        self._way, self._held, self._since = (1 if error > 0.0 else -1), True, None
        self._told, self.turned = told, True
        if not is_told:
            self._level = min(max(self._level + self._way * _STEP, 0.0), 1.0)
        return self._way

    def _learn(self, told: float) -> None:
        moved = (told - self._told) * self._way
        if moved > 0.0:
            self._stride, self._failed = moved, 0
        elif moved == 0.0:  # missed, or at its end, or the car has not got it
            self._failed += 1
        elif moved < 0.0:
            self._failed = _TRIES
        self._told, self._level = math.nan, told
        if not self.turned:
            self._own = told


def _as_they_come() -> list[_Knob]:
    # The bias is a share of the brakes, and what the car's own is nobody knows before it is told.
    return [_Knob(math.nan if name == "brake_bias" else 1.0) for name in SETTINGS]


class Knobs:
    """The settings of one car, from when a driver takes it.

    Attributes:
        turned: whether a setting is not as the car's own.
    """

    __slots__ = ("_knobs", "_step", "turned")

    def __init__(self) -> None:
        self._knobs = _as_they_come()
        self._step = 0
        self.turned = False  # kept, not asked for: the link looks at it in every tick

    def press(self, wishes: Sequence[float], told: Sequence[float], step: int) -> Buttons:
        """Return the buttons to hold now.

        Args:
            wishes: one per name of SETTINGS, 0..1; NaN for the car's own, as it was before the first wish.
            told: how they stand, as `told_by`; UNKNOWN for a car that nobody tells about.
            step: the game's physics step. One that is smaller than the last is a new session, with the car's own.
        """
        if step < self._step:
            self._knobs = _as_they_come()
        self._step = step
        held = [knob.press(wish, now, step) for knob, wish, now in zip(self._knobs, wishes, told, strict=True)]
        self.turned = any(knob.turned for knob in self._knobs)
        return tuple(int(way == button) for way in held for button in (1, -1))
