"""A gear wish as paddle presses, as protocol page assetto-custom-ai, section 4.2, wants them: one shift per edge."""

_HOLD_STEPS = 3  # a paddle is held so long: the game must see it in at least one step
_REST_STEPS = 33  # then released at least so long (0.1 s), and ...
_GIVE_UP_STEPS = 117  # ... unless the gear has come, so long (0.35 s, what live clients wait) before another try


class Shifter:
    """Turns a gear wish into paddle presses, one gear per press.

    Works on the game's steps and the gear that it reports. A box may tell neutral while it shifts, so that a
    gear which is neither the old nor the new one is waited out.
    """

    __slots__ = ("_expected", "_paddle", "_pressed_at")

    def __init__(self) -> None:
        self._pressed_at = -_GIVE_UP_STEPS
        self._paddle = 0
        self._expected = 0

    def paddle(self, wish: int | None, gear: int | None, step: int) -> int:
        """Return the paddle to hold now: 1 up, -1 down, 0 none."""
        since = step - self._pressed_at
        if since < 0:  # the game's clock jumped back
            self.__init__()  # type: ignore[misc]
            since = _GIVE_UP_STEPS
        if wish is None or gear is None:
            return 0
        if since < _HOLD_STEPS:
            return self._paddle
        if wish == gear or since < _REST_STEPS or (gear != self._expected and since < _GIVE_UP_STEPS):
            return 0
        self._paddle = 1 if wish > gear else -1
        self._expected = gear + self._paddle
        self._pressed_at = step
        return self._paddle
