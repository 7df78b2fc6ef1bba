"""The side that a sign over the road requires: read many times, weighted, and kept until its place is passed.

Detection of driving the wrong way, by arrows on the road and the backs of signs over it.
"""

import math
from typing import Literal

from trailbrake.control.minicar.free_space import ANY_BRANCH, BranchChoice, Side

MAX_READING_DISTANCE = 3.5  # m: farther signs are too small to read reliably
REQUIRED_EVIDENCE = 1.3  # evidence (sum of scores over distances) from which a side is chosen
DECISION_DISTANCE = 0.8  # m to the sign below which its side counts: at a larger distance a bend may be in between
PASSED_DISTANCE = 0.35  # m: nearer signs are outside the picture
SAME_SIGN_TOLERANCE = (0.5, 0.25)  # m, and share of the distance: largest difference of two readings of one sign
HOLD_DISTANCE = {"fork": 2.6, "keep": 2.6}  # m beyond the sign over which its side is kept
READING_INTERVAL = 0.12  # m between readings: an arrow is in sight for some 0.7 m, a sign's back for 2 m or more
REQUIRED_READINGS = 4  # readings of the wrong way, less those of the right way


class SignMemory:
    """Remembers the sign ahead. Signs of bends are ignored: the road itself shows the bend.

    Attributes:
        side: which side to keep to, "" for none.
        last_sign: the name of the sign behind `side`, or behind the side before it.
    """

    def __init__(self) -> None:
        self._evidence: dict[str, float] = {}
        self._sign_distance = math.inf  # m to the sign that is being read
        self._hold_remaining = 0.0  # m for which the side is kept
        self.side: Side = ""
        self.last_sign = ""

    @property
    def branch_choice(self) -> BranchChoice:
        """The branch that the sign requires. Past a parked car the road itself decides."""
        return BranchChoice(self.side, self.last_sign.startswith("fork")) if self.side else ANY_BRANCH

    def advance(self, distance: float) -> None:
        """Account for `distance` (m) that the car has rolled."""
        self._hold_remaining -= distance
        self._sign_distance -= distance
        if self._hold_remaining <= 0.0:
            self.side = ""
        self._decide_side()
        if self._sign_distance < PASSED_DISTANCE:
            self._evidence.clear()
            self._sign_distance = math.inf

    def add_reading(self, name: str, score: float, distance: float) -> None:
        """Add one reading: the sign's name, its score (0..1), and its distance (m)."""
        kind = name.rpartition("_")[0]
        apart, share = SAME_SIGN_TOLERANCE
        same = apart + share * distance
        if kind not in HOLD_DISTANCE or distance > MAX_READING_DISTANCE or distance > self._sign_distance + same:
            return
        if distance < self._sign_distance - same:
            self._evidence.clear()
        self._sign_distance = distance
        # Readings from near are better, and a sign is read dozens of times.
        self._evidence[name] = self._evidence.get(name, 0.0) + score / max(distance, 0.5)
        self._decide_side()

    def _decide_side(self) -> None:
        if self._sign_distance > DECISION_DISTANCE or not self._evidence:
            return
        best = max(self._evidence, key=lambda n: self._evidence[n])
        if self._evidence[best] >= REQUIRED_EVIDENCE:
            self.side, self.last_sign = ("left" if best.endswith("_left") else "right"), best
            self._hold_remaining = self._sign_distance + HOLD_DISTANCE[best.rpartition("_")[0]]


class WrongWayCounter:
    """Counts readings of arrows and signs."""

    def __init__(self) -> None:
        self._way = 0.0
        self._count = 0

    def is_due(self, distance: float) -> bool:
        """Account for `distance` (m) that the car has rolled; return whether a reading is due."""
        self._way += distance
        if self._way < READING_INTERVAL:
            return False
        self._way = 0.0
        return True

    def add_reading(self, arrows: Literal["forward", "backward", ""], backs: int) -> bool:
        """Add one reading: the arrows' direction, and the number of signs' backs. Return whether the way is wrong."""
        wrong = arrows == "backward" or (backs > 0 and arrows != "forward")
        self._count = max(self._count + wrong - (arrows == "forward"), 0)
        if self._count < REQUIRED_READINGS:
            return False
        self._count = 0
        return True
