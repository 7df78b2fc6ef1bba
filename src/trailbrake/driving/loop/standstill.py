"""The end of a live drive that went as planned: the cars brake to a standstill before the link releases them."""

import math
from collections.abc import Sequence

from trailbrake.driving.loop.drive_loop import (
    STOPPING_LIMIT,
    STOPPING_SILENCE_S,
    CarLoop,
    SamplePacer,
    StandstillTimer,
)
from trailbrake.driving.loop.supervisor import STANDSTILL_SPEED
from trailbrake.state import Phase

STILL_SPEED = 0.1  # m/s: less than a safe stop is content with


class _StoppingCar:
    """One car that brakes to a standstill: its driver keeps steering, and brakes at least as a safe stop does."""

    def __init__(self, seat: CarLoop) -> None:
        self._seat = seat
        self._timer = StandstillTimer(STILL_SPEED)
        self._stopping_s = 0.0
        self._lost_at = math.nan  # `now` since which there has been no state to drive by
        self.at_standstill: bool | None = None  # None = not yet; False = it never will
        seat.begin_standstill()

    def follow_car(self, now: float) -> None:
        """Do one tick of the car."""
        seat = self._seat
        state, fresh = seat.read_state(now)
        if fresh and seat.drive_tick(state, now) is not None:
            self._lost_at = math.nan
            self._stopping_s += seat.dt or seat.link.period
            if self._timer.add_state(state):
                self.at_standstill = True
            elif self._stopping_s > STOPPING_LIMIT:
                self.at_standstill = state.speed < STANDSTILL_SPEED
            return
        silent = not fresh and seat.supervisor.is_stale(state)
        if silent:
            seat.link.write(seat.supervisor.safe_stop_controls(state))
        if silent or seat.is_blind:
            self._lost_at = now if math.isnan(self._lost_at) else self._lost_at
            if now - self._lost_at > STOPPING_SILENCE_S or state.phase is Phase.PAUSED:
                self.at_standstill = False


def brake_to_standstill(seats: Sequence[CarLoop], pacer: SamplePacer) -> bool:
    """Brake all cars to a standstill; return whether all have stopped.

    Args:
        seats: the cars.
        pacer: makes the first car's samples come.
    """
    cars = [_StoppingCar(seat) for seat in seats]
    while any(car.at_standstill is None for car in cars):
        now = pacer.wait_for_sample(seats[0].link)
        for car in cars:
            car.follow_car(now)
        if cars[0].at_standstill is False:  # no samples set the pace any more
            break
    return all(car.at_standstill for car in cars)
