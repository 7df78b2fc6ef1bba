"""Iterative learning of how much grip to plan with along a line: raised where a lap had margin, lowered where it slid.

A lap leaves at each station of the line the largest slip of the tyres, the distance by which the car ran wide, and the
speed by which it was faster than planned. The factor on the planned grip follows them from lap to lap, as in iterative
learning control; sections accept it by their time (`section_trials.py`). What goes wrong in a bend is the fault of the
stations before it.
"""

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from trailbrake.arrays import Array, Ints
from trailbrake.json_types import JsonObject
from trailbrake.planning.edge_learning import MOST_SHIFT
from trailbrake.planning.section_trials import MOST_TRUST, SURE_STEP, TRUST_SHRINKAGE, SectionLap, SectionTrials
from trailbrake.planning.steering_learning import MOST_CORRECTION
from trailbrake.user_files import convert_values

STATION = 10.0  # m between stations
SLIP_GAIN = 0.15  # of the factor, per slip beyond the target
WIDE_LIMIT = 0.4  # m outside the line that a lap may run
WIDE_GAIN = 0.04  # of the factor, per m beyond
FAST_LIMIT = 1.0  # m/s above the plan that a lap may be
FAST_GAIN = 0.02  # of the factor, per m/s beyond
OVERRUN_GAIN = 0.05  # of the factor, per m that the outer wheels are beyond the edge, or the end of its kerb
OFF_ROAD_STEP = 0.08  # of the factor, where the car left the road
MOST_PROVEN = 0.08  # share above the grip that a lap was driven with, for which it vouches at most, ...
DOUBTFUL_GRIP = 0.96  # ... where the estimate says that there is less than this of what was believed
LEAST_FACTOR, MOST_FACTOR = 0.5, 1.3
ROOM_GAIN = 1.2  # grip that is left, as a share, per square of the slip below that of the peak, ...
POOR_TOLERANCE = 2.0  # factor on the fall that does not count, where the lap before had such grip: places differ more
SURE_ROOM = (0.3, 1.1)  # the same at most, per square and cube of the slip below the target, on doubtful ground
PEAK_BEYOND = 0.05  # ... which is so far beyond the target
SURE_MARGIN = 0.2  # slip below the target, from which a place has the grip of the file where the rest of a lap has it
COSTLY_FAULT = 0.015  # from which a fault costs: so many s more for each s of the time there
FALLING_GRIP = 0.05  # by which the estimated grip falls in a lap that raises no plan
FALLEN_RESERVE = 0.04  # of the grip, kept in a lap with clearly less than the lap before: its places show it one by one
FALLEN_RANGE = 0.07  # of the fall beyond the tolerance, from which all of that is kept
FALL_FORGETTING = 0.001  # 1/m, by which what was planned with before a fall stops being the cause of faults
PLANNED_USE = 0.95  # of the planned grip, that a car which holds its plan uses
LEAST_USE = 0.7  # of the planned grip, below which a station says nothing
LEAST_SHOWN = 0.1  # s of samples at a station, from which they say how much capacity there is
BEHIND, AHEAD = 1, 5  # stations whose faults count for a station: what is wrong ahead was too fast here


class Evidence(IntEnum):
    """What shows the capacity of the tyres at a place."""

    CORNERING = 0
    BRAKING = 1
    TRACTION = 2
    FRICTION = 3


class LearningLimits(NamedTuple):
    """How far learning goes.

    Attributes:
        target_slip: slip angle over that of the peak which is aimed at.
        most_raise: of the factor, in a lap.
        most_factor: that is planned with, at most MOST_FACTOR.
        braked_slip: slip along braked wheels, over that of the peak, that counts as the target: a law that limits slip
            by the pedals never shows more, however much too late it braked.
        most_lowering: of the factor, in a lap.
        raise_ahead: stations ahead whose margin limits the raise of a station.
        recurring_grip: share by which the estimated grip may be below that of the lap before at the same place before
            it lowers the plan; 0: the plan follows the estimate itself.
    """

    target_slip: float
    most_raise: float
    most_factor: float
    braked_slip: float
    most_lowering: float
    raise_ahead: int
    recurring_grip: float


# For a law that follows a plan with room to spare, and for one that holds a car at the peak of its tyres.
CAUTIOUS_LIMITS = LearningLimits(0.80, 0.06, 1.14, 0.66, 0.12, AHEAD, 0.0)
PEAK_LIMITS = LearningLimits(0.95, 0.12, 1.3, 0.86, 0.2, 2, 0.03)


Correction = Annotated[
    float, msgspec.Meta(ge=-MOST_CORRECTION, le=MOST_CORRECTION, description="rad, learned along the line")
]


