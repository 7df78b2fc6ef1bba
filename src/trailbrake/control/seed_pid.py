"""The PID of the package simple-pid, to the bit, with the clock as an argument.

The `*_seed` drivers answer as programs do that were written with that package. What it does, and this keeps:

* a call less than `SAMPLE_TIME` after the last one that counted returns the old output;
* the derivative is on the measurement, unfiltered, and 0 on the first call;
* the integral alone is held to the output's limits, then their sum is;
* the step is the time since the last call that counted, however long ago that was.

Source: simple-pid 2.0.1, its documented behaviour; `tests/control/test_seed_pid.py` compares the numbers.
"""

SAMPLE_TIME = 0.01  # s, the package's default
INSTANT = 1e-16  # s, the step of a call at the time of the last one


class SeedPid:
    """One controller. Gains in output per input, per input and s, and s of output per input.

    Args:
        kp: proportional gain.
        ki: integral gain.
        kd: derivative gain.
        setpoint: the input that is wanted.
        lo: least output.
        hi: largest output.
    """

    def __init__(self, kp: float, ki: float, kd: float, setpoint: float, lo: float, hi: float) -> None:
        self._kp, self._ki, self._kd, self._setpoint = kp, ki, kd, setpoint
        self._lo, self._hi = lo, hi
        self._time = 0.0
        self._integral = min(max(0.0, lo), hi)
        self._input: float | None = None
        self._output: float | None = None

    def update(self, value: float, now: float) -> float:
        """Return the output for the input `value` at `now` (s since the controller was made)."""
        step = now - self._time or INSTANT
        if step < SAMPLE_TIME and self._output is not None:
            return self._output
        error = self._setpoint - value
        change = 0.0 if self._input is None else value - self._input
        self._integral = min(max(self._integral + self._ki * error * step, self._lo), self._hi)
        output = self._kp * error + self._integral + -self._kd * change / step
        self._output = output = min(max(output, self._lo), self._hi)
        self._input, self._time = value, now
        return output
