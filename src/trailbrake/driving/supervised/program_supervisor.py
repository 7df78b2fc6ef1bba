"""`ProgramSupervisor`: the supervisor of a car that a program steps; it brakes for faults of the program that pass."""

import copy
from collections.abc import Callable
from math import isnan, nan

from trailbrake.driving.loop.supervisor import BAD_CONTROLS_LIMIT_S, Supervisor
from trailbrake.state import CarState, Controls


class ProgramSupervisor(Supervisor):
    """A Supervisor that brakes while a program answers NaN, and lets it drive on afterwards.

    Where the wire can leave a control as it is, NaN does that. A brake that is not the program's own does not stay:
    the first NaN behind it stands for the program's last number, or for 0 if it has sent none.

    Args:
        say: receives a line when braking begins and when it ends.

    Attributes:
        leaves: names of CONTROL_FIELDS that the wire leaves unchanged for NaN.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self.leaves: frozenset[str] = frozenset()
        self._say = say
        self._own_steer = self._own_throttle = self._own_brake = 0.0  # the program's last numbers
        self._is_overridden = False  # whether the wire says what the program has not requested
        self._brakes_for_numbers = False

    def safe_stop_controls(self, state: CarState) -> Controls:
        """Return the controls of a safe stop."""
        self._is_overridden = True
        return super().safe_stop_controls(state)

    def limit_controls(self, controls: Controls, dt: float) -> Controls:
        """Return what may be sent of a program's answer; NaN only in what the wire leaves unchanged."""
        rejected = self.counters.rejected
        filled = self._fill_unchanged(controls) if self.leaves else controls
        passed = super().limit_controls(filled, dt)
        if self.counters.rejected != rejected:
            return passed
        if self._brakes_for_numbers:
            self._brakes_for_numbers = False
            self._say("the program steps with numbers again")
        if not isnan(controls.steer):
            self._own_steer = passed.steer
        if not isnan(controls.throttle):
            self._own_throttle = passed.throttle
        if not isnan(controls.brake):
            self._own_brake = passed.brake
        if filled is not controls:
            passed = self._restore_unchanged(passed, controls)
        self._is_overridden = False
        return passed

    def _fill_unchanged(self, controls: Controls) -> Controls:
        """Return controls with numbers in place of the NaN that the wire leaves unchanged."""
        leaves, last = self.leaves, self._last
        filled = copy.copy(controls)
        if isnan(controls.steer) and "steer" in leaves:
            filled.steer = self._own_steer if self._is_overridden else last.steer
        if isnan(controls.throttle) and "throttle" in leaves:
            filled.throttle = self._own_throttle if self._is_overridden else last.throttle
        if isnan(controls.brake) and "brake" in leaves:
            filled.brake = self._own_brake if self._is_overridden else last.brake
        if controls.custom and "custom" in leaves:
            filled.custom = tuple(0.0 if isnan(value) else value for value in controls.custom)
        return filled

    def _restore_unchanged(self, passed: Controls, controls: Controls) -> Controls:
        """Return `passed` with the NaN of `controls`; free values alone where the wire says what is not its own."""
        sent = copy.copy(passed)
        if not self._is_overridden:
            sent.steer = nan if isnan(controls.steer) else passed.steer
            sent.throttle = nan if isnan(controls.throttle) else passed.throttle
            sent.brake = nan if isnan(controls.brake) else passed.brake
        sent.custom = tuple(
            nan if isnan(wanted) else value for value, wanted in zip(passed.custom, controls.custom, strict=True)
        )
        return sent

    def _reject_controls(self, dt: float) -> Controls:
        self.counters.rejected += 1
        self._bad_time += dt
        if self._bad_time <= BAD_CONTROLS_LIMIT_S:
            return self._last
        if not self._brakes_for_numbers:
            self._brakes_for_numbers = True
            self._say("the program steps with NaN or infinite controls: braking until it steps with numbers")
        return self.safe_stop_controls(CarState())