Shift = Annotated[float, msgspec.Meta(ge=-MOST_SHIFT, le=MOST_SHIFT, description="m, left of the line")]


class PlanMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What has been learned of a line, as a file keeps it."""

    grip: Annotated[float, msgspec.Meta(gt=0.0, le=1.0, description="1, factor on the grip that is believed")]
    laps: Annotated[int, msgspec.Meta(ge=0, description="how many laps it comes from")]
    factors: list[
        Annotated[
            float, msgspec.Meta(ge=LEAST_FACTOR, le=MOST_FACTOR, description="1, on the planned grip, by station")
        ]
    ]
    steer: list[Correction] = []  # of the steering angle and the sideslip, by station of `steering_learning`
    sideslip: list[Correction] = []
    shifts: list[Shift] = []  # of the line, by station of `edge_learning`
    trust: list[Annotated[float, msgspec.Meta(ge=0.0, le=1.0, description="1, of a section's next step")]] = []


def read_plan_memory(content: JsonObject, where: str) -> PlanMemory:
    """Return the memory in a file's values; DataError, naming the file by `where`, where they are none."""
    return convert_values(content, PlanMemory, "no memory of a line", where)


def count_stations(length: float) -> int:
    """Return how many stations a line of `length` (m) has."""
    return max(math.ceil(length / STATION), 2)


class LapSample(NamedTuple):
    """What a moment of a lap shows of the plan.

    Attributes:
        grip: that is estimated now: the plan is made with its product with the factors.
        driven: factor on the planned grip that is driven with: `usable_grip`, less what is kept in reserve.
        use: of the planned grip, 1 at its limit; 0 where it says nothing.
        slip: by the slip angles, over that of the peak.
        fault: share by which the planned grip was too high by other measures, >= 0, as `rate_fault` returns it.
        next_rise: by which the next lap's estimate is greater, since it may then be: a factor on `grip`.
        dt: s since the sample before.
    """

    grip: float
    driven: float
    use: float
    slip: float
    fault: float
    next_rise: float = 1.0
    dt: float = 0.0


