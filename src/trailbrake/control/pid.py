"""A PID for signals that come in steps: explicit time step, low-passed derivative, an integral that does not wind up."""

import math


class LowPass:
    """First-order low-pass of time constant `tau` (s), exact for any step (Astrom and Murray, Feedback Systems, 8.3)."""

    __slots__ = ("_tau", "_value")

    def __init__(self, tau: float) -> None:
        self._tau = tau
        self._value = math.nan

    def update(self, value: float, dt: float) -> float:
        """Return the filtered `value`, `dt` s after the last; the first one passes as it is."""
        if math.isnan(self._value) or self._tau <= 0.0:
            self._value = value
        else:
            self._value += (value - self._value) * -math.expm1(-dt / self._tau)
        return self._value


class Pid:
    """One controller: output = kp error + integral of ki error + kd d(error)/dt, held to its limits.

    The derivative is that of the low-passed error, so that one step of a quantised signal is no kick. The integral
    stands still while the output is at a limit and the error pushes further (conditional integration).

    Args:
        kp: output per input.
        ki: output per input and s.
        kd: output per input/s.
        tau: s, time constant of the derivative's low-pass.
        lo: least output.
        hi: largest output.
    """

    __slots__ = ("_filter", "_hi", "_integral", "_kd", "_ki", "_kp", "_lo", "_smooth")

    def __init__(self, kp: float, ki: float, kd: float, *, tau: float, lo: float, hi: float) -> None:
        self._kp, self._ki, self._kd, self._lo, self._hi = kp, ki, kd, lo, hi
        self._filter = LowPass(tau)
        self._smooth = math.nan
        self._integral = 0.0

    def update(self, error: float, dt: float) -> float:
        """Return the output for `error`, `dt` s after the last call; 0 s (a first call, a gap) moves no memory."""
        if dt <= 0.0:
            self._filter = LowPass(self._filter.tau)
            self._smooth = self._filter.update(error, 0.0)
            return min(max(self._kp * error + self._integral, self._lo), self._hi)
        smooth = self._filter.update(error, dt)
        slope = (smooth - self._smooth) / dt if self._smooth == self._smooth else 0.0
        self._smooth = smooth
        free = self._kp * error + self._kd * slope
        integral = self._integral + self._ki * error * dt
        output = free + integral
        if self._lo < output < self._hi or (output - self._lo) * error > 0.0 > (output - self._hi) * error:
            self._integral = integral
        return min(max(free + self._integral, self._lo), self._hi)
