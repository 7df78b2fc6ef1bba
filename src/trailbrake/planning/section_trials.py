"""Acceptance of a plan's steps, section by section: one that does not pay is taken back, and the next is smaller.

A section of a line goes from one highest speed of its plan to the next: a bend with its braking and its exit. The cost
of a lap there is its time, raised by what went wrong. The plan of the lap with the lowest cost is kept with the step
of its evidence. A lap that costs more restores that plan with a part of that step: a trust region per
section (Conn, Gould and Toint, Trust-Region Methods, 2000, chapter 6), with the lap itself as the measurement.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Ints

Array = NDArray[np.float64]

PROMINENCE = 0.05  # share by which a highest speed is above the lowest ones on both sides
EQUAL_COST = 5e-4  # share by which the same plan may cost more in another lap
BACK_OFF = 0.01  # share of its best plan that a section gives up for good where a step went wrong
TRUST_GROWTH, TRUST_SHRINKAGE = 2.0, 0.3  # of the share of a step that is taken, after one that paid or did not
MOST_TRUST = 2.0  # where steps have paid, and evidence still asks for the next: they were too small
SURE_STEP = 0.015  # share of a plan, tried beyond what its tyres vouch for
SAME_GRIP = 0.98  # of the usable grip of the best lap, below which a slower lap says nothing of its plan
SAME_PLAN = 0.01  # share above the best plan, up to which what goes wrong is the road's change, not the step's
SEVERE_FAULT = 0.03  # share by which a plan was too fast, from which it has gone wrong


class SectionLap(NamedTuple):
    """What a lap shows, by station.

    Attributes:
        plan: (n,) factor on the planned grip with which it was driven.
        step: (n,) share by which its evidence would change that.
        cost: (n,) s, NaN where it was not measured.
        usable: (n,) share of the grip that the estimate allowed.
        fault: (n,) share by which the plan was too fast; negative: it had margin.
        room: (n,) share by which its tyres vouch for more, whatever laps before have gained.
    """

    plan: Array
    step: Array
    cost: Array
    usable: Array
    fault: Array
    room: Array


class SectionTrials:
    """The best plan of each section so far, and how much of a step is tried from there.

    Args:
        starts: stations at which sections begin, ascending, the first one 0.
        count: of the stations.

    Attributes:
        trust: (sections,) share of a step that is tried next, at most `most_trust`; 0: none is.
        most_trust: MOST_TRUST, or less where steps are sure not to be too small.
    """

    def __init__(self, starts: Sequence[int], count: int) -> None:
        self._sections = [slice(a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]
        self._best, self.trust = np.empty(len(starts)), np.empty(len(starts))
        self._kept = SectionLap(*(np.ones(count) for _ in SectionLap._fields))
        self._is_better = np.zeros(len(starts), bool)
        self.most_trust = MOST_TRUST
        self._kept_beside = np.zeros((2, 0, 0))  # what was driven beside the best plans, and what those laps wanted
        self.forget()

    def forget(self, trust: float = 1.0) -> None:
        """Forget the best plans: the road or the car is another. `trust` is that in the next steps."""
        self._best[:], self.trust[:] = np.inf, trust

    def forget_sections(self, stations: Ints) -> None:
        """Forget the best plans of the sections that have any of `stations` (n,): the road there is another."""
        for k, section in enumerate(self._sections):
            if np.any((section.start <= stations) & (stations < section.stop)):
                self._best[k] = np.inf

    def restore(self, plan: Array) -> Array:
        """Return `plan` (n,) with the best plan of each section that has one."""
        restored = plan.copy()
        for best, section in zip(self._best, self._sections, strict=True):
            if np.isfinite(best):
                restored[section] = self._kept.plan[section]
        return restored

    def judge_beside(self, driven: Array, wanted: Array) -> Array:
        """Return what the next lap has beside its plan, by what `judge` has just found: the steering that was learned.

        Args:
            driven: (m, n) at n stations of any length along the same line, what the lap had.
            wanted: (m, n) what its evidence would have next.
        """
        following, per = wanted.copy(), wanted.shape[1] / len(self._kept.plan)
        if self._kept_beside.shape[1:] != wanted.shape:
            self._kept_beside = np.array([driven, wanted])
        for k, section in enumerate(self._sections):
            part = slice(round(per * section.start), round(per * section.stop))
            if self._is_better[k]:
                self._kept_beside[:, :, part] = driven[:, part], wanted[:, part]
            if np.isfinite(self._best[k]):
                old, new = self._kept_beside[:, :, part]
                following[:, part] = old + min(self.trust[k], 1.0) * (new - old)
        return following

    def judge(self, lap: SectionLap) -> Array:
        """Take a lap, and return the plan (n,) of the next one."""
        following: Array = lap.plan * (1.0 + lap.step)
        kept = self._kept
        self._is_better[:] = False
        for k, section in enumerate(self._sections):
            cost, best, trust = float(lap.cost[section].sum()), self._best[k], 0.0
            most: Array | float = np.inf
            if np.isinf(best):
                is_better = bool(np.isfinite(cost))
                if np.max(lap.fault[section]) < SEVERE_FAULT:  # doubt of the ground ends with a lap that holds on it
                    self.trust[k] = max(self.trust[k], 1.0)
            elif np.isnan(cost):
                is_better = False
            elif is_better := cost <= (1.0 + EQUAL_COST) * best:
                growth = TRUST_GROWTH if cost < (1.0 - EQUAL_COST) * best else 1.0
                trust = self.trust[k] = min(growth * self.trust[k], self.most_trust)
            elif np.min(lap.usable[section] / kept.usable[section]) < SAME_GRIP:
                # Slower for less grip: what its tyres have shown holds, and the step is tried again as far as that.
                trust = self.trust[k]
                most = np.maximum(lap.plan[section] * (1.0 + lap.step[section]), kept.plan[section])
            elif (
                np.max(lap.fault[section]) > SEVERE_FAULT
                and np.max(lap.plan[section] / kept.plan[section]) < 1.0 + SAME_PLAN
            ):
                self._best[k], self.trust[k] = np.inf, 1.0
                continue
            elif np.max(lap.fault[section]) > SEVERE_FAULT:  # an edge that one falls off is not tried again
                self.trust[k] = 0.0
                kept.plan[section] *= 1.0 - BACK_OFF
            else:
                trust = self.trust[k] = TRUST_SHRINKAGE * self.trust[k]
            if is_better:
                self._best[k], trust, self._is_better[k] = min(cost, best), self.trust[k], True
                for old, new in zip(kept, lap, strict=True):
                    old[section] = new[section]
            if np.isfinite(self._best[k]):
                step = kept.step[section]
                raised = np.where(step > 0.0, trust, min(trust, 1.0)) * step
                raised = np.minimum(raised, kept.room[section] + SURE_STEP)
                tried = kept.plan[section] * (1.0 + raised)
                following[section] = np.minimum(tried, most)
        return following


def find_sections(speeds: Array, stations: int) -> list[int]:
    """Return the stations, of `stations` along a line, at which sections begin; the first one is 0.

    Args:
        speeds: (n,) m/s, planned at even distances from the line's beginning to its end.
        stations: how many there are.
    """
    starts, extreme, rises = {0}, 0, False
    for i, speed in enumerate(speeds):
        beyond = speed - speeds[extreme] if rises else speeds[extreme] - speed
        if beyond > 0.0:
            extreme = i
        elif -beyond > PROMINENCE * max(speed, speeds[extreme]):
            if rises:
                starts.add(extreme * stations // len(speeds))
            extreme, rises = i, not rises
    return sorted(starts)
