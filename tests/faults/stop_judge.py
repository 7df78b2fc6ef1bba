"""Judges what a car does after a fault: never faster, never backwards, at rest in time, and it stays at rest.

Most wires carry the speed without its sign. A car that goes backwards has passed through rest, so that its speed rises
again after it had fallen: that is what is judged, and it holds for a car that starts off forward again, too.
"""

from faults.trace import is_safe

REST_MPS = 0.35  # below it a car is at rest, or all but: what rolls out without a brake does so in a second or two
SLOW_SHARE = 0.2  # of the speed at the fault below which a car must not become quicker again
GAIN_SHARE = 0.05  # of its speed that a car may gain after the brake is on the wire
ACTS_S = 0.4  # s from a command on the wire to its effect, at most: 0.12 s each way, a period, a lag of the brakes
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
    rise, slowest = find_rise(speeds, max(SLOW_SHARE * first, REST_MPS))
    findings.check(rise <= wire.rocking, f"the car slowed to {slowest:.2f} m/s and went on by {rise:.2f} m/s more")
    rested = next((when for when, speed in speeds if speed < REST_MPS), None)
    findings.note("rest_s", rested)
    if rest_s is not None:
        findings.check(rested is not None and rested <= rest_s, f"not at rest within {rest_s} s: {speeds[-1]}")


def find_rise(speeds, slow):
    """Return the largest gain of speed (m/s) of a car that had slowed below `slow`, and from which speed it gained."""
    slowest, rise, lowest = float("inf"), 0.0, 0.0
    for _, speed in speeds:
        slowest = min(slowest, speed)
        if slowest < slow and speed - slowest > rise:
            rise, lowest = speed - slowest, slowest
    return rise, lowest
