"""Presses of the gear paddles that bring a car to a target gear: one shift per rising edge. Pure.

Source: protocol page assetto-custom-ai, section 4.2.
"""

_HOLD_STEPS = 3  # physics steps that a paddle is held: the game must see it in at least one
_REST_STEPS = 33  # then it is released for at least so many (0.1 s), and ...
_GIVE_UP_STEPS = 117  # ... unless the gear is engaged, for so many (0.35 s, as live clients wait) before another press


class PaddleShifter:
    """Turns a target gear into paddle presses, one gear per press.

    Works on the game's steps and the gear that it reports. A gearbox may report neutral while it shifts, so a gear that
    is neither the old nor the new one is waited out.
    """

    __slots__ = ("_expected_gear", "_paddle", "_pressed_at")

    def __init__(self) -> None:
        self._reset_press()

    def _reset_press(self) -> None:
        self._pressed_at = -_GIVE_UP_STEPS
        self._paddle = 0
        self._expected_gear = 0

    def choose_paddle(self, target_gear: int | None, gear: int | None, step: int) -> int:
        """Return the paddle to hold now: 1 up, -1 down, 0 none.

        Args:
            target_gear: -1, 0, 1, ...; None leaves shifting to the game.
            gear: that the game reports; None before the first sample.
            step: the game's physics step.
        """
        since = step - self._pressed_at
        if since < 0:  # the game's clock jumped back
            self._reset_press()
            since = _GIVE_UP_STEPS
        if target_gear is None or gear is None:
            return 0
        if since < _HOLD_STEPS:
            return self._paddle
        if target_gear == gear or since < _REST_STEPS or (gear != self._expected_gear and since < _GIVE_UP_STEPS):
            return 0
        self._paddle = 1 if target_gear > gear else -1
        self._expected_gear = gear + self._paddle
        self._pressed_at = step
        return self._paddle