class LapLearning:
    """The factors on the planned grip along a line, and what the present lap leaves.

    Args:
        length: m, of the line.
        closed: whether its end is its beginning.
        first_factor: of the first lap, everywhere or (n,) by station.
        limits: how far it goes.
        sections: stations at which those sections begin whose plans laps accept or take back.

    Attributes:
        factors: (n,) on the planned grip, at stations STATION apart.
        best_factors: (n,) the same of the best laps, without the step that is tried next.
        trials: what the sections have shown.
        laps: how many laps they come from.
        lap_grip: the grip that was estimated at the end of the lap before, or at the start.
        last_estimates: (n,) of the grip in the lap before; 1 before there is one.
        slip_rise: (n,) slip over that of the peak, by which the lap after the standing one is expected to have more.
        most_plan: (n,) factor on what is believed, up to which a place is planned, whatever the estimate rises to.
    """

    def __init__(
        self,
        length: float,
        *,
        closed: bool,
        first_factor: float | Array = 1.0,
        limits: LearningLimits = CAUTIOUS_LIMITS,
        sections: Sequence[int] = (0,),
    ) -> None:
        count = count_stations(length)
        self.factors = self.best_factors = np.full(count, first_factor)
        self.laps = 0
        self._closed, self._limits = closed, limits
        self.trials = SectionTrials(sections, count)
        self._is_flying, self._s = False, math.nan  # whether the lap began at speed; m, of the last sample
        self._lengths = np.minimum(length - STATION * np.arange(count), STATION)  # m, of the stations
        self._passed = np.zeros((2, count))  # of the present lap: s, and m
        self._fault = np.full(count, -np.inf)  # by how much the present lap's grip was too high, a share of it
        self._grip = np.ones(count)  # the grip, as `usable_grip` returns it, with which that was driven
        self._used = np.ones(count)  # the share of the plan that was used with it, at most 1
        self._driven = np.ones(count)  # the same at the present lap's last sample at a station, ...
        self._tells = np.zeros(count, bool)  # ... and whether the lap says something there
        # A car is as fast as was planned before: the usable grip before it fell, and the factors of the lap before over
        # those of the present lap, which begins where it may be braking.
        self._approach, self._carried = 0.0, np.ones(count)
        self._slips = np.zeros(count)  # the largest of the present lap
        self._estimates = np.ones(count)  # of the grip at the present lap's last sample at a station, ...
        self.last_estimates = np.ones(count)  # ... and in the lap before
        self.lap_grip = 1.0
        self.slip_rise, self.most_plan = np.zeros(count), np.full(count, np.inf)
        self._station = 0
        self._references = np.full((len(Evidence), count), np.nan)  # capacity over what is believed, with all the grip
        self._shown = np.zeros((2, len(Evidence), count))  # of the present lap: s, and the capacity times s

    def reference_at(self, s: float, evidence: Evidence) -> float:
        """Return the capacity over what is believed that the laps before have shown at s (m); NaN: none."""
        return float(self._references[evidence, self._station_at(s)])

    def add_capacity(self, s: float, capacity: float, dt: float, evidence: Evidence) -> None:
        """Take a capacity over what is believed, as it is with all the grip, that dt (s) at s (m) have shown."""
        self._shown[:, evidence, self._station_at(s)] += dt, dt * capacity

    def _station_at(self, s: float) -> int:
        return min(int(s / STATION), len(self.factors) - 1)

    def observe(self, s: float, sample: LapSample) -> bool:
        """Take a sample at s (m) along the line; return whether a lap has ended with it, so that `factors` are new."""
        grip, driven, use, slip, fault, next_rise, dt = sample
        station = self._station_at(s)
        moved, self._s = s - self._s, s
        if 0.0 <= moved < 2.0 * STATION:
            self._passed[:, station] += dt, moved
            self._approach -= FALL_FORGETTING * moved
        jump, self._station = station - self._station, station
        ended = self._closed and jump < -len(self.factors) // 2
        if ended:
            before = self.factors
            self.finish_lap(grip, next_rise)
            self._carried = np.maximum(before / self.factors, 1.0)
        self._estimates[station], self._driven[station] = grip, driven
        self._slips[station] = max(self._slips[station], slip)
        self._tells[station] |= use > 0.0
        usable = self.usable_grip(s, grip)
        self._approach = max(usable, self._approach)
        target = self._limits.target_slip
        if use > LEAST_USE or slip > target or fault > 0.0:
            wrong = SLIP_GAIN * (slip - target) + fault
            if wrong > 0.0:  # the plan of before a fall was too fast, which that of now need not be
                carried = max(float(self._carried[station]) - FALL_FORGETTING * s, 1.0)
                wrong = max(1.0 - carried * self._approach / usable * (1.0 - wrong), 0.0)
            if wrong > self._fault[station]:
                self._fault[station], self._grip[station] = wrong, driven
                self._used[station] = min(use / PLANNED_USE, 1.0)
        return ended

    def discard_stations(self, stations: Ints, grip: float) -> None:
        """Take what the present lap shows at `stations` for that of a place for itself: the road has `grip` there.

        Their times are no measure of plans from now on: the plans of those sections are the best ones until the next.
        """
        self._fault[stations], self._grip[stations], self._used[stations] = -np.inf, 1.0, 1.0
        self._tells[stations], self._slips[stations] = False, 0.0
        self._estimates[stations] = grip
        self._driven[stations] = self.usable_grip(STATION * float(stations[-1]), grip)
        self._shown[:, :, stations], self._references[:, stations] = 0.0, np.nan
        self.trials.forget_sections(stations)

    def usable_grip(self, s: float, grip: float) -> float:
        """Return the factor on the planned grip for the grip that is estimated at s (m).

        An estimate that differs from bend to bend and is the same lap by lap is an error of the belief: factors contain
        it already, and it must not raise the plan where the next bend shows more. With `recurring_grip` only what the
        estimate lacks to that of the lap before at the same place counts.
        """
        tolerance = self._limits.recurring_grip * (POOR_TOLERANCE if self.lap_grip < DOUBTFUL_GRIP else 1.0)
        if self.laps == 0 or tolerance == 0.0:
            return grip
        station = self._station_at(s)
        # An estimate that fell in the course of that lap is no fall of this one.
        relative = grip / min(float(self.last_estimates[station]), self.lap_grip)
        fallen = min(max((1.0 - tolerance - relative) / FALLEN_RANGE, 0.0), 1.0)
        return min(relative + tolerance - fallen * (tolerance + FALLEN_RESERVE), 1.0)

    def finish_lap(self, grip: float, next_rise: float = 1.0) -> None:
        """Update the factors by the lap that has ended, and begin another.

        Args:
            grip: the estimate now.
            next_rise: factor on it in the next lap.
        """
        # What was driven is the product of factor and usable grip. Where that has changed since, the factor makes up
        # for it: a lap vouches for the grip that it was driven with, and for what the tyres' curve leaves at its slip.
        follows_estimate = self._limits.recurring_grip == 0.0
        next_grip = np.full(len(self.factors), grip * next_rise if follows_estimate else 1.0)
        fallen = grip < self.lap_grip - FALLING_GRIP
        if follows_estimate and not fallen:  # a place that had more than the lap's end may have it again
            next_grip = np.maximum(next_grip, self._driven)
        before = self._grip / next_grip
        room = find_room(np.maximum(-self._fault, 0.0) / SLIP_GAIN)
        wanted = np.minimum(before * (1.0 + room - np.maximum(self._fault, 0.0)), 1.0 + room)
        # Of the whole lap: at the exit of one bend the wheels may spin, and the estimate falls for a moment.
        typical, driven = (float(np.median(v[self._tells])) if self._tells.any() else 1.0 for v in
                           (self._estimates, self._driven))  # fmt: skip
        is_poor = not follows_estimate and max(typical, grip) < DOUBTFUL_GRIP
        self.trials.most_trust = 1.0 if is_poor else MOST_TRUST
        if is_poor:
            reserve = FALLEN_RESERVE if self.laps else 0.0
            sure = find_sure_room(np.maximum(-self._fault, 0.0) / SLIP_GAIN)
            wanted = np.minimum(wanted, (1.0 + np.minimum(sure, MOST_PROVEN + reserve)) * before)
        elif not follows_estimate:  # the lap has shown what the file says, also where a place was spared before
            wanted = np.where(self._fault < -SLIP_GAIN * SURE_MARGIN, np.maximum(wanted, 1.0), wanted)
        # Grip that was not there before the lap either is no fault of it.
        floor = (1.0 - self._limits.most_lowering) * (1.0 if follows_estimate else np.minimum(before, 1.0))
        wanted = np.clip(wanted, floor, 1.0 + self._limits.most_raise)
        # What went wrong ahead lowers the way to it. Where it only has no margin, the way there may be faster: a place
        # at the limit in a hairpin must not hold back the braking before it.
        lowered = self._spread(np.minimum(wanted, 1.0), AHEAD)
        wanted = np.where(lowered < 1.0, lowered, self._spread(wanted, self._limits.raise_ahead))
        self.lap_grip = grip
        sampled = (lowered < 1.0) | np.isfinite(self._spread(-self._fault, self._limits.raise_ahead))
        # The usable grip is relative to that of the lap before: stations without a sample follow it here.
        unsampled = 0.0 if follows_estimate else np.minimum(driven if self.laps == 0 else self._driven, 1.0) - 1.0
        change = np.where(sampled, wanted - 1.0, unsampled)
        if fallen and self.laps and not follows_estimate:
            # What went wrong is the fault of the fall: each place has the plan that laps have proven, with a part of
            # the step that was to be tried, for the grip now.
            proven = self.best_factors + TRUST_SHRINKAGE * (self.factors - self.best_factors)
            change = proven / self.factors * np.minimum(grip / self.last_estimates, 1.0) - 1.0
            self._estimates[:] = grip
        elif fallen:  # what margin a lap had on better ground, the next has not
            change = np.minimum(change, 0.0)
        self.factors = np.clip(
            self._accept_step(change, next_grip, fallen=fallen), LEAST_FACTOR, self._limits.most_factor
        )
        self._fault[:], self._grip[:], self._used[:] = -np.inf, 1.0, 1.0
        self._tells[:], self._slips[:] = False, 0.0
        self.last_estimates = self._estimates.copy()
        if not (follows_estimate or (fallen and self.laps)):  # a falling estimate is behind what places show
            time, shown = self._shown
            np.divide(shown, time, out=self._references, where=time > LEAST_SHOWN)
        self._shown[:] = self._passed[:] = 0.0
        self._is_flying = True
        self.laps += 1

    def _accept_step(self, step: Array, next_grip: Array, *, fallen: bool) -> Array:
        """Return the factors (n,) of the next lap, of the `step` (n,) that the present one wants."""
        time, moved = self._passed
        plan, room = self.factors * self._driven, self._find_room_of_lap()
        # An estimate for the whole road rises in a lap by what other places show.
        follows_estimate = self._limits.recurring_grip == 0.0
        self.most_plan = (
            plan * (1.0 + room + SURE_STEP) if follows_estimate and not fallen else np.full_like(plan, np.inf)
        )
        if fallen:
            self.trials.forget(TRUST_SHRINKAGE if self.laps else 1.0)
        self.slip_rise = np.zeros_like(plan)
        if fallen or not self._is_flying or not self._closed:
            self.best_factors = self.factors * (1.0 + step)
            if not (fallen or self.laps):  # from the next lap on the steering learns it
                margin = np.maximum(self._limits.target_slip - self._slips, 0.0)
                self.slip_rise = find_slip_rise(margin, self.best_factors * next_grip / plan - 1.0)
            return self.best_factors
        cost = np.divide(time, moved, out=np.full_like(time, np.nan), where=moved > 0.0)
        if math.isnan(cost[-1]):  # the rest of the line may be shorter than the way of a sample
            cost[-1] = cost[-2]
        cost *= self._lengths
        cost *= 1.0 + np.maximum(self._fault - COSTLY_FAULT, 0.0)
        wanted = self.factors * (1.0 + step) * next_grip / plan - 1.0
        lap = SectionLap(plan, wanted, cost, self._driven.copy(), self._fault.copy(), room)
        following = self.trials.judge(lap)
        self.best_factors = self.trials.restore(following) / next_grip
        return following / next_grip

    def _find_room_of_lap(self) -> Array:
        """Return the share (n,) by which the plan may rise as far as the tyres of the lap vouch for it."""
        margin = np.maximum(PEAK_LIMITS.target_slip - self._limits.target_slip - self._fault / SLIP_GAIN, 0.0)
        room = find_sure_room(margin) + self._used - 1.0
        return np.maximum(self._spread(room, self._limits.raise_ahead), 0.0)

    def _spread(self, values: Array, ahead: int) -> Array:
        """Return the least of `values` at each station, BEHIND stations before it and `ahead` after it."""
        least = values.copy()
        for k in range(-BEHIND, ahead + 1):
            shifted = np.roll(values, -k)
            if not self._closed and k > 0:
                shifted[-k:] = np.inf
            elif not self._closed and k < 0:
                shifted[:-k] = np.inf
            least = np.minimum(least, shifted)
        return least

    def factors_at(self, rows: int, spacing: float) -> Array:
        """Return the factors (rows,) at the rows of the line, `spacing` m apart."""
        return self.interpolate_rows(self.factors, rows, spacing)

    def most_plan_at(self, rows: int, spacing: float) -> Array:
        """Return `most_plan` (rows,) at the rows of the line, `spacing` m apart."""
        return self.interpolate_rows(np.minimum(self.most_plan, MOST_FACTOR), rows, spacing)

    def interpolate_rows(self, values: Array, rows: int, spacing: float) -> Array:
        """Return the `values` (n,) of the stations at the rows (rows,) of the line, `spacing` m apart."""
        stations = STATION * np.arange(len(values))
        period = STATION * len(values) if self._closed else None
        at_rows: Array = np.interp(spacing * np.arange(rows), stations, values, period=period)
        return at_rows


