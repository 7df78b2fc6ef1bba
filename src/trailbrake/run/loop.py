"""The drive loop: one tick is read newest state, ask the driver, supervise, write, show to the taps."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trailbrake.errors import raised_at
from trailbrake.histogram import Durations
from trailbrake.roles import Coupled, Driver, Link, RehearsedDriver, RehearsedLink, Tap
from trailbrake.run import rate
from trailbrake.run.supervisor import Supervisor
from trailbrake.state import CarState, Controls, Phase

STOPPING_LIMIT = 12.0  # s of simulator time that a safe stop may take before the controls are released anyway
LOST_LIMIT = 60.0  # s of silence after which the simulator counts as gone
SILENT_WAIT = 0.05  # s: how long one tick waits for a sample before it looks at its dead-man


class Pace(Protocol):
    """What makes the next sample come."""

    def wait(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Return when the next sample is there, or is overdue; the value is `now` in s.

        `rehearse` is called while nothing else is to be done and sleep would be too long.
        """

    def gone(self) -> str:
        """Return why no sample will come any more, "" while one may."""


class Lockstep:
    """Steps the host in this process, as fast as it goes. `now` is simulator time: repeatable to the bit."""

    def __init__(self, tick: Callable[[float], None], period: float) -> None:
        self._tick, self._period, self._steps = tick, period, 0

    def wait(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Let the host make one step."""
        return self.step()

    def gone(self) -> str:
        """Return "": the host is in this process."""
        return ""

    def step(self) -> float:
        """Let the host make one step and return the new `now`."""
        self._steps += 1
        now = self._steps * self._period
        self._tick(now)
        return now


class RealTime:
    """Waits for the simulator at the other end. `gone` tells why it will not answer any more, "" while it may."""

    def __init__(self, gone: Callable[[], str] = lambda: "") -> None:
        self._likely = rate.now()
        self._link: Link | None = None
        self._wakes: Coupled | None = None  # `_link`, where it can tell when there is something
        self.gone = gone

    def wait(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Wait for the next sample, at most SILENT_WAIT."""
        if link is not self._link:  # such a look at what it can do takes as long as a read
            self._link, self._wakes = link, link if isinstance(link, Coupled) else None
        if self._wakes is not None:
            if not link.fresh():
                self._wakes.wait(SILENT_WAIT)
            return rate.now()
        if rate.wait_for(link.fresh, self._likely, rate.now() + SILENT_WAIT, rehearse):
            self._likely = rate.now() + link.period
        return rate.now()


@dataclass
class LoopResult:
    """How the loop ran."""

    ticks: int = 0
    overruns: int = 0  # ticks whose read-decide-write took longer than the simulator's period
    work: Durations = field(default_factory=Durations)
    reason: str = ""  # why it ended; empty = the goal was reached
    simulated: float = 0.0  # s of simulator time driven
    wall: float = 0.0  # s it took


def explain(error: BaseException) -> str:
    """Return one line for an exception out of a driver: type, message, and file and line in the driver."""
    place = raised_at(error)
    where = f" at {place}" if place else ""
    return " ".join(f"the driver raised {type(error).__name__}{where}: {error}".split())


class Seat:
    """A car that is driven from here: one tick is read, decide, supervise, write.

    Args:
        link: an open link.
        driver: already reset.
        supervisor: of this car alone.
        taps: shown every tick until the goal is reached.
        goal: asked every tick; a text ends this car's drive ("" = as planned), None goes on.

    Attributes:
        ended: what the goal said; None while it goes on.
        simulated: s of simulator time driven.
    """

    def __init__(
        self,
        link: Link,
        driver: Driver,
        supervisor: Supervisor,
        taps: Sequence[Tap],
        goal: Callable[[], str | None],
    ) -> None:
        self.link, self.supervisor = link, supervisor
        self.ended: str | None = None
        self.simulated = 0.0
        self._driver, self._taps, self._goal = driver, taps, goal
        self._understudy, self._sent = Supervisor(), Controls()
        self._rehearsed = link if isinstance(link, RehearsedLink) else None
        self._rehearser = driver if isinstance(driver, RehearsedDriver) else None
        self._last_time = math.nan
        self._last_sequence = -1

    def read(self, now: float) -> tuple[CarState, bool]:
        """Return the newest state, and whether it is another than the one before."""
        state = self.link.read(now)
        fresh = state.sequence != self._last_sequence
        self._last_sequence = state.sequence
        return state, fresh

    def drive(self, state: CarState) -> Controls:
        """Answer a fresh state, and send the answer."""
        dt = state.time - self._last_time
        if not 0.0 < dt < 1.0:  # first sample, a restart, or a long gap: the driver must not integrate over it
            dt = 0.0
        self._last_time = state.time
        self.simulated += dt
        controls = _decide(self._driver.act, self.supervisor, state, dt)
        self.link.write(controls)
        self._sent = controls
        return controls

    def rehearse(self) -> bool:
        """Go through a tick without effect. A driver that may not be asked in vain is left out.

        Returns:
            whether a sample has come meanwhile; the tick reads it again.
        """
        if self._rehearsed is None:
            return False
        state = self.link.read(rate.now())
        if state.sequence != self._last_sequence:
            return True
        # The understudy alone bears what comes of it: a driver that fails here is not asked in vain any more.
        if self._rehearser is None:
            controls = self._understudy.check(self._sent, self.link.period)
        else:
            controls = _decide(self._rehearser.rehearse, self._understudy, state, self.link.period)
        self._rehearsed.rehearse(controls)
        return False

    def show(self, state: CarState, controls: Controls) -> None:
        """Show the tick to the taps; nothing once the goal is reached, though the car drives on."""
        if self.ended is None:
            for tap in self._taps:
                tap.tick(state, controls)
            self.ended = self._goal()

    def follow(self, now: float) -> None:
        """Do a whole tick, where there is a fresh state; brake where there has been none for too long."""
        state, fresh = self.read(now)
        if fresh:
            self.show(state, self.drive(state))
        elif self.supervisor.is_stale(state):
            self.link.write(self.supervisor.braking(state))


def run_loop(
    first: Seat,
    pace: Pace,
    others: Sequence[Seat] = (),
    say: Callable[[str], None] = lambda text: None,
) -> LoopResult:
    """Drive until the goal is reached, somebody asks for a stop, or the simulator is gone.

    Args:
        first: the car whose samples set the pace. Its supervisor's request_stop() ends the drive with a safe stop.
        pace: makes samples come.
        others: cars driven along. When the first has reached its goal they may finish theirs, for half as long again
            as it took at most.
        say: told when the simulator goes silent, and when it is back.

    Returns:
        The loop's figures, of the first car. It stands or the wire is dead; the controls are not released yet.
    """
    result = LoopResult()
    supervisor, link = first.supervisor, first.link
    started = rate.now()
    stopping_since = silent_since = deadline = math.nan
    while True:
        now = pace.wait(link, first.rehearse)
        began = rate.now()
        state, fresh = first.read(now)
        if not fresh:
            # Nothing new: only the dead-man may act. A paused or lost simulator gets the brake.
            if supervisor.is_stale(state):
                link.write(supervisor.braking(state))
                paused = state.phase is Phase.PAUSED
                if math.isnan(silent_since):
                    say(
                        "the simulator is paused"
                        if paused
                        else "the simulator has gone silent: braking, waiting for it"
                    )
                if math.isnan(silent_since) or paused:  # a pause may last as long as the player likes
                    silent_since = now
                silence = f"the simulator went silent for {LOST_LIMIT:g} s" if now - silent_since > LOST_LIMIT else ""
                result.reason = supervisor.stop_reason or pace.gone() or silence
                if result.reason:
                    break
            for seat in others:
                seat.follow(now)
            continue
        if not math.isnan(silent_since):
            silent_since = math.nan
            say("the simulator is back")
        controls = first.drive(state)
        worked = rate.now() - began
        result.work.add(worked)
        result.ticks += 1
        if worked > link.period:
            result.overruns += 1
        first.show(state, controls)
        for seat in others:
            if supervisor.stop_reason:
                seat.supervisor.request_stop(supervisor.stop_reason)
            seat.follow(now)
        if supervisor.stop_reason:
            stopping_since = state.time if math.isnan(stopping_since) else stopping_since
            if state.speed < 0.3 or state.time - stopping_since > STOPPING_LIMIT:
                result.reason = supervisor.stop_reason
                break
        elif first.ended is not None:
            if math.isnan(deadline):
                deadline = state.time + 0.5 * first.simulated
            if state.time >= deadline or all(seat.ended is not None for seat in others):
                result.reason = first.ended
                break
    result.simulated = first.simulated
    result.wall = rate.now() - started
    return result


def _decide(act: Callable[[CarState, float], Controls], supervisor: Supervisor, state: CarState, dt: float) -> Controls:
    if supervisor.stop_reason or supervisor.is_stale(state):
        return supervisor.braking(state)
    try:
        answer = act(state, dt)
    except (Exception, SystemExit) as error:
        supervisor.request_stop(explain(error))
        return supervisor.braking(state)
    if not isinstance(answer, Controls):
        supervisor.request_stop(f"the driver answered {type(answer).__name__}, expected Controls")
        return supervisor.braking(state)
    try:
        return supervisor.check(answer, dt)
    except (TypeError, ValueError, OverflowError):  # None, texts, arrays
        supervisor.request_stop(" ".join(f"the driver answered what is no number: {answer}".split()))
        return supervisor.braking(state)
