"""Compares commands with the echo of them that a simulator sends: is the pad seen, by which axes, how late?

Each level is held until its echo comes, `PATIENCE` at most. The echo of Forza is coarse, 1/127 for the stick and
1/255 for the pedals; what it shows is the player's input before any assist (protocol page forza-data-out, 3.3).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.spec import AnySite, DriveSpec, EmbeddedSite, LiveSite
from trailbrake.errors import UsageError
from trailbrake.run.options import PadCheckOptions
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls, Phase

ECHO_LIMIT_S = 1.0  # s of simulator time that an echo may take
TOLERANCE = 0.02  # of the way; the coarsest echo is 1/127
STEER_LEVELS = (0.25, -0.4, 0.6, -0.8, 1.0, -0.9, 0.1, 0.0)  # no two of one size: an inverted axis must show
PEDAL_LEVELS = (0.1, 0.3, 0.0)  # low: the car moves
SILENCE_LIMIT_S = 10.0  # s without a driving car after which there is nothing to check


@dataclass(frozen=True)
class AxisCheck:
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
    def all_matched(self) -> bool:
        """Whether every level came back."""
        return self.matched == self.sent


def check_pad(
    simulator: AnySimulator, options: PadCheckOptions, say: Callable[[str], None] = lambda text: None
) -> list[AxisCheck]:
    """Check all axes; leave the controls released.

    Args:
        simulator: whose wire.
        options: where, and by which pad.
        say: takes a line per level.

    Raises:
        UsageError: the simulator does not report the controls that it applies.
        SimulatorError: it is not there.
    """
    missing = sorted(set(AXES) - simulator.supplies)
    if missing:
        raise UsageError(f"{simulator.name} does not tell what it took: {', '.join(missing)}", where="--sim")
    live = simulator.live_options()
    if options.live:
        live = simulator.pad_options(live, options.pad, options.listen)
    site: AnySite = (
        LiveSite(sim=options.sim)
        if options.live
        else EmbeddedSite(sim=options.sim, track=options.track, car=options.car)
    )
    with open_connection(make_setup(simulator, DriveSpec(site=site), live), lambda: False) as connection:
        return [_check_axis(connection, axis, say) for axis in AXES.values()]


class _Axis(NamedTuple):
    """One axis of the pad: its name, the levels to command, and how to read and command it."""

    name: str
    levels: Sequence[float]
    read: Callable[[CarState], float]
    command: Callable[[float], Controls]


AXES = {
    "steer": _Axis("steer", STEER_LEVELS, lambda state: state.steer, lambda level: Controls(steer=level)),
    "throttle": _Axis("throttle", PEDAL_LEVELS, lambda state: state.throttle, lambda level: Controls(throttle=level)),
}


class _Echo(NamedTuple):
    """What came back of one level: difference at the end, s that it took, and the last value."""

    error: float
    delay: float
    value: float


def _check_axis(connection: Connection, axis: _Axis, say: Callable[[str], None]) -> AxisCheck:
    matched, worst, delay, seen = 0, 0.0, 0.0, []
    for level in axis.levels:
        echo = _hold_level(connection, axis, level)
        seen.append(echo.value)
        worst = max(worst, echo.error)
        came_back = echo.error <= TOLERANCE
        if came_back:
            matched += 1
            delay = max(delay, echo.delay)
        shown = "came back" if came_back else f"shows {echo.value:+.2f}"
        say(f"{axis.name} {level:+.2f}: {shown} after {echo.delay * 1e3:.0f} ms")
    verdict = _explain_axis(axis.name, axis.levels, seen, matched)
    return AxisCheck(axis.name, len(axis.levels), matched, worst, delay, verdict)


def _hold_level(connection: Connection, axis: _Axis, level: float) -> _Echo:
    """Hold one level until its echo comes or ECHO_LIMIT_S is over."""
    link, pacer = connection.link, connection.pacer
    began, samples = math.nan, 0
    while True:
        now = pacer.wait_for_sample(link)
        state = link.read(now)
        if state.phase is not Phase.DRIVING:
            began = now if math.isnan(began) else began
            if now - began > SILENCE_LIMIT_S or pacer.end_reason():
                return _Echo(math.inf, now - began, math.nan)
            continue
        if samples == 0:
            began = state.time
        samples += 1
        value = axis.read(state)
        error, delay = abs(value - level), state.time - began
        if (error <= TOLERANCE and samples > 1) or delay > ECHO_LIMIT_S:
            return _Echo(error, delay, value)
        link.write(axis.command(level))


def _explain_axis(axis: str, levels: Sequence[float], seen: Sequence[float], matched: int) -> str:
    if matched == len(levels):
        return "ok"
    if all(math.isnan(echo) for echo in seen):
        return "no car is driven: leave the menu"
    if all(abs(echo) <= TOLERANCE for echo in seen):
        return "nothing arrives: the game does not see the pad, or another window has the focus"
    if axis == "steer" and all(abs(echo + level) <= TOLERANCE for echo, level in zip(seen, levels, strict=True)):
        return "inverted"
    small = [abs(echo) <= TOLERANCE for echo, level in zip(seen, levels, strict=True) if 0.0 < abs(level) <= 0.25]
    if small and all(small):
        return "a dead zone swallows small levels: set it to 0 in the game"
    return "not what was sent: an assist, a dead zone or another pad is in the way"
