"""Compares commands with the echo of them that a simulator sends: is the pad seen, by which axes, how late?

A drive whose driver holds each level until its echo comes, ECHO_LIMIT_S at most. The echo of Forza is coarse, 1/127 for
the stick and 1/255 for the pedals; what it shows is the player's input before any assist (protocol page
forza-data-out, 3.3).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import NamedTuple

from trailbrake.driving.loop.drive_loop import SamplePacer
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.options import PadCheckOptions
from trailbrake.driving.run import INTERRUPTED, CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import make_spec
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course
from trailbrake.roles import Link
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls, Phase
from trailbrake.system.breakable_call import BreakableCall
from trailbrake.system.signals import handle_stop_signals

ECHO_LIMIT_S = 1.0  # s of simulator time that an echo may take
TOLERANCE = 0.02  # of the way; the coarsest echo is 1/127
# By axis; of the steer no two of one size: an inverted axis must show. Low throttle: the car moves.
LEVELS = {"steer": (0.25, -0.4, 0.6, -0.8, 1.0, -0.9, 0.1, 0.0), "throttle": (0.1, 0.3, 0.0)}
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
    """Check all axes; leave the car at rest and the controls released.

    Args:
        simulator: whose wire.
        options: where, and by which pad.
        say: takes a line per level.

    Raises:
        UsageError: the simulator does not report the controls that it applies.
        SimulatorError: it is not there.
        KeyboardInterrupt: a stop was requested.
    """
    missing = sorted(set(LEVELS) - simulator.supplies)
    if missing:
        raise UsageError(f"{simulator.name} does not tell what it took: {', '.join(missing)}", where="--sim")
    live = choose_pad(simulator, options)
    spec = make_spec(sim=options.sim, track=options.track, car=options.car, live=options.live)
    setup = make_setup(simulator, spec, live)
    probe, supervisor, breakable = PadProbe(say), Supervisor(), BreakableCall()
    with handle_stop_signals(lambda: supervisor.request_stop(INTERRUPTED), breakable, supervisor.limit_stop):
        drive_cars(
            setup, [NamedDriver(probe, "the pad's check")], lambda connection: [CarWatch([probe], probe.judge, say)],
            supervisor, say=say, breakable=breakable, adapt_pacer=probe.watch_pacer,
        )  # fmt: skip
    if supervisor.stop_reason == INTERRUPTED:
        raise KeyboardInterrupt
    return probe.conclude()


def choose_pad(simulator: AnySimulator, options: PadCheckOptions) -> object:
    """Return live options; those of a live check have its pad and its address, where there are such options."""
    live = simulator.live_options()
    given = {"pad": options.pad, "listen": options.listen} if options.live else {}
    return replace(live, **{item.name: given[item.name] for item in fields(live) if given.get(item.name)})


class _Echo(NamedTuple):
    """What came back of one level: difference at the end, s that it took, and the last value."""

    error: float
    delay: float
    value: float


_SILENCE = _Echo(math.inf, math.nan, math.nan)


class PadProbe:
    """Commands one level after another and sees what comes back: the driver of its drive, and the tap.

    Args:
        say: takes a line per level.
    """

    NEEDS: frozenset[str] = frozenset()

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._steps = [(axis, level) for axis, levels in LEVELS.items() for level in levels]
        self._echoes: list[_Echo] = []
        self._sent_at = math.nan  # s of simulator time: when the level was on the wire
        self.now = self.driven_at = math.nan  # s, as the pacer's: of the newest tick, and of the newest driving car

    def reset(self, course: Course) -> None:
        """Do nothing: no road is needed."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Hold the level of this step; at the end nothing."""
        if self.is_done:
            return Controls()
        axis, level = self._steps[len(self._echoes)]
        return Controls(steer=level) if axis == "steer" else Controls(throttle=level)

    @property
    def is_done(self) -> bool:
        """Whether all levels have been held."""
        return len(self._echoes) == len(self._steps)

    def tick(self, state: CarState, controls: Controls) -> None:
        """Compare the echo with the level; go to the next one when it is there, or overdue."""
        if self.is_done or state.phase is not Phase.DRIVING:
            return
        self.driven_at = self.now
        axis, level = self._steps[len(self._echoes)]
        if math.isnan(self._sent_at):
            if attrgetter(axis)(controls) == level:  # the supervisor limits how fast the steer changes
                self._sent_at = state.time
            return
        value: float = attrgetter(axis)(state)
        error, delay = abs(value - level), state.time - self._sent_at
        if error <= TOLERANCE or delay > ECHO_LIMIT_S:
            shown = "came back" if error <= TOLERANCE else f"shows {value:+.2f}"
            self._say(f"{axis} {level:+.2f}: {shown} after {delay * 1e3:.0f} ms")
            self._echoes.append(_Echo(error, delay, value))
            self._sent_at = math.nan

    def judge(self) -> str | None:
        """Return "" when all levels have been held, and a reason where no car is driven."""
        if self.is_done:
            return ""
        return "no car is driven" if self.now - self.driven_at > SILENCE_LIMIT_S else None

    def watch_pacer(self, pacer: SamplePacer) -> SamplePacer:
        """Return a pacer that ends the drive where no car is driven."""
        return _PatientPacer(pacer, self)

    def conclude(self) -> list[AxisCheck]:
        """Return what came back of each axis."""
        echoes = [*self._echoes, *[_SILENCE] * (len(self._steps) - len(self._echoes))]
        checks = []
        for axis, levels in LEVELS.items():
            own = [echo for (name, _), echo in zip(self._steps, echoes, strict=True) if name == axis]
            matched = [echo for echo in own if echo.error <= TOLERANCE]
            checks.append(AxisCheck(
                axis, len(levels), len(matched), max(echo.error for echo in own),
                max((echo.delay for echo in matched), default=0.0),
                _explain_axis(axis, levels, [echo.value for echo in own], len(matched)),
            ))  # fmt: skip
        return checks


class _PatientPacer:
    """A pacer that tells a probe the time, and ends a drive without a driving car."""

    def __init__(self, pacer: SamplePacer, probe: PadProbe) -> None:
        self._pacer, self._probe = pacer, probe

    def wait_for_sample(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Wait as the pacer does."""
        self._probe.now = now = self._pacer.wait_for_sample(link, rehearse)
        if math.isnan(self._probe.driven_at):
            self._probe.driven_at = now
        return now

    def end_reason(self) -> str:
        """Return the pacer's reason, or that no car is driven."""
        return self._pacer.end_reason() or self._probe.judge() or ""


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
