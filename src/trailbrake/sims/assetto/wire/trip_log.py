"""What a host records of a car from step to step: laps, sectors, distance, and damage by the side of the contact. Pure.

Source: protocol page assetto-custom-ai, sections 2.3 and 6. The unit of `car_damage` is not known; here it is the
km/h by which contacts have changed the car's speed, in the order front, rear, left, right; the fifth stays 0.
"""

import math

from trailbrake.sims.assetto.codec import ZERO5, Five
from trailbrake.state import CarState
from trailbrake.units import KMH

SECTORS = 3  # of equal length, as in `trailbrake.laps`
_NEW_LAP_S = 0.01  # s of a lap in which a car that was moved stands at its beginning
_FRONT, _REAR, _LEFT, _RIGHT = range(4)


class TripLog:
    """Follows one car. Call `add_state` after every step, `mark_discontinuity` where a command has moved the car.

    Attributes:
        laps: finished laps.
        last_lap: s, 0 before the first.
        last_sector: s that the newest finished sector took, 0 before the first.
        distance: m driven.
        damage: as the wire has it.
    """

    __slots__ = ("_previous", "_sector_began", "damage", "distance", "laps", "last_lap", "last_sector")

    def __init__(self) -> None:
        self._previous: CarState | None = None
        self.laps = 0
        self.last_lap = self.last_sector = self.distance = 0.0
        self._sector_began = math.nan  # s of the lap; NaN: not seen
        self.damage: Five = ZERO5

    def mark_discontinuity(self, *, repaired: bool = False) -> None:
        """Treat the next state as the first: the car was moved. `repaired`: its damage is 0 from now on."""
        self._previous = None
        if repaired:
            self.damage = ZERO5

    def add_state(self, state: CarState) -> None:
        """Add the state after one step."""
        previous, self._previous = self._previous, state
        if previous is None:
            self._sector_began = 0.0 if state.lap_time < _NEW_LAP_S else math.nan
            return
        dt = state.time - previous.time
        self.distance += state.speed * dt
        if state.lap > previous.lap:
            # A lap began at time - lap_time: what that has moved by is the time of the lap that ended.
            self.laps += 1
            self.last_lap = (state.time - state.lap_time) - (previous.time - previous.lap_time)
            self._finish_sector(self.last_lap)
            self._sector_began = 0.0
        elif state.lap_time < previous.lap_time:  # the first crossing after the car was moved
            self._sector_began = 0.0
        else:
            begun, now = previous.lap_progress, state.lap_progress
            gate = int(now * SECTORS) / SECTORS if now == now else 0.0
            if begun < gate <= now:
                at = (gate - begun) / (now - begun)
                self._finish_sector(previous.lap_time + at * (state.lap_time - previous.lap_time))
        if state.contact_depth > 0.0:
            self._add_damage(previous, state, dt)

    def _finish_sector(self, lap_time: float) -> None:
        if self._sector_began == self._sector_began:
            self.last_sector = lap_time - self._sector_began
        self._sector_began = lap_time

    def _add_damage(self, previous: CarState, state: CarState, dt: float) -> None:
        # The impact is the change of velocity, in the car's axes, beyond what its acceleration explains.
        x = state.velocity_x - previous.velocity_x - (state.acceleration_x + state.yaw_rate * state.velocity_y) * dt
        y = state.velocity_y - previous.velocity_y - (state.acceleration_y - state.yaw_rate * state.velocity_x) * dt
        impact = math.hypot(x, y)
        if not impact > 0.0:
            return
        along, across = _FRONT if x < 0.0 else _REAR, _RIGHT if y > 0.0 else _LEFT
        side = along if abs(x) >= abs(y) else across
        damage = list(self.damage)
        damage[side] += impact / KMH
        a, b, c, d, e = damage
        self.damage = (a, b, c, d, e)