def find_room(margin: Array) -> Array:
    """Return the share by which grip may rise where tyres slip by `margin` (n,), over the slip of the peak, too little.

    The tyre's curve is a parabola whose top is at its peak: large steps far from it, small ones near it.
    """
    return ROOM_GAIN * margin * (margin + 2.0 * PEAK_BEYOND)


def find_slip_rise(margin: Array, rise: Array) -> Array:
    """Return by how much (n,) more tyres slip, over the slip of the peak, where the grip that is planned with rises.

    Args:
        margin: (n,) slip over that of the peak, that they had left below the one aimed at.
        rise: (n,) share by which the planned grip rises.
    """
    left = np.maximum((1.0 + find_room(margin)) / (1.0 + rise) - 1.0, 0.0)
    slip_rise: Array = margin + PEAK_BEYOND - np.sqrt(PEAK_BEYOND**2 + left / ROOM_GAIN)
    return slip_rise


def find_sure_room(margin: Array) -> Array:
    """Return the share by which grip may rise at most where tyres slip by `margin` (n,) too little, by their curves.

    Between slips of 0.5 and 0.95 of the peak it is that of Magic Formulas with C from 1.4 to 1.5; less below.
    """
    return margin * margin * (SURE_ROOM[0] + SURE_ROOM[1] * margin)


def rate_fault(wide: float, fast: float, *, off_road: bool, overrun: float = 0.0) -> float:
    """Return by how much the planned grip has to be lowered where a lap went wrong.

    Args:
        wide: m outside the line in a bend.
        fast: m/s above the plan.
        off_road: whether the car is beside the road.
        overrun: m by which the outer wheels are beyond the edge, or the end of its kerb, by running wide; >= 0.
    """
    fault = WIDE_GAIN * max(wide - WIDE_LIMIT, 0.0) + FAST_GAIN * max(fast - FAST_LIMIT, 0.0) + OVERRUN_GAIN * overrun
    return fault + OFF_ROAD_STEP if off_road else fault
