"""The settings of our car (brake bias, levels of the aids): from a driver's targets to buttons on the controls page."""

from trailbrake.sims.assetto.wire.classic_reader import ClassicPageReader
from trailbrake.sims.assetto.wire.setting_buttons import (
    ALL_RELEASED,
    UNKNOWN_LEVELS,
    ButtonPresser,
    levels_from_pages,
)
from trailbrake.state import Controls, settings_of

_READ_STEPS = 11  # physics steps between reads of the levels; fewer than `setting_buttons` waits for an effect
_NO_TARGETS = settings_of(Controls())
_PLAYER = 0  # the only car that the classic pages describe


class CarSettings:
    """Chooses the buttons of one car.

    Args:
        reader: of the classic pages, which report the levels of the player's car.
        index: number of the car.

    Attributes:
        buttons: to hold now.
    """

    def __init__(self, reader: ClassicPageReader, index: int) -> None:
        self._reader, self._is_player = reader, index == _PLAYER
        self._presser = ButtonPresser()
        self.buttons = ALL_RELEASED
        self._levels, self._read_at = UNKNOWN_LEVELS, -_READ_STEPS

    def update_buttons(self, controls: Controls, step: int, *, restarting: bool) -> None:
        """Choose the buttons to hold at physics step `step`.

        Args:
            controls: with the targets of the settings; NaN for the car's own.
            step: physics step.
            restarting: whether a restart is requested. The car comes back with its own settings, and presses before
                that are lost.
        """
        if restarting:
            self._presser, self.buttons = ButtonPresser(), ALL_RELEASED
            return
        targets = settings_of(controls)
        if targets != _NO_TARGETS or self._presser.is_changed:
            self.buttons = self._presser.choose_buttons(targets, self._read_levels(step), step)

    def release_buttons(self) -> None:
        """Hold no button until the next `update_buttons`."""
        self.buttons = ALL_RELEASED

    def _read_levels(self, step: int) -> tuple[float, ...]:
        """Return the levels that the game reports, NaN where it reports none."""
        if self._is_player and not 0 <= step - self._read_at < _READ_STEPS:
            self._read_at = step
            physics, static = self._reader.read_physics(), self._reader.read_static()
            self._levels = UNKNOWN_LEVELS if physics is None or static is None else levels_from_pages(physics, static)
        return self._levels
