"""A PID controller for sampled signals: explicit time step, low-passed derivative, no wind-up."""

import math


class LowPass:
    """First-order low-pass, exact for any step (Astrom and Murray, Feedback Systems, section 8.3).

    Args:
        tau: s, its time constant; 0 passes everything.
    """

    __slots__ = ("_tau", "value")

    def __init__(self, tau: float) -> None:
        self._tau = tau
        self.value = math.nan

    def update(self, value: float, dt: float) -> float:
        """Return the filtered `value`, `dt` s after the last one; the first one passes unchanged."""
        if math.isnan(self.value) or self._tau <= 0.0:
            self.value = value
        else:
            self.value += (value - self.value) * -math.expm1(-dt / self._tau)
        return self.value


class PidController:
    """One controller: kp error + integral of ki error + kd d(error)/dt, limited to -1..1.

    The derivative is that of the low-passed error, so that a step of a quantised signal makes no spike. The integral
    is limited to `max_integral`, and does not change while the output is at a limit and the error would drive it
    further (conditional integration).

    Args:
        kp: output per input.
        ki: output per input and s.
        kd: output per input/s.
        tau: s, time constant of the derivative's low-pass.
        max_integral: limit of the integral's size.

    Attributes:
        slope: input/s, the low-passed rate of the error.
    """

    __slots__ = ("_integral", "_kd", "_ki", "_kp", "_reach", "_smooth", "_tau", "slope")

    def __init__(self, kp: float, ki: float, kd: float = 0.0, tau: float = 0.0, max_integral: float = 1.0) -> None:
        self._kp, self._ki, self._kd, self._tau, self._reach = kp, ki, kd, tau, max_integral
        self._smooth = LowPass(tau)
        self._integral = 0.0
        self.slope = 0.0

    def update(self, error: float, dt: float) -> float:
        """Return the output for `error`, `dt` s after the last call; dt = 0 (first call, gap) resets the derivative."""
        if dt > 0.0:
            before = self._smooth.value
            change = self._smooth.update(error, dt) - before
            self.slope = change / dt if change == change else 0.0  # NaN on the first call
        else:
            self._smooth, self.slope = LowPass(self._tau), 0.0
            self._smooth.update(error, 0.0)
        free = self._kp * error + self._kd * self.slope
        if abs(free + self._integral) < 1.0 or (free + self._integral) * error < 0.0:
            self._integral += self._ki * error * dt
            self._integral = min(max(self._integral, -self._reach), self._reach)
        return min(max(free + self._integral, -1.0), 1.0)
