"""The CarControls page of a driver, encoded with little work per tick. Pure.

Presses of the gear paddles bring a car to a target gear: one shift per rising edge. Teleports and returns to the pits
are held on the page for some steps, verified, and repeated if needed.

Source: protocol page assetto-custom-ai, sections 4.2 and 4.4: the game sometimes ignores a teleport.
"""

import math
from typing import NamedTuple

from trailbrake.sims.assetto import codec, convert
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED, Buttons
from trailbrake.state import Controls, Pose, SimCommand

_PADDLE_STEPS = 3  # physics steps that a paddle is held: the game must see it in at least one
_REST_STEPS = 33  # then it is released for at least so many (0.1 s), and ...
_GIVE_UP_STEPS = 117  # ... unless the gear is engaged, for so many (0.35 s, as live clients wait) before another press
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


class _EncodedPage(NamedTuple):
    data: bytes
    fields: tuple[object, ...]  # what it was encoded for


class ControlsEncoder:
    """Encodes the controls page. Behind the axes the page stays the same for thousands of ticks and is kept.

    Args:
        mguh_mode: of the motor at the turbocharger, 0 to 255, as the game numbers its modes.
        headlights: whether they are on.
    """

    def __init__(self, mguh_mode: int, headlights: bool) -> None:
        self._mguh_mode, self._headlights, self._autoblip = mguh_mode, headlights, True
        self._page: _EncodedPage | None = None

    def apply_command(self, command: SimCommand) -> None:
        """Change what `command` requests of lights, blips and the motor at the turbocharger; they stay so."""
        if command.headlights is not None:
            self._headlights = command.headlights
        if command.mguh_mode is not None:
            self._mguh_mode = command.mguh_mode
        if command.autoblip is not None:
            self._autoblip = command.autoblip
        self._page = None

    def encode(
        self, controls: Controls, shift: int, buttons: Buttons = ALL_RELEASED, teleport: TeleportRequest = NO_TELEPORT
    ) -> bytes:
        """Return the page.

        Args:
            controls: of the driver; `gear` None leaves shifting to the game's automatic box.
            shift: paddle to hold: 1 up, -1 down, 0 none.
            buttons: of the settings.
            teleport: what to request.
        """
        fields = controls.clutch <= 0.0, controls.gear is None, buttons, teleport
        page = self._page
        if page is None or fields != page.fields:
            message = convert.controls_to_wire(
                controls, buttons=buttons, mguh_mode=self._mguh_mode, headlights=self._headlights,
                autoblip=self._autoblip, teleport_to=teleport.teleport_to, teleport=teleport.pose,
            )  # fmt: skip
            self._page = page = _EncodedPage(codec.encode_controls(message), fields)
        return codec.encode_driving(convert.driving_to_wire(controls, shift), page.data)


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
            if since < _PADDLE_STEPS:
                return press.paddle
            if since < _REST_STEPS or (gear != press.expected_gear and since < _GIVE_UP_STEPS):
                return 0
        if target_gear == gear:
            return 0
        paddle = 1 if target_gear > gear else -1
        self._press = _Press(step, paddle, gear + paddle)
        return paddle
