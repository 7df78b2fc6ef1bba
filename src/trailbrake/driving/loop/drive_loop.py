"""The drive loop: one tick is read newest state, judge it, call the driver, supervise, write, show to the taps.

`StandstillTimer`: tells a car that stands from one that a single sample, or a jump, shows at rest.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trailbrake.driving.loop.camera_check import NO_PICTURE, NO_PICTURE_LIMIT_S, CameraCheck
from trailbrake.driving.loop.command_gate import CommandGate
from trailbrake.driving.loop.driver_pace import DriverPace
from trailbrake.driving.loop.driver_watchdog import BROKEN_OFF, DriverWatchdog
from trailbrake.driving.loop.rehearsal import TickRehearsal
from trailbrake.driving.loop.state_check import StateCheck
from trailbrake.driving.loop.supervisor import BLIND_LIMIT_S, STANDSTILL_SPEED, STOP_BRAKE, Supervisor, decide_controls
from trailbrake.errors import WireError
from trailbrake.histogram import DurationHistogram
from trailbrake.roles import Driver, Link, TickObserver, Wakeable
from trailbrake.state import CarState, Controls, Phase
from trailbrake.system import steady_clock
from trailbrake.system.processes import end_forked_copy
from trailbrake.system.signals import reclaim_stop_signals
from trailbrake.transport.client_notices import LineBudget

STOPPING_LIMIT = 20.0  # s of simulator time that a safe stop may take before the controls are released anyway
STOPPED_SPEED = 0.3  # m/s under which a car that has been stopped stands
STOPPING_SILENCE_S = 2.0  # s that a safe stop waits for a wire that has gone silent under a moving car
LOST_LIMIT = 60.0  # s of silence after which the simulator counts as gone
ENDLESS_PAUSE = "a driver paused the embedded world, and none is called before its time goes on"
REPORT_AGAIN_S = 2.0  # s without a rejected sample after which the next one is worth a line again
SILENT_WAIT = 0.05  # s: how long one tick waits for a sample before it looks at its dead-man
STANDSTILL_TIME_S = 0.5  # s of simulator time: a car that has just stopped rocks on its springs
LONGEST_GAP_S = 1.0  # s between two samples, in which the car may have done anything
DRIFT_MARGIN = 0.5  # m by which a standing car may appear to move


class SamplePacer(Protocol):
    """What makes the next sample come."""

    def wait_for_sample(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Return when the next sample is there, or is overdue; the value is `now` in s.

        `rehearse` is called while nothing else is to be done and sleep would be too long.
        """

    def end_reason(self) -> str:
        """Return why no sample will come any more, "" while one may."""


