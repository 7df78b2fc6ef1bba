"""The CarControls page of a driver, encoded with little work per tick. Pure."""

from typing import NamedTuple

from trailbrake.sims.assetto import codec, convert
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED, Buttons
from trailbrake.sims.assetto.wire.teleporter import NO_TELEPORT, TeleportRequest
from trailbrake.state import Controls, SimCommand


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
        self,
        controls: Controls,
        shift: int,
        buttons: Buttons = ALL_RELEASED,
        teleport: TeleportRequest = NO_TELEPORT,
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
