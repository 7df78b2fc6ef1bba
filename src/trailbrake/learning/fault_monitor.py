"""`FaultMonitor`: follows laps with a learned car, and keeps the last seconds: how did they go wrong?"""

from collections import deque

from trailbrake.driving.goals import Goal, NoHeadway, OffRoad, OnceAlong, Standstill, TimeUp
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.learning.identification.lap_fault import (
    HISTORY_S,
    FaultSample,
    LapFault,
    classify_fault,
    measure_sideslip,
)
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road

USUAL_TO_REAR = 1.4  # m, from the centre of mass of a car to its rear axle
SAMPLE_S = 0.02  # s between samples that are kept
STUCK = Standstill().or_when(NoHeadway())


def make_stage_goal(rounds: float, seconds: float) -> Goal:
    """Return what ends laps of learning: rounds of a circuit or once along a road, a fault, or s of simulator time."""
    return OnceAlong(rounds).or_when(OffRoad(), STUCK, TimeUp(seconds))


class FaultMonitor(RoadMonitor):
    """A RoadMonitor that knows how the laps went wrong.

    Args:
        road: as the drivers know it.
    """

    def __init__(self, road: Road) -> None:
        super().__init__(road)
        self._samples: deque[FaultSample] = deque(maxlen=round(HISTORY_S / SAMPLE_S) + 1)

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        super().tick(state, controls)
        if self._samples and state.time - self._samples[-1].time < SAMPLE_S:
            return
        sideslip = measure_sideslip(state.velocity_x, state.velocity_y, state.yaw_rate, USUAL_TO_REAR)
        self._samples.append(FaultSample(
            state.time, state.speed, sideslip, state.acceleration_x, controls.throttle, controls.brake
        ))  # fmt: skip

    def find_fault(self) -> LapFault | None:
        """Return how the drive went wrong; None where the car neither left the road nor got stuck."""
        if OffRoad().judge(self) is not None:
            return classify_fault(list(self._samples))
        return None if STUCK.judge(self) is None else LapFault("standstill", 0.0)
