"""The speeds that `line_follow` drives: the course's profile, adapted to the grip that the car turns out to have.

Two factors on the grip of the road: one that is estimated while driving (`GripEstimate`), for the whole road, and one
along the line that laps have taught (`LapLearning`). Ahead of the car the profile is planned anew with their product,
a braking distance and a little more at a time, so that no tick takes long.
"""

import math
from typing import NamedTuple

import msgspec
import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.axle_forces import planning_car
from trailbrake.cars.ggv_envelope import running_resistance
from trailbrake.control.vehicle.grip_estimate import LEAST_SLIP, MOST_GRIP, GripEstimate
from trailbrake.control.vehicle.line_tracking import DEFAULT_GAINS, TrackingGain
from trailbrake.errors import DataError
from trailbrake.json_types import JsonObject
from trailbrake.kernels import bind_entry
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.grip_use import AxleSlips, measure_grip_use
from trailbrake.planning.lap_learning import (
    CAUTIOUS_LIMITS,
    DOUBTFUL_GRIP,
    FAST_LIMIT,
    LEAST_FACTOR,
    MOST_FACTOR,
    STATION,
    Evidence,
    LapLearning,
    LapSample,
    LearningLimits,
    PlanMemory,
    count_stations,
    rate_fault,
    read_plan_memory,
)
from trailbrake.planning.place_grip import FIRM_SLIP, PlaceGrip, TyreSample
from trailbrake.planning.section_trials import find_sections
from trailbrake.planning.speed_profile import PathShape, ProfileSettings, interpolate_speed, refill_profile
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road_columns import RoadColumn

REPLAN_DISTANCE = 40.0  # m after which the part ahead is planned anew
REPLAN_FALL = 0.01  # share by which the grip falls before it is planned anew at once
BRAKING = -3.0  # m/s^2, below which a car counts as braked
# Slip angle over that of the peak, from which the law gives brakes up for side force.
BRAKED_ANGLE_SLIP = DEFAULT_GAINS[TrackingGain.REAR_SLIP_START]
BRAKING_TIME = 0.3  # s, of the low-pass filter on the slip of braked wheels: without ABS they lock for an instant
MOST_LOCKING = 1.5  # slip over that of the peak, of a wheel that stands
LEAST_CORNERING = 3.0  # m/s^2, across and along, below which a car slips little
LEAST_STEER_CUT = 0.02  # rad, from which a car understeers; ...
UNDERSTEER_TIME = 0.2  # s, of the low-pass filter on that; a kerb shakes the steering for less
UNDERSTEER_MARGIN = 0.05  # of the slip over that of the peak, that an understeering car has left at most
UNDERSTEER_SHARE = 0.5  # of that time, from which it counts
BRAKING_SHARE = 0.5  # of the braking limit, by which the braking distance is estimated
LOOK_BEYOND = 120.0  # m planned beyond the braking distance
CAUTIOUS_GRIP = (
    0.87,
    0.94,
)  # highest estimate in the first laps, where the grip in the car's file is an estimate itself
VERIFIED_GRIP = (0.93, 0.97)  # the same of a file whose plan has been driven with all its grip, and stayed on a road
# The highest estimate until the car has braked hard or bends have shown what the file says, or for a lap.
UNTESTED_GRIP = 0.86
RESERVE_RELEASE = 0.03  # 1/s, by which that rises from then on: a plan that jumps in a bend jerks the steering
DOUBT_RESERVE = 0.05  # share less that the rest of a first lap is planned with where the estimate is below ...
DOUBT_RANGE = 0.04  # ... DOUBTFUL_GRIP, in full from this much below
HELD_SHARE = 0.99  # of the highest estimate, from which that is what holds it
REMEMBERED_DROP = 0.02  # by which the first estimate of another day is below what is remembered
FALLEN_GRIP = 0.95  # of that of the lap before, below which the grip has fallen
MOST_MISFIT = 0.12  # of the friction by slips, in laps with all the grip: where it is more, the car is not in balance
GRIP_COLUMN = 4  # of the path shapes


