"""Ignition, headlights and turn signals of the stand-in. No command of the wire sets them; options of `serve` do."""

from typing import NamedTuple

from trailbrake.state import CarState

BLINK_PERIOD = 2.0 / 3.0  # s: 90 flashes a minute, within the 60 to 120 of UN Regulation 6
STARTED = 2.0  # ignition level from which the engine runs


class Electrics(NamedTuple):
    """What the messages of a vehicle report.

    Attributes:
        ignition: 0 off, 1 accessory, 2 on, 3 starting.
        lights: off, low or high.
        turn_signal: off, left, right or hazard.
    """

    ignition: float = STARTED
    lights: str = "off"
    turn_signal: str = "off"

    def set_lights(self, state: CarState) -> None:
        """Fill in the lights of a state; a turn signal is lit for the first half of each period."""
        lit = 1.0 if state.time % BLINK_PERIOD < 0.5 * BLINK_PERIOD else 0.0
        state.low_beam = 1.0 if self.lights == "low" else 0.0
        state.high_beam = 1.0 if self.lights == "high" else 0.0
        state.left_signal = lit if self.turn_signal in ("left", "hazard") else 0.0
        state.right_signal = lit if self.turn_signal in ("right", "hazard") else 0.0

    @property
    def engine_runs(self) -> bool:
        """Whether the engine gives torque."""
        return self.ignition >= STARTED
