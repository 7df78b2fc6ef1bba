"""`RaceControl`: order, gaps, laps down, flags and results of cars that race each other on one road. Pure.

Flags as race control shows them (FIA International Sporting Code, Appendix H, article 2.5): yellow before a car that
hardly moves, blue to a car that is about to be lapped, chequered from the moment at which the winner has driven all
laps: then each car finishes when it next crosses the line. Distances and times of "before" and "about to" are ours.

Rear wings may be opened in the zones of the track, by the FIA Formula One Sporting Regulations of 2011 to 2023: in
practice by everyone; in a race not in the first two laps, nor under yellow, and by a car that was less than a second
behind another, lapped or not, where the gap is measured.

`EnergyMeter`: what the electric motor of a car may give and take in a lap.
"""

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from trailbrake.cars.drivetrain import Hybrid
from trailbrake.tracks.track import DrsZone

YELLOW_REACH = 250.0  # m before a slow car in which it is yellow
SLOW_SPEED = 8.0  # m/s, of a car that has been faster and has not finished
MOVING_SPEED = 15.0  # m/s, from which on it has been faster
BLUE_SECONDS = 1.5  # s to the car that laps
MARK_SPACING = 10.0  # m between the places at which the time of each car is kept, for gaps
DRS_GAP = 1.0  # s behind another car, below which a rear wing may be opened in a race
DRS_FREE_LAPS = 2  # of a race, in which none may


class RaceFlag(IntEnum):
    """What race control shows to a car."""

    NONE = 0
    BLUE = 1
    YELLOW = 2
    CHEQUERED = 3


class CarProgress(NamedTuple):
    """A car now: m since the line with all rounds, negative on the grid; m/s; finished laps; s, end of the last."""

    distance: float
    speed: float
    laps: int
    last_end: float


