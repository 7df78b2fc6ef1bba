"""What a host remembers of a car between steps: finished laps, distance, and damage by the side that was hit. Pure.

Source: protocol page assetto-custom-ai, sections 2.3 and 6. The unit of `car_damage` is not known; here it is the
km/h that contacts have changed the car's speed by, in the order front, rear, left, right; the fifth stays 0.
"""

import math

from trailbrake.sims.assetto.codec import ZERO5, Five
from trailbrake.state import CarState
from trailbrake.units import KMH

_NEW_LAP = 1e-6  # s by which the start of the lap must have moved
_FRONT, _REAR, _LEFT, _RIGHT = range(4)


class Logbook:
    """Follows one car. Call `follow` after every step, `reset` where the car was put back or the session began anew.

    Attributes:
        laps: finished laps.
        last_lap: s, 0 before the first.
        distance: m driven.
        damage: as the wire has it.
    """

    __slots__ = ("_before", "damage", "distance", "laps", "last_lap")

    def __init__(self) -> None:
        self._before: CarState | None = None
        self.laps = 0
        self.last_lap = self.distance = 0.0
        self.damage: Five = ZERO5

    def jump(self, *, repaired: bool = False) -> None:
        """Take the next state as the first: the car was put somewhere else."""
        self._before = None
        if repaired:
            self.damage = ZERO5

    def follow(self, state: CarState) -> None:
        """Take one step's state."""
        before, self._before = self._before, state
        if before is None:
            return
        dt = state.time - before.time
        self.distance += state.speed * dt
        # The lap began at time - lap_time: when that moves, the lap before it has taken just as long.
        moved = (state.time - state.lap_time) - (before.time - before.lap_time)
        if moved > _NEW_LAP:
            self.laps += 1
            self.last_lap = moved
        if state.contact_depth > 0.0:
            self._hit(before, state, dt)

    def _hit(self, before: CarState, state: CarState, dt: float) -> None:
        # What changed the velocity beyond the acceleration, in the car's axes, was the blow.
        ahead = state.velocity_x - before.velocity_x - (state.acceleration_x + state.yaw_rate * state.velocity_y) * dt
        aside = state.velocity_y - before.velocity_y - (state.acceleration_y - state.yaw_rate * state.velocity_x) * dt
        blow = math.hypot(ahead, aside)
        if not blow > 0.0:
            return
        along, across = _FRONT if ahead < 0.0 else _REAR, _RIGHT if aside > 0.0 else _LEFT
        side = along if abs(ahead) >= abs(aside) else across
        damage = list(self.damage)
        damage[side] += blow / KMH
        a, b, c, d, e = damage
        self.damage = (a, b, c, d, e)
