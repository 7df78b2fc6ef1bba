"""`Program`: declared parts, rewards and ends put together into what kernels run."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError
from trailbrake.observe.actions import Action, action
from trailbrake.observe.columns import FOUR, Seen
from trailbrake.observe.fill import BEND, fill, others
from trailbrake.observe.judge import PAST_END, End, Reward, end, reward
from trailbrake.observe.parts import MOST, Bends, Columns, Edges, Others, Part, Scan, part
from trailbrake.observe.preview import preview
from trailbrake.state.car import WHEEL_NAMES
from trailbrake.tracks.road import Road

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]
Item = TypeVar("Item")


class Program:
    """What is observed, rewarded and ended by, and how it is acted.

    Args:
        parts: names or parts; the observation is their numbers in this order.
        rewards: names or rewards; the reward is their sum.
        ends: names or ends; the first that is met counts. The end of an open road is always one.
        how: name or kind of the action.

    Attributes:
        parts: the parts.
        slices: where each stands in an observation.
        width: how many numbers an observation has.
        rewards: the rewards.
        ends: the ends.
        action: the kind of action.
        scans: the scanners and where their ranges stand; the only parts that `write` leaves to others.
        terms: how many lines of `codes` and `values` are numbers of the observation.
        codes: (lines, 2), see `fill`.
        values: (lines, 2), see `fill`.

    Raises:
        UsageError: unknown names; nothing to observe.
    """

    def __init__(
        self, parts: Sequence[str | Part], rewards: Sequence[str | Reward] = (), ends: Sequence[str | End] = (),
        how: str | Action = "steer_pedal",
    ) -> None:  # fmt: skip
        self.parts = tuple(part(asked) for asked in _listed(parts, "observe"))
        self.rewards = tuple(reward(asked) for asked in _listed(rewards, "rewards"))
        self.ends = (*(end(asked) for asked in _listed(ends, "ends")), PAST_END)
        self.action = action(how)
        codes: list[tuple[int, int]] = []
        values: list[tuple[float, float]] = []
        slices: list[slice] = []
        self.scans: list[tuple[Scan, slice]] = []
        self._edges: list[tuple[Edges, slice, Array]] = []
        self._others: list[tuple[Others, int]] = []
        place = 0
        for one in self.parts:
            where = slice(place, place + one.width)
            slices.append(where)
            if isinstance(one, Columns):
                for i, (row, usual) in enumerate(one.rows):
                    codes.append((row, place + i))
                    values.append((1.0 / usual, 0.0))
            elif isinstance(one, Bends):
                for i, ahead in enumerate(one.ahead):
                    codes.append((BEND, place + i))
                    values.append((1.0 / one.usual, float(ahead)))
            elif isinstance(one, Edges):
                self._edges.append((one, where, np.array(one.ahead, np.float64)))
            elif isinstance(one, Others):
                self._others.append((one, place))
            else:
                self.scans.append((one, where))
            place += one.width
        if place == 0:
            raise UsageError("nothing to observe", where="observe", expected="at least one part")
        self.width, self.slices, self.terms = place, tuple(slices), len(codes)
        codes += [(int(r.column), 0) for r in self.rewards] + [(int(e.column), 0) for e in self.ends]
        values += [(r.weight, 0.0) for r in self.rewards] + [(e.limit, e.reward) for e in self.ends]
        self.codes: Ints = np.array(codes, np.int64).reshape(-1, 2)
        self.values: Array = np.array(values, np.float64).reshape(-1, 2)
        low, high = np.full(place, -MOST, np.float32), np.full(place, MOST, np.float32)
        for _, where in self.scans:
            low[where], high[where] = 0.0, 1.0
        self.low, self.high = low, high

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS that observing takes; rewards and ends may take more."""
        return frozenset().union(*(one.needs for one in self.parts))

    @property
    def judging_needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS that rewards and ends take."""
        needs = [r.needs for r in self.rewards] + [e.needs for e in self.ends]
        return frozenset().union(*needs)

    @property
    def rows(self) -> tuple[str, ...]:
        """A name for each number of an observation: what it is called in `Seen`, or its part's name and place."""
        names: list[str] = []
        for one in self.parts:
            if isinstance(one, Columns):
                names += [f"{one.name}.{_row_name(row)}" for row, _ in one.rows]
            else:
                names += [f"{one.name}[{i}]" for i in range(one.width)]
        return tuple(names)

    @property
    def only_terms(self) -> bool:
        """Whether `fill` alone writes whole observations."""
        return not (self.scans or self._edges or self._others)

    def write(self, seen: Array, road: Road, out: Rows, group: int, lo: int, hi: int) -> None:
        """Write the observations of the cars `lo`..`hi` - 1, but for scans.

        Args:
            seen: (Seen.COUNT, n or more), worked out.
            road: the road.
            out: (n, width) float32.
            group: so many consecutive cars are in one world.
            lo: first car.
            hi: one past the last.
        """
        fill(seen, self.codes, self.values, self.terms, road.table, road.spacing, road.closed, out, lo, hi)
        self.write_rest(seen, road, out, group, lo, hi)

    def write_rest(self, seen: Array, road: Road, out: Rows, group: int, lo: int, hi: int) -> None:
        """Write what `fill` does not; arguments as `write`."""
        for edges, where, ahead in self._edges:
            m = len(ahead)
            found = np.empty((hi - lo, 6 * m), np.float64)
            s, offset, heading = (seen[row, lo:hi] for row in (Seen.S, Seen.OFFSET, Seen.HEADING))
            preview(road.table, road.spacing, road.closed, s, offset, heading, ahead, found, 0, hi - lo)
            out[lo:hi, where] = np.clip(found[:, m : 5 * m] / edges.usual, -MOST, MOST)
        for other, place in self._others:
            others(seen, group, other.count, other.reach, out, place, lo, hi)


def _listed(asked: Sequence[Item], where: str) -> Sequence[Item]:
    if isinstance(asked, str):
        raise UsageError("one name instead of several", where=where, expected=f"({asked!r},)", got=repr(asked))
    return asked


def _row_name(row: int) -> str:
    column = max(member for member in Seen if member <= row)
    return f"{column.name.lower()}_{WHEEL_NAMES[row - column]}" if column in FOUR else column.name.lower()
