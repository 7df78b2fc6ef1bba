"""Judges what a car does after a fault: never faster, never backwards, at rest in time, and it stays at rest.

Most wires carry the speed without its sign. Where they have the car's place, the way that it goes back counts: a car
that has stopped rocks on its springs by a few centimetres. Elsewhere its speed: a car that goes backwards has passed
through rest, so that its speed rises again after it had fallen, as that of a car that starts off again does.
"""

import itertools
import math

from faults.trace import is_safe

REST_MPS = 0.35  # below it a car is at rest, or all but: what rolls out without a brake does so in a second or two
SLOW_SHARE = 0.2  # of the speed at the fault below which a car must not become quicker again
GAIN_SHARE = 0.05  # of its speed that a car may gain after the brake is on the wire
ACTS_S = 0.4  # s from a command on the wire to its effect, at most: 0.12 s each way, a period, a lag of the brakes
MOST_ROCKING_M, MOST_ROCKING_MPS = 0.1, 0.6  # of a car on its springs, which are soft
MOST_RISE_MPS = 0.1  # of a car without springs, or of which the speed alone is known, at 25 samples a second
STAYS_S = 1.5  # s for which a car that has come to rest is watched


def judge_stop(trace, wire, findings, began, rest_s=None):
    """Add to `findings` what is wrong with the speeds since `began`.

    Args:
        trace: of the wire.
        wire: whose car.
        findings: receive failures, and the time to rest as `rest_s`.
        began: s, monotonic, when the fault began.
        rest_s: s within which the car must be at rest; None: it may go on rolling out.
    """
    speeds = [(when - began, speed) for when, speed in list(trace.speeds) if when >= began - 0.1]
    if not speeds:
        return
    acts_at = (trace.first_time(began, is_safe) or 0.0) + ACTS_S
    first = max(wire.fast, *(speed for when, speed in speeds if when <= acts_at))
    fastest = max((speed for when, speed in speeds if when > acts_at), default=0.0)
    findings.check(
        fastest <= (1.0 + GAIN_SHARE) * first, f"the car became faster: {first:.2f} m/s, then {fastest:.2f} m/s"
    )
    places = [place for when, place in list(trace.places) if when >= began - 0.1]
    if places:
        back = measure_retreat(places)
        findings.note("back_m", back)
        findings.check(back <= MOST_ROCKING_M, f"the car went back by {back:.2f} m")
    rise, slowest = find_rise(speeds, max(SLOW_SHARE * first, REST_MPS))
    most = MOST_ROCKING_MPS if places else MOST_RISE_MPS
    findings.check(rise <= most, f"the car slowed to {slowest:.2f} m/s and went on by {rise:.2f} m/s more")
    if rest_s is not None:
        findings.check(speeds[-1][1] <= REST_MPS, f"the car did not stay at rest: {speeds[-1]}")
    rested = next((when for when, speed in speeds if speed < REST_MPS), None)
    findings.note("rest_s", rested)
    if rest_s is not None:
        findings.check(rested is not None and rested <= rest_s, f"not at rest within {rest_s} s: {speeds[-1]}")


def measure_retreat(places):
    """Return by how many m a car has gone back along its last way: the most behind its foremost place.

    Args:
        places: x, y in m.
    """
    travelled, ahead, retreat = (0.0, 0.0), 0.0, 0.0
    for (x0, y0), (x1, y1) in itertools.pairwise(places):
        dx, dy = x1 - x0, y1 - y0
        step = math.hypot(dx, dy)
        if dx * travelled[0] + dy * travelled[1] >= 0.0:
            ahead = min(ahead + step, 0.0)
            if step > 0.0 and ahead == 0.0:  # the direction of travel, over the last few samples
                new = min(step / 0.05, 1.0)
                travelled = tuple(
                    (1.0 - new) * old + new * d / step for old, d in zip(travelled, (dx, dy), strict=True)
                )
        else:
            ahead -= step
            retreat = max(retreat, -ahead)
    return retreat


def find_rise(speeds, slow):
    """Return the largest gain of speed (m/s) of a car that had slowed below `slow`, and from which speed it gained."""
    slowest, rise, lowest = float("inf"), 0.0, 0.0
    for _, speed in speeds:
        slowest = min(slowest, speed)
        if slowest < slow and speed - slowest > rise:
            rise, lowest = speed - slowest, slowest
    return rise, lowest
