"""Compares commands with the echo of them that a simulator sends: is the pad seen, by which axes, how late?

Each level is held until its echo comes, `PATIENCE` at most. The echo of Forza is coarse, 1/127 for the stick and
1/255 for the pedals; what it shows is the player's input before any assist (protocol page forza-data-out, 3.3).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trailbrake.errors import UsageError
from trailbrake.roles import Link
from trailbrake.run.connect import connected
from trailbrake.run.loop import Pace
from trailbrake.run.options import CheckOptions, DriveOptions
from trailbrake.sims import registry
from trailbrake.state import Controls, Phase

PATIENCE = 1.0  # s of simulator time that an echo may take
CLOSE = 0.02  # of the way; the coarsest echo is 1/127
STICKS = (0.25, -0.4, 0.6, -0.8, 1.0, -0.9, 0.1, 0.0)  # no two of one size: an inverted axis must show
PEDALS = (0.1, 0.3, 0.0)  # low: the car moves
AXES: dict[str, Sequence[float]] = {"steer": STICKS, "throttle": PEDALS}
SILENT = 10.0  # s without a driving car after which there is nothing to check


@dataclass(frozen=True)
class Axis:
    """What came back of one axis.

    Attributes:
        axis: its name in `Controls` and `CarState`.
        sent: levels that were commanded.
        matched: levels that came back.
        worst: largest difference of those that did, or of the last look at those that did not.
        delay: s of simulator time from a command to its echo, the longest.
        verdict: in words.
    """

    axis: str
    sent: int
    matched: int
    worst: float
    delay: float
    verdict: str

    @property
    def ok(self) -> bool:
        """Whether every level came back."""
        return self.matched == self.sent


def check(options: CheckOptions, say: Callable[[str], None] = lambda text: None) -> list[Axis]:
    """Check all axes; leave the controls released.

    Raises:
        UsageError: the simulator tells no echo.
        SimulatorError: it is not there.
    """
    spec = registry.part(options.sim, "spec")
    missing = sorted(set(AXES) - spec.SUPPLIES)
    if missing:
        raise UsageError(f"{options.sim} does not tell what it took: {', '.join(missing)}", where="--sim")
    live = spec.LiveOptions()
    for name, value in (("pad", options.pad), ("listen", options.listen)):
        if options.live and value and hasattr(live, name):
            setattr(live, name, value)
    drive = DriveOptions(sim=options.sim, track=options.track, car=options.car, live=options.live)
    with connected(drive, live, lambda: False) as connection:
        return [_axis(connection.link, connection.pace, axis, levels, say) for axis, levels in AXES.items()]


def _axis(link: Link, pace: Pace, axis: str, levels: Sequence[float], say: Callable[[str], None]) -> Axis:
    matched, worst, delay, seen = 0, 0.0, 0.0, []
    for level in levels:
        error, took, echo = _level(link, pace, axis, level)
        seen.append(echo)
        worst = max(worst, error)
        if error <= CLOSE:
            matched += 1
            delay = max(delay, took)
        say(f"{axis} {level:+.2f}: {'came back' if error <= CLOSE else f'shows {echo:+.2f}'} after {took * 1e3:.0f} ms")
    return Axis(axis, len(levels), matched, worst, delay, _verdict(axis, levels, seen, matched))


def _level(link: Link, pace: Pace, axis: str, level: float) -> tuple[float, float, float]:
    """Hold one level; return (difference at the end, s that it took, the last echo)."""
    began, patience, echo = math.nan, 0, math.nan
    while True:
        now = pace.wait(link)
        state = link.read(now)
        if state.phase is not Phase.DRIVING:
            began = now if math.isnan(began) else began
            if now - began > SILENT or pace.gone():
                return math.inf, now - began, math.nan
            continue
        if patience == 0:
            began = state.time
        patience += 1
        echo = float(getattr(state, axis))
        took = state.time - began
        if abs(echo - level) <= CLOSE and patience > 1:
            return abs(echo - level), took, echo
        if took > PATIENCE:
            return abs(echo - level), took, echo
        controls = Controls()
        setattr(controls, axis, level)
        link.write(controls)


def _verdict(axis: str, levels: Sequence[float], seen: Sequence[float], matched: int) -> str:
    if matched == len(levels):
        return "ok"
    if all(math.isnan(echo) for echo in seen):
        return "nobody drives: leave the menu"
    if all(abs(echo) <= CLOSE for echo in seen):
        return "nothing arrives: the game does not see the pad, or another window has the focus"
    if axis == "steer" and all(abs(echo + level) <= CLOSE for echo, level in zip(seen, levels, strict=True)):
        return "inverted"
    small = [abs(echo) <= CLOSE for echo, level in zip(seen, levels, strict=True) if 0.0 < abs(level) <= 0.25]
    if small and all(small):
        return "a dead zone swallows small levels: set it to 0 in the game"
    return "not what was sent: an assist, a dead zone or another pad is in the way"