class Deviation(NamedTuple):
    """How a car is off its plan.

    Attributes:
        wide: m outside the line in a bend, else 0.
        fast: m/s above the plan.
        off_road: whether it is beside the road.
        overrun: m by which the outer wheels, wide of the line, are beyond the edge or the end of its kerb; else 0.
        steer_cut: rad of the wanted steering angle that the law leaves out at the peak of the front tyres; else 0.
        on_verge: whether a wheel is beyond the road and its kerb: what the tyres show then is not the road's.
    """

    wide: float
    fast: float
    off_road: bool
    overrun: float = 0.0
    steer_cut: float = 0.0
    on_verge: bool = False


class GripUse(NamedTuple):
    """How much of its grip a car uses.

    Attributes:
        share: of the believed envelope, 1 at its limit.
        slip: combined slip of the axle that slips more, over that of the peak; NaN: not known.
        angle_slip: the same by the slip angle alone.
        friction: over the believed one, by the slips of steady cornering; NaN: not measured.
        traction: the same by the slips of driven wheels.
    """

    share: float
    slip: float
    angle_slip: float
    friction: float = math.nan
    traction: float = math.nan


class AdaptivePlan:
    """Speeds and accelerations along the line, for the grip that is estimated.

    Args:
        course: with the plan to begin with.
        start_grip: the first estimate of the grip, as a factor on what the car's file says.
        first_factor: on the planned grip in the first lap, everywhere or (stations,); laps change it place by place.
        cautious: whether the plan rises lap by lap: bends at one speed say little about those at another, where what
            the file says of downforce and brakes may be wrong.
        limits: how far the laps change the planned grip.
        tests_brakes: whether less is planned until the first hard braking has shown what the brakes do, or bends that
            there is as much grip as the file says: with less, a car that brakes as late as that allows misses the
            first bend.

    Attributes:
        road: the line with the grip that is planned with.
        shapes: (n, 6) `PathShape` of its rows; what pushes is the owner's.
        speeds: (n,) m/s, at the rows of the line.
        accelerations: (n,) m/s^2, from each row to the next.
        estimate: of the grip.
        learning: from lap to lap.
        planned_first, planned_rows: the rows that were planned anew last.
    """

    def __init__(
        self,
        course: Course,
        start_grip: float,
        *,
        first_factor: float | Array = 1.0,
        cautious: bool = False,
        limits: LearningLimits = CAUTIOUS_LIMITS,
        tests_brakes: bool = False,
    ) -> None:
        self._line, self._limits = course.line, course.envelope
        law = course.known_car().tyre_front.tyre_law()
        self._curve = (law.b, law.c, law.e)
        self.estimate = GripEstimate(start_grip, self._curve)
        self._target_slip, self._braked_target = limits.target_slip, limits.target_slip / limits.braked_slip
        doubt = course.known_car().uncertainty
        is_verified = doubt is not None and doubt.is_verified
        self._first_grips = () if not cautious else VERIFIED_GRIP if is_verified else CAUTIOUS_GRIP
        self.learning = LapLearning(
            self._line.length,
            closed=self._line.closed,
            first_factor=first_factor,
            limits=limits,
            sections=find_sections(course.profile.speed, count_stations(self._line.length)),
        )
        self.places = PlaceGrip(len(self.learning.factors), STATION, self._line.length)
        self._tests_brakes = self._keeps_reserve = tests_brakes
        self.estimate.most = self._highest_estimate()
        self.learning.lap_grip = self.estimate.grip
        self._car = planning_car(course.known_car())
        car = course.known_car()
        self._resistance = running_resistance(car, self._limits.speeds) / car.body.mass  # m/s^2
        self._peak_rear_angle = car.tyre_rear.peak_slip_angle
        self.shapes = path_shapes(self._line)
        self._grip_of_road = self.shapes[:, GRIP_COLUMN].copy()
        table = self._line.table.copy()
        self.road = RoadTable(table, self._line.spacing, self._line.closed)
        self.speeds, self.accelerations = course.profile.speed.copy(), course.profile.acceleration.copy()
        self._speed, self._acceleration = self.speeds.data, self.accelerations.data  # a number of it is read quicker
        self.planned_first, self.planned_rows = 0, 0
        self._factors, self._most_plan = self._read_factors()
        self._planned_grip, self._braked_slip, self._understeer = 1.0, 0.0, 0.0
        self._planned_at = -1.0  # m along the line
        slips, shape = AxleSlips(0.0, 0.0, 0.0, 0.0), PathShape(0.0, 0.0, 0.0, 0.0, 0.0)
        self._measure = bind_entry(measure_grip_use, (0.0, 0.0, 0.0), slips, shape, self._limits, self._car)
        self._refill = bind_entry(refill_profile, self.shapes, self._settings(0.0), self._limits, (0, 1),
                                  (self.speeds, self.accelerations))  # fmt: skip

    def adapt(
        self,
        s: float,
        forward: float,
        dt: float,
        use: GripUse,
        off: Deviation,
        *,
        locking: float = 0.0,
        is_disturbed: bool = False,
    ) -> bool:
        """Take one sample, and plan anew where it is time; return whether that was.

        Args:
            s: m along the line.
            forward: m/s^2, acceleration along the path.
            dt: s since the last sample.
            use: of the grip.
            off: how the car is off the plan.
            locking: slip along the braked wheel that slips most, over that of the peak; 0: not known, or held by ABS.
            is_disturbed: whether others decide what is driven: the tyres still show the grip, but nothing of a place.
        """
        if not (off.off_road or off.on_verge):
            if is_disturbed:
                self._take_tyres_alone(s, forward, dt, use)
            else:
                self._take_tyres(s, forward, dt, use)
            is_tested = self.estimate.has_braked or self.estimate.shows_in_bends(DOUBTFUL_GRIP)
            self._tests_brakes = self._tests_brakes and not is_tested
            self.estimate.most = min(self.estimate.most + RESERVE_RELEASE * dt, self._highest_estimate())
        if not is_disturbed:
            self._observe_lap(s, forward, dt, off, locking)
        if self._usable_grip(s) < (1.0 - REPLAN_FALL) * self._planned_grip:
            self.replan(s)
            return True
        return self.replan_later(s)

    def _take_tyres(self, s: float, forward: float, dt: float, use: GripUse) -> None:
        """Take what the tyres show, against what the laps before have shown at s (m)."""
        estimate = self.estimate
        share, slip, angle_slip, friction, traction = use
        share /= self.places.share_at(s)
        self._take_friction(s, friction, dt)
        is_braked = forward < BRAKING
        evidence = Evidence.BRAKING if is_braked else Evidence.CORNERING
        reference = self.learning.reference_at(s, evidence)
        shown = estimate.add_sample(share, slip, angle_slip, dt, braked=is_braked, driven=forward > 0.0,
                                    reference=reference)  # fmt: skip
        if not math.isnan(shown):
            self.learning.add_capacity(s, shown / estimate.shown_grip, dt, evidence)
        if not math.isnan(traction):
            shown_before = self.learning.reference_at(s, Evidence.TRACTION)
            if not math.isnan(shown_before):
                estimate.add_traction(traction / shown_before, dt)
            self.learning.add_capacity(s, traction / estimate.shown_grip, dt, Evidence.TRACTION)
        capacity = math.nan if math.isnan(slip) else self._compare_capacity(reference)
        sample = TyreSample(capacity, estimate.combined_slip, *estimate.past_and_present, dt)
        if self.places.observe(s, sample):
            estimate.return_to(self.places.level)
            self.learning.discard_stations(self.places.end_place(s), estimate.grip)

    def _compare_capacity(self, reference: float) -> float:
        """Return the present capacity over `reference`, that of laps before; NaN where it says nothing of a place."""
        capacity, slip = self.estimate.capacity, self.estimate.combined_slip
        if slip < FIRM_SLIP or (math.isnan(reference) and slip > LEAST_SLIP):
            return capacity
        return capacity / reference

    def _take_tyres_alone(self, s: float, forward: float, dt: float, use: GripUse) -> None:
        """Take what the tyres show beside the line, where no lap before has been."""
        share = use.share / self.places.share_at(s)
        self.estimate.settle_friction(math.nan, dt)
        self.estimate.add_sample(share, use.slip, use.angle_slip, dt, braked=forward < BRAKING, driven=forward > 0.0)

    def _observe_lap(self, s: float, forward: float, dt: float, off: Deviation, locking: float) -> None:
        """Show the lap's learning how the place at s (m) is driven, and take up a plan that it has made."""
        estimate, row = self.estimate, self._row_at(s)
        factor, place = float(self._factors[row]), self.places.share_at(s)
        grip = estimate.grip
        fault = rate_fault(off.wide, off.fast, off_road=off.off_road, overrun=off.overrun)
        driven = min(self._usable_grip(s), float(self._most_plan[row]) / factor)
        planned = driven * factor / place
        # Driven wheels may spin out of a bend that could be faster; wheels that slip while they brake for long cannot.
        # The mean of an axle hides that its inner wheel locks, and all brakes are released for it.
        braked = max(estimate.combined_slip, min(locking, MOST_LOCKING)) if forward < BRAKING else 0.0
        self._braked_slip += min(dt / BRAKING_TIME, 1.0) * (braked - self._braked_slip)
        angle_slip = estimate.slip
        if forward < BRAKING:
            angle_slip *= max(self._target_slip / BRAKED_ANGLE_SLIP, 1.0)
        slip = max(angle_slip, self._braked_slip * self._braked_target)
        if forward < BRAKING and off.fast > FAST_LIMIT:  # the brakes do not do what is planned, whatever the slip says
            slip = max(slip, self._target_slip)
        understeers = float(off.steer_cut > LEAST_STEER_CUT)
        self._understeer += min(dt / UNDERSTEER_TIME, 1.0) * (understeers - self._understeer)
        if off.overrun > 0.0:  # whatever margin the tyres have left: the road has none
            slip = max(slip, self._target_slip)
        if self._understeer > UNDERSTEER_SHARE:  # the law holds the front tyres below the target, which says little
            slip = max(slip, self._target_slip - UNDERSTEER_MARGIN)
        # A lap that keeps a reserve for its untested brakes says nothing of the factors.
        is_reserved = self._keeps_reserve and estimate.most < self._highest_estimate()
        use_of_plan = 0.0 if self._tests_brakes or is_reserved else estimate.use / planned
        if self.learning.observe(s, LapSample(grip, driven, use_of_plan, slip, fault, self._next_rise(grip), dt)):
            before = self._factors
            self.places.finish_lap()
            self._factors, self._most_plan = self._read_factors()
            # The car may be braking for a bend of the new lap, whose factors contain a fall of the grip already.
            self._planned_grip *= max(before[row] / self._factors[row], 1.0)
            # On ground that is known to be poor places differ by more than it goes on to fall.
            estimate.expects_fall = self.learning.lap_grip >= DOUBTFUL_GRIP
            self._tests_brakes = False  # for a lap: a car that never brakes hard learns from bends
            if not self._keeps_reserve:
                estimate.most = self._highest_estimate()

    def _take_friction(self, s: float, friction: float, dt: float) -> None:
        """Compare the friction that a steady bend shows with that of the laps before."""
        friction = self.estimate.settle_friction(friction, dt)
        if math.isnan(friction):
            return
        reference = self.learning.reference_at(s, Evidence.FRICTION)
        if abs(reference - 1.0) < MOST_MISFIT:
            self.estimate.add_friction(friction / reference, dt)
        self.learning.add_capacity(s, friction / self.estimate.shown_grip, dt, Evidence.FRICTION)

    def replan_later(self, s: float) -> bool:
        """Plan anew where REPLAN_DISTANCE has been driven since the last plan; return whether it has."""
        if self._ahead(self._planned_at, s) > REPLAN_DISTANCE:
            self.replan(s)
            return True
        return False

    @property
    def has_fallen(self) -> bool:
        """Whether much less grip is planned with than the lap before had: what a place shows now is not its own."""
        return self.learning.laps > 0 and self._planned_grip < FALLEN_GRIP

    def measure_use(self, speed: float, forward: float, slips: AxleSlips, shape: PathShape) -> GripUse:
        """Return what `measure_grip_use` returns, for the car that is believed."""
        resistance = interpolate_speed(self._resistance, self._limits.speeds, speed)
        return GripUse(*self._measure((speed, forward, resistance), slips, shape, self._limits, self._car))

    def replan(self, s: float) -> None:
        """Plan the part ahead of s (m) with the grip that is estimated now.

        Where the car brakes, with no more than before: the pedals would follow a plan that rises there by accelerating,
        and what they lose has to be braked in the bend.
        """
        usable, first = self._usable_grip(s), self._row_at(s)
        brakes = self._acceleration[first] < BRAKING
        self._planned_grip, self._planned_at = min(usable, self._planned_grip) if brakes else usable, s
        grip = self._grip_of_road * np.minimum(self._factors * self._planned_grip, self._most_plan)
        self.shapes[:, GRIP_COLUMN] = grip
        self.road.table[:, RoadColumn.GRIP] = grip
        speed = self._speed[first]
        braking = BRAKING_SHARE * interpolate_speed(self._limits.brake[:, 0].copy(), self._limits.speeds, speed)
        count = int((speed * speed / (2.0 * max(braking, 1.0)) + LOOK_BEYOND) / self._line.spacing) + 2
        self._refill(
            self.shapes, self._settings(speed), self._limits, (first, count), (self.speeds, self.accelerations)
        )
        self.planned_first, self.planned_rows = first, min(count, len(self._factors))

    def speed_at(self, s: float) -> float:
        """Return the planned speed (m/s) at s (m)."""
        return self._interpolate_rows(self._speed, s)

    def acceleration_at(self, s: float) -> float:
        """Return the planned acceleration (m/s^2) at s (m)."""
        return self._interpolate_rows(self._acceleration, s)

    def road_grip(self, row: int) -> float:
        """Return the grip of the road at a row of the line, as the map says."""
        return float(self._grip_of_road[row])

    def expect_sideslip(self, places: Array) -> Array:
        """Return the sideslip (n,) rad of the next lap over that of the lap before, with the plan that it has taught.

        A model whose tyres have as much more grip as the plan slips no more than before; the car does.

        Args:
            places: (n,) m along the line.
        """
        rows = np.minimum((places / self._line.spacing).astype(int), len(self._factors) - 1)
        curvature, speed = self._line.table[rows, RoadColumn.CURVATURE], self.speeds[rows]
        across, along = np.abs(curvature) * speed**2, self.accelerations[rows]
        share = across / np.maximum(np.hypot(across, along), LEAST_CORNERING)
        rise = self.learning.slip_rise[np.minimum((places / STATION).astype(int), len(self.learning.factors) - 1)]
        expected: Array = -np.sign(curvature) * share * rise * self._peak_rear_angle
        return expected

    def export_memory(self) -> JsonObject:
        """Return what has been learned, as `import_memory` takes it. On an open line this ends the lap."""
        if not self._line.closed:
            self.learning.finish_lap(self.estimate.grip, self._next_rise(self.estimate.grip))
        learning = self.learning
        factors = np.clip(learning.best_factors * self.places.shares, LEAST_FACTOR, MOST_FACTOR).round(4).tolist()
        trust = np.minimum(learning.trials.trust, 1.0).round(3).tolist()
        memory = PlanMemory(round(self.estimate.grip, 4), learning.laps, factors, trust=trust)
        content: JsonObject = msgspec.to_builtins(memory)
        return content

    def import_memory(self, content: JsonObject, where: str) -> None:
        """Take up what `export_memory` returned on the same line; DataError, naming `where`, where it is not that."""
        memory = read_plan_memory(content, where)
        count = len(self.learning.factors)
        if len(memory.factors) != count:
            raise DataError("a memory of another road", where=where, expected=f"{count} factors",
                            got=str(len(memory.factors)))  # fmt: skip
        self.estimate = GripEstimate(memory.grip - REMEMBERED_DROP, self._curve)
        self.learning.factors, self.learning.laps = np.array(memory.factors), memory.laps
        if len(memory.trust) == len(self.learning.trials.trust):  # else the plan of another version of the car
            self.learning.trials.trust[:] = memory.trust
        self.learning.best_factors = self.learning.factors
        self.learning.last_estimates = np.full(count, memory.grip)
        self._factors, self._most_plan = self._read_factors()
        self.estimate.most = self._highest_estimate()
        self.learning.lap_grip = self.estimate.grip

    def _read_factors(self) -> tuple[Array, Array]:
        """Return the factors (rows,) on the grip of the road, and what they are at most, with those of places."""
        count, spacing = len(self._line.table), self._line.spacing
        shares = self.learning.interpolate_rows(self.places.shares, count, spacing)
        return shares * self.learning.factors_at(count, spacing), shares * self.learning.most_plan_at(count, spacing)

    def _highest_estimate(self) -> float:
        """Return what the estimate may rise to now."""
        laps = self.learning.laps
        most = self._first_grips[laps] if laps < len(self._first_grips) else MOST_GRIP
        return min(most, UNTESTED_GRIP) if self._tests_brakes and laps == 0 else most

    def _next_rise(self, grip: float) -> float:
        """Return the factor on the estimate `grip` that the next lap allows, where it is the highest of this lap."""
        laps = self.learning.laps + 1
        following = self._first_grips[laps] if laps < len(self._first_grips) else MOST_GRIP
        most = self._highest_estimate()
        return max(following / most, 1.0) if grip > HELD_SHARE * most else 1.0

    def _usable_grip(self, s: float) -> float:
        """Return the factor on the planned grip that the estimate allows at s (m).

        A file that is wrong of the brakes is wrong of bends as well, and braking to the peak of the slip uses 0.97 of
        the grip: until a lap has shown all of the road, less is planned than the estimate says.
        """
        usable = self.learning.usable_grip(s, self.estimate.grip)
        if self._keeps_reserve and self.learning.laps == 0 and self.estimate.has_braked:
            doubt = (DOUBTFUL_GRIP - self.estimate.shown_grip) / DOUBT_RANGE
            usable *= 1.0 - DOUBT_RESERVE * min(max(doubt, 0.0), 1.0)
        return usable

    def _settings(self, start: float) -> ProfileSettings:
        return ProfileSettings(self._line.spacing, self._line.closed, start, GRIP_MARGIN)

    def _ahead(self, start: float, end: float) -> float:
        """Return the distance (m) along the line from s = start to s = end; on an open line the size of it."""
        return (end - start) % self._line.length if self._line.closed else abs(end - start)

    def _row_at(self, s: float) -> int:
        count = len(self._factors)
        row = int(s / self._line.spacing)
        return row % count if self._line.closed else min(max(row, 0), count - 1)

    def _interpolate_rows(self, values: memoryview, s: float) -> float:
        count = len(self._factors)
        last = count if self._line.closed else count - 1
        position = s / self._line.spacing
        position = position % last if self._line.closed else min(max(position, 0.0), last - 1e-9)
        i = int(position)
        j = i + 1 if i + 1 < count else 0
        value: float = values[i] + (position - i) * (values[j] - values[i])
        return value
