"""Teleports and returns to the pits: held on the controls page for some steps, verified, and repeated if needed. Pure.

Source: protocol page assetto-custom-ai, section 4.4: the game sometimes ignores a teleport.
"""

import math
from typing import NamedTuple

from trailbrake.sims.assetto import convert
from trailbrake.state import Pose

_HOLD_STEPS = 4  # physics steps that a request is held: a little over 10 ms
_CHECK_STEPS = 40  # physics steps from a request to the check of the car's position
_MAX_TRIES = 5  # requests for one teleport in all
_NEAR_M = 3.0  # distance from the target at which the car has arrived


class TeleportRequest(NamedTuple):
    """The teleport fields of the controls page: `teleport_to` and, for `TELEPORT_POSE`, the target."""

    teleport_to: int = convert.TELEPORT_NONE
    pose: Pose | None = None


NO_TELEPORT = TeleportRequest()


class Teleporter:
    """Decides what the controls page requests.

    Attributes:
        request: what the page requests now.
        is_active: whether `update_request` has something to do.
    """

    def __init__(self) -> None:
        self.request = NO_TELEPORT
        self.is_active = False
        self._target: Pose | None = None  # until the car is seen there
        self._requested_at = 0  # physics step
        self._tries = 0

    def start_teleport(self, target: Pose | None, step: int) -> None:
        """Request a teleport to `target`, or a return to the pits (None), at physics step `step`."""
        self._target, self._tries = target, 0
        self._request_move(target, step)

    def update_request(self, step: int, x: float, y: float) -> None:
        """End a request that was held long enough, and repeat one that had no effect.

        Args:
            step: physics step. A smaller one than that of the request means a restart, which ends the request.
            x: position of the car, m, world.
            y: as `x`.
        """
        if self.request.teleport_to and not 0 <= step - self._requested_at < _HOLD_STEPS:
            self.request = NO_TELEPORT
        target = self._target
        if target is not None and step - self._requested_at >= _CHECK_STEPS:
            if math.hypot(x - target.x, y - target.y) < _NEAR_M or self._tries >= _MAX_TRIES:
                self._target = None
            else:
                self._request_move(target, step)
        self.is_active = self.request is not NO_TELEPORT or self._target is not None

    def cancel_request(self) -> None:
        """Request nothing any more."""
        self.request, self._target, self.is_active = NO_TELEPORT, None, False

    def _request_move(self, target: Pose | None, step: int) -> None:
        self.request = TeleportRequest(convert.TELEPORT_PITS if target is None else convert.TELEPORT_POSE, target)
        self._requested_at = step
        self._tries += 1
        self.is_active = True