class RaceControl:
    """Follows a race.

    Args:
        length: m, of the road.
        cars: how many.
        laps: after which the winner finishes; 0: there is no end.
        slots: place of each car on the grid, 0 in front: the order until the cars have moved.
        zones: of the track, for rear wings.
        hybrids: the electric motor of each car.

    Attributes:
        order: numbers of the cars, the leader first.
        flags: shown to each car.
        laps: as given.
        meters: of each car's electric motor; None for a car without.
        allows_drs, is_wing_open: of each car, when `open_wing` was called last.
    """

    def __init__(
        self, length: float, cars: int, laps: int = 0, slots: Sequence[int] = (), *,
        zones: Sequence[DrsZone] = (), hybrids: Sequence[Hybrid | None] = (),
    ) -> None:  # fmt: skip
        self._zones = zones
        self._detected = [(-1, -math.inf)] * len(zones)  # who passed a detection last, and when (s)
        self._is_near = [[False] * len(zones) for _ in range(cars)]
        self.allows_drs, self.is_wing_open = [False] * cars, [False] * cars
        self.meters = [None if hybrid is None else EnergyMeter(hybrid) for hybrid in hybrids]
        self.laps, self._length = laps, length
        self._finish_times = [math.nan] * cars
        self._marks: list[list[float]] = [[] for _ in range(cars)]  # s at which each car passed k * MARK_SPACING
        self._has_moved = [False] * cars
        self._won_at = math.inf  # s at which the winner finished
        self._progress = [CarProgress(0.0, 0.0, 0, math.nan)] * cars
        self.order = sorted(range(cars), key=lambda car: slots[car] if slots else car)
        self.flags = [RaceFlag.NONE] * cars

    def update(self, time: float, progress: Sequence[CarProgress]) -> None:
        """Follow the cars. `time`: s; `progress`: of each car."""
        self._detect_gaps(time, progress)
        self._progress = list(progress)
        for car, now in enumerate(progress):
            marks = self._marks[car]
            while now.distance >= len(marks) * MARK_SPACING:
                marks.append(time)
            self._has_moved[car] |= now.speed > MOVING_SPEED
            if self.laps and now.laps >= self.laps:
                self._won_at = min(self._won_at, now.last_end)
        for car, now in enumerate(progress):
            if now.last_end >= self._won_at and math.isnan(self._finish_times[car]):
                self._finish_times[car] = now.last_end
        before = {car: place for place, car in enumerate(self.order)}
        self.order.sort(key=lambda car: (*self._rank(car), before[car]))
        self.flags = [self._find_flag(car) for car in range(len(progress))]

    def open_wing(self, car: int, s: float, *, is_wanted: bool) -> bool:
        """Return whether the rear wing of a car opens at a place (m along the road), where it is wanted."""
        zone = next((number for number, zone in enumerate(self._zones) if zone.contains(s)), -1)
        is_free = not self.laps or (zone >= 0 and self._is_near[car][zone] and self.flags[car] is not RaceFlag.YELLOW)
        self.allows_drs[car] = zone >= 0 and is_free
        self.is_wing_open[car] = is_wanted and self.allows_drs[car]
        return self.is_wing_open[car]

    def _detect_gaps(self, time: float, progress: Sequence[CarProgress]) -> None:
        """Note who passes a detection, and whether less than DRS_GAP after another."""
        passed = []
        for car, (before, now) in enumerate(zip(self._progress, progress, strict=True)):
            for number, zone in enumerate(self._zones):
                beyond = (now.distance - zone.detection) % self._length
                if beyond < now.distance - before.distance < 0.5 * self._length:
                    passed.append((time - beyond / max(now.speed, 1.0), number, car))
        for at, number, car in sorted(passed):
            other, ahead = self._detected[number]
            is_open = progress[car].laps >= DRS_FREE_LAPS
            self._is_near[car][number] = is_open and other != car and at - ahead < DRS_GAP
            self._detected[number] = car, at

    def _rank(self, car: int) -> tuple[float, float, float]:
        """Return what orders the cars: their way; after the flag their laps at the finish, their time, their way."""
        finished, now = self._finish_times[car], self._progress[car]
        if math.isinf(self._won_at):
            return (-now.distance, 0.0, 0.0)
        if math.isnan(finished):
            return (-(now.laps + 1.0), math.inf, -now.distance)
        return (-float(self._count_laps(car)), finished, 0.0)

    def _count_laps(self, car: int) -> int:
        """Return the laps that count: those after the flag do not."""
        laps = self._progress[car].laps
        return min(laps, self.laps) if self.laps and not math.isnan(self._finish_times[car]) else laps

    def _find_flag(self, car: int) -> RaceFlag:
        if not math.isnan(self._finish_times[car]):
            return RaceFlag.CHEQUERED
        now = self._progress[car]
        blue = False
        for other, its in enumerate(self._progress):
            if other == car:
                continue
            ahead = (its.distance - now.distance) % self._length
            slow = self._has_moved[other] and its.speed < SLOW_SPEED and math.isnan(self._finish_times[other])
            if slow and ahead < YELLOW_REACH:
                return RaceFlag.YELLOW
            laps_more = its.distance - now.distance > 0.5 * self._length
            blue |= laps_more and self._length - ahead < BLUE_SECONDS * max(its.speed, 1.0)
        return RaceFlag.BLUE if blue else RaceFlag.NONE

    def _measure_gap(self, car: int) -> float:
        """Return s behind the leader, where both have been at the place of the car; NaN where that is not known."""
        leader = self.order[0]
        ends = self._finish_times[car], self._finish_times[leader]
        if ends[0] == ends[0] and self._count_laps(car) == self._count_laps(leader):
            return ends[0] - ends[1]
        mark = len(self._marks[car]) - 1
        if mark < 0 or mark >= len(self._marks[leader]):
            return math.nan
        return self._marks[car][mark] - self._marks[leader][mark]

    def list_standings(self) -> list[dict[str, Any]]:
        """Return the cars in their order, for JSON.

        `position`, `car`, `laps`; `finish_s`, None before the flag; `gap_s` to the leader; `laps_down`, those by which
        the leader is ahead; `flag`.
        """
        rows = []
        for position, car in enumerate(self.order, 1):
            gap, finish = self._measure_gap(car), self._finish_times[car]
            ahead = self._progress[self.order[0]].distance - self._progress[car].distance
            down = self._count_laps(self.order[0]) - self._count_laps(car)
            rows.append({
                "position": position, "car": car, "laps": self._count_laps(car),
                "finish_s": None if math.isnan(finish) else finish, "gap_s": None if math.isnan(gap) else gap,
                "laps_down": down if finish == finish else max(int(ahead // self._length), 0),
                "flag": self.flags[car].name.lower(),
            })  # fmt: skip
        return rows


class EnergyMeter:
    """Follows the store of a car's electric motor against what a lap allows.

    Args:
        hybrid: the motor.

    Attributes:
        charge: J in the store; set where the car is made new.
        deployed, recovered: J in this lap.
        is_charging: whether it recovers.
    """

    def __init__(self, hybrid: Hybrid) -> None:
        self._hybrid = hybrid
        self.charge = hybrid.capacity * hybrid.start
        self.begin_lap()

    def begin_lap(self) -> None:
        """Count from 0."""
        self.deployed = self.recovered = 0.0
        self.is_charging = False

    @property
    def charge_share(self) -> float:
        """Of the capacity."""
        return self.charge / self._hybrid.capacity

    @property
    def is_spent(self) -> bool:
        """Whether the motor has given what it may give in a lap."""
        return self.deployed >= self._hybrid.deployed_per_lap

    def update(self, charge: float) -> float:
        """Follow the store to `charge` (J); return what it keeps: it recovers no more than a lap allows."""
        gained = charge - self.charge
        self.is_charging = gained > 0.0
        if gained < 0.0:
            self.deployed -= gained
        elif gained > 0.0:
            gained = min(gained, self._hybrid.recovered_per_lap - self.recovered)
            self.recovered += gained
            charge = self.charge + gained
        self.charge = charge
        return charge