class LockstepPacer:
    """Steps the host in this process, as fast as it goes. `now` is simulator time: repeatable to the bit."""

    def __init__(self, tick: Callable[[float], None], period: float) -> None:
        self._tick, self._period, self._steps = tick, period, 0

    def wait_for_sample(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Let the host make one step."""
        return self.step()

    def end_reason(self) -> str:
        """Return "": the host is in this process."""
        return ""

    def step(self) -> float:
        """Let the host make one step and return the new `now`."""
        self._steps += 1
        now = self._steps * self._period
        self._tick(now)
        return now


class RealTimePacer:
    """Waits for the simulator at the other end. `gone` tells why it will not answer any more, "" while it may."""

    def __init__(self, end_reason: Callable[[], str] = lambda: "") -> None:
        self._expected_at = steady_clock.now()
        self._link: Link | None = None
        self._wakeable: Wakeable | None = None  # `_link`, where it can tell when there is something
        self.end_reason = end_reason

    def wait_for_sample(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Wait for the next sample, at most SILENT_WAIT."""
        if link is not self._link:  # such a look at what it can do takes as long as a read
            self._link, self._wakeable = link, link if isinstance(link, Wakeable) else None
        if self._wakeable is not None:
            if not link.has_new_sample():
                self._wakeable.wait(SILENT_WAIT)
            return steady_clock.now()
        if steady_clock.wait_until_fresh(
            link.has_new_sample, self._expected_at, steady_clock.now() + SILENT_WAIT, rehearse
        ):
            self._expected_at = steady_clock.now() + link.period
        return steady_clock.now()


class RequestPacer:
    """A SamplePacer that carries out requests before each wait: also while the simulator is paused and no tick comes.

    Args:
        pacer: makes samples come.
        execute_requests: carries out what is waiting; quick where nothing is.
    """

    def __init__(self, pacer: SamplePacer, execute_requests: Callable[[], None]) -> None:
        self._pacer, self._execute_requests = pacer, execute_requests

    def wait_for_sample(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Carry out the requests, then wait for the next sample."""
        self._execute_requests()
        return self._pacer.wait_for_sample(link, rehearse)

    def end_reason(self) -> str:
        """Return why no sample will come any more, "" while one may."""
        return self._pacer.end_reason()


@dataclass
class LoopResult:
    """How the loop ran."""

    ticks: int = 0
    overruns: int = 0  # ticks whose read-decide-write took longer than the simulator's period
    durations: DurationHistogram = field(default_factory=DurationHistogram)
    reason: str = ""  # why it ended; empty = the goal was reached
    simulated_s: float = 0.0  # s of simulator time driven
    wall_s: float = 0.0  # s it took


class CarLoop:
    """A car that is driven from here: one tick is read, judge, decide, supervise, write.

    Args:
        link: an open link.
        driver: already reset.
        supervisor: of this car alone.
        taps: shown every tick until the goal is reached.
        goal: called every tick; a text ends this car's drive ("" = as planned), None goes on.
        commands: sends what the driver requests beside driving; None refuses everything. Taps see what was sent.
        pace: makes the simulator wait for the driver; None lets it run at its own pace.
        say: takes a line when samples are rejected, no flood of them.

    Attributes:
        commands: as above.
        ended: what the goal said; None while it goes on.
        simulated_s: s of simulator time driven.
        dt: s of simulator time before the newest tick; 0 where the clock jumped.
        time: s of simulator time of the newest state that was driven by, on the clock of this car's wire; NaN before.
        speed: m/s, of the newest state that was driven by; NaN before the first.
        is_blind: whether no state has been fit to drive by for BLIND_LIMIT_S: the car is braked.
    """

    def __init__(
        self,
        link: Link,
        driver: Driver,
        supervisor: Supervisor,
        taps: Sequence[TickObserver],
        goal: Callable[[], str | None],
        *,
        commands: CommandGate | None = None,
        pace: DriverPace | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.pace = pace
        self.link, self.supervisor = link, supervisor
        self.ended: str | None = None
        self.simulated_s = self.dt = 0.0
        self.speed = math.nan
        self.is_blind = False
        self._driver, self._taps, self._goal, self.commands = driver, taps, goal, commands
        self._say = LineBudget(say)
        self._answer: Callable[[CarState, float], Controls] = driver.act
        self._act: Callable[[CarState, float], Controls] = self._answer
        self._notify: Callable[[CarState, Controls], None] = self._notify_taps
        self._last_sent, self._rehearsal = Controls(), TickRehearsal(link, driver)
        self.time = math.nan
        self._last_sequence = -1
        self._state_check = StateCheck(link.SUPPLIES, self._count_rejection)
        # A driver that needs pictures is braked for while it cannot see.
        sees = isinstance(driver, Driver) and "image" in driver.NEEDS
        self._camera_check = CameraCheck(self._say) if sees else None
        self._now, self._pid = 0.0, os.getpid()
        self._accepted_at, self._rejected_at = -math.inf, -math.inf  # s, as `now`

    def attach_watchdog(self, watchdog: DriverWatchdog) -> None:
        """Have the calls of the driver and of the taps watched. The loop must run in `watchdog.run()` then."""
        self._act = self._answer = watchdog.watch_driver(self._driver.act, self.supervisor)
        self._notify = watchdog.watch_observer(self._notify_taps, self.supervisor)
        self._rehearsal.attach_watchdog(watchdog, self.supervisor)

    def read_state(self, now: float) -> tuple[CarState, bool]:
        """Return the newest state, and whether it is another than the one before."""
        state = self.link.read(now)
        fresh = state.sequence != self._last_sequence
        self._last_sequence = state.sequence
        return state, fresh

    def drive_tick(self, state: CarState, now: float) -> Controls | None:
        """Answer a fresh state, and send the answer.

        Returns:
            What was sent; None if the state was not fit to drive by, or the answer came too late. Then the last
            controls are sent again, and after BLIND_LIMIT_S those of a safe stop: a simulator in lockstep needs an
            answer to every sample. In place of a late answer the watchdog has sent its own.
        """
        self._now = now
        if not self._state_check.accept_state(state):
            self._bridge_rejected_state(now)
            return None
        self._accepted_at = now
        if self.is_blind:
            self.is_blind = False
            self._say("the simulator's samples are plausible again")
        dt = state.time - self.time
        if not 0.0 < dt < 1.0:  # first sample, a restart, or a long gap: the driver must not integrate over it
            dt = 0.0
        self.time, self.dt, self.speed = state.time, dt, state.speed
        self.simulated_s += dt
        if self._camera_check is not None and not self._camera_check.accept_picture(state, now):
            return self._brake_blind(state, self._camera_check)
        try:
            controls = decide_controls(self._act, self.supervisor, state, dt)
        except BROKEN_OFF:
            if self.pace is not None:
                self.pace.add_answer(steady_clock.now() - now, self.link.counters.lost)
            return None
        finally:
            end_forked_copy(self._pid, self._driver)
            reclaim_stop_signals()
        if controls.custom and self.commands is not None:
            controls.custom = self.commands.limit_custom(controls.custom)
        self.link.write(controls)
        if controls.command is not None and (self.commands is None or not self.commands.send(controls.command)):
            controls.command = None
        self._last_sent = controls
        return controls

    def _brake_blind(self, state: CarState, camera: CameraCheck) -> Controls:
        self.supervisor.counters.blind = camera.episodes
        if camera.is_gone:
            self.supervisor.request_stop(f"{NO_PICTURE} for {NO_PICTURE_LIMIT_S:g} s")
        self._last_sent = controls = self.supervisor.safe_stop_controls(state)
        self.link.write(controls)
        return controls

    def _bridge_rejected_state(self, now: float) -> None:
        if now - self._accepted_at <= BLIND_LIMIT_S:
            self.link.write(self._last_sent)
            return
        if not self.is_blind:
            self.is_blind = True
            self._say(f"no plausible sample for {BLIND_LIMIT_S:g} s: braking")
        self.link.write(self.supervisor.safe_stop_controls(CarState(speed=self.speed)))

    def _count_rejection(self, problem: str) -> None:
        self.supervisor.counters.implausible += 1
        if self._now - self._rejected_at > REPORT_AGAIN_S:
            self._say(f"a sample of the simulator was rejected: {problem}")
        self._rejected_at = self._now

    def begin_standstill(self) -> None:
        """Brake from the next tick on: the driver steers as long as it answers, and brakes at least as a safe stop."""
        self._act = self._steer_and_brake

    def _steer_and_brake(self, state: CarState, dt: float) -> Controls:
        if state.speed < STANDSTILL_SPEED:
            return Controls(brake=1.0)
        answer = self._answer(state, dt)
        return Controls(steer=answer.steer, brake=max(answer.brake, STOP_BRAKE), gear=answer.gear)

    def rehearse_tick(self) -> bool:
        """Go through a tick without effect, where link and driver can.

        Returns:
            whether a sample has arrived meanwhile; the tick reads it again.
        """
        if not self._rehearsal.enabled:
            return False
        state = self.link.read(steady_clock.now())
        if state.sequence != self._last_sequence:
            return True
        try:
            self._rehearsal.rehearse(state, self._last_sent, self.link.period)
        except BROKEN_OFF:
            return True
        return False

    def notify_taps(self, state: CarState, controls: Controls) -> None:
        """Show the tick to the taps; nothing once the goal is reached, though the car drives on."""
        if self.ended is None:
            self._notify(state, controls)

    def _notify_taps(self, state: CarState, controls: Controls) -> None:
        for tap in self._taps:
            tap.tick(state, controls)
        self.ended = self._goal()

    def brake_tick(self, now: float, *, notify: bool) -> None:
        """Do a whole tick in place of a driver that does not answer: a safe stop.

        Args:
            now: s, as for `run_tick`.
            notify: whether the taps may be shown it: not while one of them does not return.
        """
        state, fresh = self.read_state(now)
        fit = fresh and self._state_check.accept_state(state)
        if fit:
            self.speed = state.speed
        controls = self.supervisor.safe_stop_controls(state if fit else CarState(speed=self.speed))
        self.link.write(controls)
        self._last_sent = controls
        if fit and notify and self.ended is None:
            self._notify_taps(state, controls)

    def run_tick(self, now: float) -> None:
        """Do a whole tick, where there is a fresh state; brake where there has been none for too long."""
        state, fresh = self.read_state(now)
        if fresh:
            controls = self.drive_tick(state, now)
            if controls is not None:
                self.notify_taps(state, controls)
        elif self.supervisor.is_stale(state):
            self.link.write(self.supervisor.safe_stop_controls(state))


class _LostSight:
    """How long the first car has been without a state to drive by: the wire is silent, or its samples are garbage."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = LineBudget(say)  # a simulator that strangers interrupt goes silent again and again
        self._since = math.nan  # s, as `now`
        self._is_said = False

    def begin(self, now: float, *, silent: bool, paused: bool) -> float:
        """Count a tick without a state; return for how long there has been none, s."""
        if silent and not self._is_said:
            self._is_said = True
            self._say("the simulator is paused" if paused
                      else "the simulator has gone silent: braking, waiting for it")  # fmt: skip
        if math.isnan(self._since) or paused:  # a pause may last as long as the player likes
            self._since = now
        return now - self._since

    def end(self) -> None:
        """There is a state again."""
        self._since = math.nan
        if self._is_said:
            self._is_said = False
            self._say("the simulator is back")


def run_loop(
    first: CarLoop, pacer: SamplePacer, others: Sequence[CarLoop] = (), say: Callable[[str], None] = lambda text: None
) -> LoopResult:
    """Drive until the goal is reached, a stop is requested, or the simulator is gone.

    Args:
        first: the car whose samples set the pace. Its supervisor's request_stop() ends the drive with a safe stop.
        pacer: makes samples come.
        others: cars driven along. When the first has reached its goal they may finish theirs, for half as long again
            as it took at most.
        say: takes a line when the simulator goes silent, and when it is back; no flood of them.

    Returns:
        The loop's figures, of the first car. It stands or the wire is dead; the controls are not released yet.
    """
    result = LoopResult()
    supervisor, link = first.supervisor, first.link
    started = steady_clock.now()
    lost, standstill = _LostSight(say), StandstillTimer(STOPPED_SPEED)
    deadline = math.nan
    stopping_s = 0.0  # s of simulator time that the safe stop has taken
    while True:
        try:
            now = pacer.wait_for_sample(link, first.rehearse_tick)
        except WireError as error:
            result.reason = f"the simulator's state does not fit its wire: {error}"
            break
        began = steady_clock.now()
        state, fresh = first.read_state(now)
        controls = first.drive_tick(state, now) if fresh else None
        if controls is None:
            # Nothing new to drive by: only the dead-man may act. A paused or lost simulator gets the brake.
            silent = not fresh and supervisor.is_stale(state)
            if silent or first.is_blind:
                if silent:
                    link.write(supervisor.safe_stop_controls(state))
                paused = silent and state.phase is Phase.PAUSED
                lasted = lost.begin(now, silent=silent, paused=paused)
                result.reason = pacer.end_reason()
                if paused and isinstance(pacer, LockstepPacer) and "pause" in link.ACCEPTS:
                    result.reason = ENDLESS_PAUSE
                if lasted > LOST_LIMIT:
                    what = "went silent" if silent else "sent no plausible sample"
                    result.reason = result.reason or f"the simulator {what} for {LOST_LIMIT:g} s"
                if supervisor.stop_reason and (
                    result.reason or paused or first.speed < STOPPED_SPEED or lasted > STOPPING_SILENCE_S
                    or began >= supervisor.stop_by
                ):  # fmt: skip
                    result.reason = supervisor.stop_reason
                if result.reason:
                    break
            for seat in others:
                seat.run_tick(now)
            continue
        lost.end()
        worked = steady_clock.now() - began
        result.durations.add_duration(worked)
        result.ticks += 1
        if first.pace is not None:
            first.pace.add_answer(worked, link.counters.lost)
        if worked > link.period:
            result.overruns += 1
        first.notify_taps(state, controls)
        for seat in others:
            if supervisor.stop_reason:
                seat.supervisor.request_stop(supervisor.stop_reason)
            seat.run_tick(now)
        if supervisor.stop_reason:
            stopping_s += first.dt or link.period  # a clock that jumps neither ends nor extends it
            if standstill.add_state(state) or stopping_s > STOPPING_LIMIT or began >= supervisor.stop_by:
                result.reason = supervisor.stop_reason
                break
        elif first.ended is not None:
            if math.isnan(deadline):
                deadline = state.time + 0.5 * first.simulated_s
            if state.time >= deadline or all(seat.ended is not None for seat in others):
                result.reason = first.ended
                break
    result.simulated_s = first.simulated_s
    result.wall_s = steady_clock.now() - started
    return result


class StandstillTimer:
    """Measures for how long consecutive samples have shown a car at rest.

    A restart or gap of the clock and a position that moves begin the measurement anew.

    Args:
        speed_limit: m/s; a car that stands is slower.
    """

    def __init__(self, speed_limit: float) -> None:
        self._speed_limit = speed_limit
        self._since = self._time = self._x = self._y = math.nan

    def add_state(self, state: CarState) -> bool:
        """Count a fresh state; return whether the car has stood for STANDSTILL_TIME_S."""
        time = state.time
        if not state.speed < self._speed_limit:
            self._since = math.nan
            return False
        gap = time - self._time
        self._time = time
        moved = math.hypot(state.x - self._x, state.y - self._y)
        if math.isnan(self._since) or not 0.0 <= gap <= LONGEST_GAP_S or moved > DRIFT_MARGIN:
            self._since, self._x, self._y = time, state.x, state.y
        return time - self._since >= STANDSTILL_TIME_S
