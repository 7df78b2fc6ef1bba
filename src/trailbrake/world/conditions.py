"""`WorldConditions`: what changes in an embedded world while cars drive, and `GripSchedule`, the grip that follows."""

from dataclasses import dataclass
from typing import Literal

from trailbrake.errors import UsageError
from trailbrake.tracks.track import SURFACES


@dataclass(frozen=True, kw_only=True)
class WorldConditions:
    """Changes of the world during a drive, which no wire announces. The defaults change nothing.

    Attributes:
        grip: factor on the grip of all ground that is reached at the end of lap `grip_lap`, 0.05 to 1.5.
        grip_lap: lap of the first car in which the grip changes, in proportion to the way; 1 = the first.
        rain_after: laps of the first car after which it rains; 0 = it does not.
        rain_seconds: s from the first drop until the road is wet, which has 0.7 of its grip.
        fuel_rate: consumption of fuel over that of the car's file: its mass falls so much faster.
        slipstream: `on`: cars lose drag and downforce behind each other. `off` is the default: wires do not announce a
            wake, and a car is to drive as its file says unless the user wants a race.
        grid: where the cars begin, KIND[:ORDER] of `world.grid.parse_grid`; "": in line, the first on the start line.
        race_laps: laps of a race, after which race control shows the chequered flag; 0: it does not.
    """

    grip: float = 1.0
    grip_lap: int = 2
    rain_after: int = 0
    rain_seconds: float = 20.0
    fuel_rate: float = 1.0
    slipstream: Literal["off", "on"] = "off"
    grid: str = ""
    race_laps: int = 0

    def __post_init__(self) -> None:
        for name, right, wanted in (
            ("grip", 0.05 <= self.grip <= 1.5, "0.05 .. 1.5"),
            ("grip_lap", self.grip_lap >= 1, "1 or more"),
            ("rain_after", self.rain_after >= 0, "0 or more laps"),
            ("rain_seconds", self.rain_seconds >= 0.0, "0 s or more"),
            ("race_laps", self.race_laps >= 0, "0 or more laps"),
            ("fuel_rate", 0.0 <= self.fuel_rate <= 1000.0, "0 .. 1000"),
        ):
            if not right:
                raise UsageError("no such condition", where=f"--world {name}", expected=wanted,
                                 got=f"{vars(self)[name]:g}")  # fmt: skip

    @property
    def changes_grip(self) -> bool:
        """Whether the grip of the ground changes at any time."""
        return self.grip != 1.0 or self.rain_after > 0


class GripSchedule:
    """The factor on the grip of all ground over a drive.

    Args:
        conditions: what changes.
    """

    def __init__(self, conditions: WorldConditions) -> None:
        self._conditions = conditions
        self._rain_begins: float | None = None

    def reset(self) -> None:
        """Begin again: it does not rain."""
        self._rain_begins = None

    def compute_factor(self, time: float, lap: int, progress: float) -> float:
        """Return the factor now.

        Args:
            time: s of simulator time; never falls but by a reset.
            lap: number of the first car's lap, 1 = the first.
            progress: share of that lap that is driven, 0..1.
        """
        changes = self._conditions
        done = min(max(lap + progress - changes.grip_lap, 0.0), 1.0)
        factor = 1.0 + done * (changes.grip - 1.0)
        if changes.rain_after and lap > changes.rain_after:
            if self._rain_begins is None:
                self._rain_begins = time
            since = time - self._rain_begins
            wet = min(since / changes.rain_seconds, 1.0) if changes.rain_seconds > 0.0 else 1.0
            factor *= 1.0 + wet * (SURFACES["wet"].grip - 1.0)
        return factor
