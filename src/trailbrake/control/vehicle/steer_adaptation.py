"""How much steer a curvature takes, learned while driving: for cars without a description.

steer = c (k + u a), with the curvature k (1/m) and the lateral acceleration a (m/s^2): the linear single-track model
(Milliken and Milliken, Race Car Vehicle Dynamics, 1995, chapter 5). Recursive least squares with forgetting (Ljung,
System Identification, 2nd ed. 1999, chapter 11). A steering follows its command late, and only so fast; several such
laws learn side by side, and the one that has known best what the car would do is believed.
"""

from collections import deque

MAX_SIDE = 4.0  # m/s^2 beyond which tyres are no longer taken as linear
MIN_SPEED = 2.0  # m/s
SIDE_SPEED = 8.0  # m/s, below which lateral acceleration is too small to tell its part from that of the curvature
FORGETTING_S = 40.0  # s
STEER_ERROR, ERROR_S = 0.15, 0.02  # of the steer for what it did, by delay and lag as well; s in which it counts as one
SPREAD_CURVATURE, SPREAD_SIDE = 6.0, 0.05  # of the first guess: steer per 1/m and per m/s^2
# Delay (s) and rate (full locks per s) of the steerings that are tried.
STEERINGS = ((0.0, 100.0), (0.1, 100.0), (0.0, 2.5), (0.07, 2.5), (0.0, 1.5), (0.07, 1.5), (0.15, 1.5))
JUDGED_S = 20.0  # s over which they are compared
LEAST_GAIN = 0.5  # steer per curvature at any speed, over that of a slow car: what oversteers more is a mistake


class SteerAdaptation:
    """Steer for a curvature.

    Args:
        guess: steer per curvature (m) to begin with.
    """

    def __init__(self, guess: float) -> None:
        self._laws = [_SteerLaw(guess, delay, rate) for delay, rate in STEERINGS]
        self._best = self._laws[0]

    def steer_for(self, curvature: float, speed: float) -> float:
        """Return the steer (share of full lock, left) for a curvature (1/m, left) at `speed` (m/s)."""
        return self._best.gain_at(speed) * curvature

    def learn(self, steer: float, speed: float, yaw_rate: float, dt: float) -> None:
        """Learn from what a steer has done.

        Args:
            steer: that was commanded, share of full lock.
            speed: m/s.
            yaw_rate: rad/s.
            dt: s since the last call.
        """
        if dt <= 0.0:
            return
        for law in self._laws:
            law.learn(steer, speed, yaw_rate, dt)
        self._best = min(self._laws, key=lambda law: law.error)


class _SteerLaw:
    """The law of a steering with a delay (s) and a rate (full locks per s).

    Attributes:
        error: mean square of the steer that it would have expected, less that which was in force.
    """

    def __init__(self, guess: float, delay: float, rate: float) -> None:
        self._delay, self._rate = delay, rate
        self._commands: deque[tuple[float, float]] = deque()
        self._time = self._command = self._applied = self.error = 0.0
        self._per_curvature, self._per_side = guess, 0.0
        self._p00, self._p01, self._p11 = SPREAD_CURVATURE**2, 0.0, SPREAD_SIDE**2

    def gain_at(self, speed: float) -> float:
        """Return the steer per curvature (m) at a speed (m/s)."""
        return max(self._per_curvature + self._per_side * speed * speed, LEAST_GAIN * self._per_curvature)

    def learn(self, steer: float, speed: float, yaw_rate: float, dt: float) -> None:
        """Learn from what a steer has done: `SteerAdaptation.learn`."""
        self._follow(steer, dt)
        side = speed * yaw_rate
        if speed < MIN_SPEED or abs(side) > MAX_SIDE:
            return
        k = yaw_rate / speed
        self.error += min(dt / JUDGED_S, 1.0) * ((self._applied - self.gain_at(speed) * k) ** 2 - self.error)
        if speed < SIDE_SPEED:
            side = 0.0
        # Weighted by the time that it lasted.
        g0, g1 = self._p00 * k + self._p01 * side, self._p01 * k + self._p11 * side
        noise = STEER_ERROR**2 * ERROR_S / max(dt, 1e-4)
        scale = 1.0 / (noise + k * g0 + side * g1)
        error = self._applied - (self._per_curvature * k + self._per_side * side)
        self._per_curvature = max(self._per_curvature + g0 * scale * error, 0.3)
        self._per_side += g1 * scale * error
        fade = 1.0 + dt / FORGETTING_S
        self._p00 = min((self._p00 - g0 * g0 * scale) * fade, SPREAD_CURVATURE**2)
        self._p01 = self._p01 - g0 * g1 * scale
        self._p11 = min((self._p11 - g1 * g1 * scale) * fade, SPREAD_SIDE**2)

    def _follow(self, steer: float, dt: float) -> None:
        """Move the steer that is in force after a command."""
        self._time += dt
        self._commands.append((self._time, steer))
        while self._commands and self._commands[0][0] <= self._time - self._delay:
            self._command = self._commands.popleft()[1]
        step = self._rate * dt
        self._applied += min(max(self._command - self._applied, -step), step)
