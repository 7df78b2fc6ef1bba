"""Presses of the gear paddles that bring a car to a target gear: one shift per rising edge. Pure.

Source: protocol page assetto-custom-ai, section 4.2.
"""

from typing import NamedTuple

_HOLD_STEPS = 3  # physics steps that a paddle is held: the game must see it in at least one
_REST_STEPS = 33  # then it is released for at least so many (0.1 s), and ...
_GIVE_UP_STEPS = 117  # ... unless the gear is engaged, for so many (0.35 s, as live clients wait) before another press


class _Press(NamedTuple):
    step: int  # at which it began
    paddle: int  # 1 up, -1 down
    expected_gear: int


class PaddleShifter:
    """Turns a target gear into paddle presses, one gear per press.

    Works on the game's steps and the gear that it reports. A gearbox may report neutral while it shifts, so a gear that
    is neither the old nor the new one is waited out.
    """

    __slots__ = ("_press",)

    def __init__(self) -> None:
        self._press: _Press | None = None

    def choose_paddle(self, target_gear: int | None, gear: int | None, step: int) -> int:
        """Return the paddle to hold now: 1 up, -1 down, 0 none.

        Args:
            target_gear: -1, 0, 1, ...; None leaves shifting to the game.
            gear: that the game reports; None before the first sample.
            step: the game's physics step.
        """
        press = self._press
        if press is not None and step < press.step:  # the game's clock jumped back
            press = self._press = None
        if target_gear is None or gear is None:
            return 0
        if press is not None:
            since = step - press.step
            if since < _HOLD_STEPS:
                return press.paddle
            if since < _REST_STEPS or (gear != press.expected_gear and since < _GIVE_UP_STEPS):
                return 0
        if target_gear == gear:
            return 0
        paddle = 1 if target_gear > gear else -1
        self._press = _Press(step, paddle, gear + paddle)
        return paddle
