"""What signs over the road ask for: read many times, weighed, and kept until the place that they speak of is passed."""

import math

from trailbrake.control.opening import ANY, Side, Wish

NEAR = 3.5  # m: farther signs are too small to be right about
ENOUGH = 1.3  # evidence (sum of scores over distances) from which a side is taken
TAKEN = 0.8  # m to the sign from where its side is taken: before, a bend may lie between
PASSED = 0.35  # m: nearer signs have left the picture
SAME = (0.5, 0.25)  # m, and share of the distance, that readings of one sign may be apart
BEYOND = {"fork": 2.6, "keep": 2.6}  # m behind the sign for which its side is kept: the way up to it, and past it


class SignMemory:
    """Remembers the sign ahead. Signs of bends ask for nothing that the road does not ask for too.

    Attributes:
        side: which side to keep to, "" for none.
        last: the name of the sign that asked for it, or for the side before.
    """

    def __init__(self) -> None:
        self._evidence: dict[str, float] = {}
        self._ahead = math.inf  # m to the sign that is being read
        self._left = 0.0  # m for which the side is kept
        self.side: Side = ""
        self.last = ""

    @property
    def wish(self) -> Wish:
        """What the sign asks for: a fork's side leads on; past a parked car the road itself knows better."""
        return Wish(self.side, self.last.startswith("fork")) if self.side else ANY

    def roll(self, distance: float) -> None:
        """Let the car roll on, m."""
        self._left -= distance
        self._ahead -= distance
        if self._left <= 0.0:
            self.side = ""
        self._take()
        if self._ahead < PASSED:
            self._evidence.clear()
            self._ahead = math.inf

    def see(self, name: str, score: float, distance: float) -> None:
        """Take one reading: the sign's name, how sure (0..1), and how far ahead (m)."""
        kind = name.rpartition("_")[0]
        apart, share = SAME
        same = apart + share * distance
        if kind not in BEYOND or distance > NEAR or distance > self._ahead + same:
            return
        if distance < self._ahead - same:
            self._evidence.clear()
        self._ahead = distance
        # Near readings are better ones, and a sign is read dozens of times on the way to it.
        self._evidence[name] = self._evidence.get(name, 0.0) + score / max(distance, 0.5)
        self._take()

    def _take(self) -> None:
        if self._ahead > TAKEN or not self._evidence:
            return
        best = max(self._evidence, key=lambda n: self._evidence[n])
        if self._evidence[best] >= ENOUGH:
            self.side, self.last = ("left" if best.endswith("_left") else "right"), best
            self._left = self._ahead + BEYOND[best.rpartition("_")[0]]
