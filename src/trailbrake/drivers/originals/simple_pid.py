"""The PID controller of the package simple-pid, to the bit, with the time as an argument.

Three of the originals were written with that package. Its behaviour, which this class reproduces:

* a call less than `SAMPLE_TIME` after the last update returns the previous output;
* the derivative acts on the measurement, is not filtered, and is 0 on the first call;
* the integral is limited to the output's range, and so is the sum of all terms;
* the time step is the time since the last update, however long ago that was.

Source: simple-pid 2.0.1, its documented behaviour; `tests/control/test_seed_pid.py` compares the numbers.
"""

SAMPLE_TIME = 0.01  # s, the package's default
ZERO_STEP = 1e-16  # s, the step of a call at the time of the last one


class SimplePid:
    """One controller.

    Args:
        kp: proportional gain, output per input.
        ki: integral gain, output per input and s.
        kd: derivative gain, output per input/s.
        setpoint: target of the input.
        limits: smallest and largest output.
    """

    def __init__(self, kp: float, ki: float, kd: float, setpoint: float, limits: tuple[float, float]) -> None:
        self._kp, self._ki, self._kd, self._setpoint = kp, ki, kd, setpoint
        self._lo, self._hi = lo, hi = limits
        self._time = 0.0
        self._integral = min(max(0.0, lo), hi)
        self._input: float | None = None
        self._output: float | None = None

    def update(self, value: float, now: float) -> float:
        """Return the output for the input `value` at `now` (s since the controller was made)."""
        step = now - self._time or ZERO_STEP
        if step < SAMPLE_TIME and self._output is not None:
            return self._output
        error = self._setpoint - value
        change = 0.0 if self._input is None else value - self._input
        self._integral = min(max(self._integral + self._ki * error * step, self._lo), self._hi)
        output = self._kp * error + self._integral + -self._kd * change / step
        self._output = output = min(max(output, self._lo), self._hi)
        self._input, self._time = value, now
        return output
