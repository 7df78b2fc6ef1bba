"""Presses of the up and down buttons that bring a car's settings to their targets: the wire has no other way. Pure.

Source: protocol page assetto-custom-ai, sections 4.2, 4.3 and 6: a press acts on its rising edge. acpmf_physics reports
the level of a few settings, for the player's car only; their buttons are pressed until the level is as near to the
target as it can be. The levels of the others are counted: from the car's own, 1, by tenths, as in `button_state` on the
host's side. No source says how many steps a setting of the game's car has.
"""

import math
from collections.abc import Sequence

from trailbrake.sims.assetto.wire.acpmf import Physics, Static
from trailbrake.state.controls import SETTINGS

Buttons = tuple[int, ...]  # 0 or 1, an up and a down of each of SETTINGS: their order on the wire too
ALL_RELEASED: Buttons = (0,) * (2 * len(SETTINGS))
UNKNOWN_LEVELS = (math.nan,) * len(SETTINGS)

_HOLD_STEPS = 3  # physics steps that a button is held: the game must see it in at least one
_REST_STEPS = 3  # then it is released for at least so many
_REPORT_STEPS = 33  # from its release until a reported level counts as its effect: 0.1 s
_MAX_TRIES = 3  # presses without an effect before a target is given up
_ASSUMED_STEP = 0.1  # change of the level by one press where no level is reported
_TOLERANCE = 1e-3  # a level within this of the target has reached it
_RECOVERY_STEPS = 10  # range of the recharging level in acpmf_physics; no page has the number of its steps


def levels_from_pages(physics: Physics, static: Static) -> tuple[float, ...]:
    """Return the levels of the player's car, one per name of SETTINGS, 0..1; NaN where the pages report none."""
    brakes, power = static.engine_brake_settings_count - 1, static.ers_power_controller_count - 1
    reported = {
        "brake_bias": physics.brake_bias if physics.brake_bias > 0.0 else math.nan,
        "engine_brake_level": physics.engine_brake / brakes if brakes > 0 else math.nan,
        "delivery_level": physics.ers_power_level / power if power > 0 else math.nan,
        "recovery_level": physics.ers_recovery_level / _RECOVERY_STEPS if power > 0 else math.nan,
    }
    return tuple(reported.get(name, math.nan) for name in SETTINGS)


class _SettingButton:
    """The pair of buttons of one setting.

    Args:
        own_level: the car's own level; NaN where it is unknown until it is reported.

    Attributes:
        is_changed: whether the setting was pressed away from the car's own level.
    """

    __slots__ = (
        "_direction", "_failures", "_held", "_level", "_level_at_press", "_own_level", "_press_step", "_since",
        "_target", "is_changed",
    )  # fmt: skip

    def __init__(self, own_level: float) -> None:
        self._own_level = self._level = own_level
        self._press_step = 0.0  # change of the level by one press, as observed
        self._level_at_press = math.nan  # the reported level when the button was pressed last
        self._direction, self._held = 0, False
        # The step from which on the button is known to be as it is. None until the next call: the result of a call is
        # written after its `step` was read, and how long after is unknown.
        self._since: int | None = -_REPORT_STEPS
        self._target = math.nan
        self._failures = 0  # presses towards `_target` without an effect
        self.is_changed = False

    def choose_direction(self, target: float, reported: float, step: int) -> int:
        """Return the button to hold in physics step `step`: 1 up, -1 down, 0 none.

        Args:
            target: 0..1; NaN for the car's own level.
            reported: the level that the game reports; NaN where it reports none.
            step: physics step.
        """
        if self._since is None:
            self._since = step
        since = step - self._since
        if self._held:
            if since < _HOLD_STEPS:
                return self._direction
            self._held, self._since = False, None
            return 0
        is_reported = not math.isnan(reported)
        if since < (_REPORT_STEPS if is_reported else _REST_STEPS):
            return 0
        if is_reported:
            self._update_level(reported)
        if math.isnan(target):
            if not self.is_changed:
                return 0
            target = self._own_level
        if target != self._target:
            self._target, self._failures = target, 0
        error = target - self._level
        near = max(0.5 * (self._press_step if is_reported else _ASSUMED_STEP) + 1e-6, _TOLERANCE)
        if self._failures >= _MAX_TRIES or math.isnan(error) or abs(error) <= near:
            self.is_changed = self.is_changed and target != self._own_level
            return 0
        self._direction, self._held, self._since = (1 if error > 0.0 else -1), True, None
        self._level_at_press, self.is_changed = reported, True
        if not is_reported:
            self._level = min(max(self._level + self._direction * _ASSUMED_STEP, 0.0), 1.0)
        return self._direction

    def _update_level(self, reported: float) -> None:
        moved = (reported - self._level_at_press) * self._direction
        if moved > 0.0:
            self._press_step, self._failures = moved, 0
        elif moved == 0.0:  # the press was missed, or the level is at its end, or the car lacks the setting
            self._failures += 1
        elif moved < 0.0:
            self._failures = _MAX_TRIES
        self._level_at_press, self._level = math.nan, reported
        if not self.is_changed:
            self._own_level = reported


def _initial_buttons() -> list[_SettingButton]:
    # The bias is a share of the brake torque; the car's own is unknown until the game reports it.
    return [_SettingButton(math.nan if name == "brake_bias" else 1.0) for name in SETTINGS]


class ButtonPresser:
    """The buttons of all settings of one car, from when a driver takes it.

    Attributes:
        is_changed: whether a setting is not at the car's own level.
    """

    __slots__ = ("_buttons", "_step", "is_changed")

    def __init__(self) -> None:
        self._buttons = _initial_buttons()
        self._step = 0
        self.is_changed = False  # kept rather than computed: the link reads it in every tick

    def choose_buttons(self, targets: Sequence[float], reported: Sequence[float], step: int) -> Buttons:
        """Return the buttons to hold now.

        Args:
            targets: one per name of SETTINGS, 0..1; NaN for the car's own level, as it was before the first target.
            reported: the levels, as from `levels_from_pages`; UNKNOWN_LEVELS for a car without reports.
            step: the game's physics step. One that is smaller than the last is a new session, with the car's own
                levels.
        """
        if step < self._step:
            self._buttons = _initial_buttons()
        self._step = step
        held = [
            button.choose_direction(target, level, step)
            for button, target, level in zip(self._buttons, targets, reported, strict=True)
        ]
        self.is_changed = any(button.is_changed for button in self._buttons)
        return tuple(int(direction == way) for direction in held for way in (1, -1))
