"""Drives a car a few steps at walking pace, and decides what its simulator's code takes for granted.

The drive is that of a program: `open_car` limits its controls, brakes while the wire is silent, and brakes at the end,
however it ends.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.supervised.supervised_car import SupervisedCar, open_car
from trailbrake.errors import SimulatorError
from trailbrake.simulator_tools import Assumption, Say, VerifyStep, VerifyTool
from trailbrake.state import CarState, Controls, Phase
from trailbrake.wire_checks import BRAKE, LEFT, REST, RIGHT, START, STRAIGHT, DriveSamples, Judgement, Sample

SAMPLE_INTERVAL_S = 0.01  # s between kept samples
TOO_FAST = 3.0  # times the pace: the car is stopped
STANDS = 0.3  # m/s below which a car counts as standing
PUSH_S = 3.0  # s of throttle after which a car must move
PLACE_INTERVAL_S = 0.5  # s between looks at its place
WAIT_S = 30.0  # s for a car that is not driven, in a menu or a pause, or that does not come to rest
STOP_CONTROLS = Controls(brake=1.0)
Clock = Callable[[SupervisedCar], float]


@dataclass(frozen=True)
class Verification:
    """What came out.

    Attributes:
        judgements: with their assumptions, in the order of these.
        end_reason: why the drive ended early; "" where it did not.
    """

    judgements: tuple[tuple[Assumption, Judgement], ...]
    end_reason: str

    def count(self, verdict: str) -> int:
        """Return how many have this verdict."""
        return sum(judgement.verdict == verdict for _, judgement in self.judgements)


def verify_wire(tool: VerifyTool, setup: DriveSetup, clock: Clock, say: Say) -> Verification:
    """Drive, and judge the assumptions.

    Args:
        tool: of the simulator.
        setup: of a drive with the tool's signals.
        clock: returns s that pass as in the simulator, and do not come from the wire.
        say: takes a line for each step.

    Raises:
        TrailbrakeError: there is no car.
    """
    samples: list[Sample] = []
    end_reason = ""
    with open_car(setup) as car:
        try:
            for sample in _drive_steps(car, list_steps(tool), TOO_FAST * tool.pace, clock, say):
                if not samples or sample.clock - samples[-1].clock >= SAMPLE_INTERVAL_S * 0.9:
                    samples.append(sample)
        except SimulatorError as error:
            end_reason = error.what
            say(f"the drive ends here: {error}")
    return Verification(judge_samples(tool.assumptions, samples), end_reason)


def judge_samples(
    assumptions: tuple[Assumption, ...], samples: list[Sample]
) -> tuple[tuple[Assumption, Judgement], ...]:
    """Return the assumptions with what the samples say of each."""
    drive = DriveSamples(samples)
    return tuple(
        (a, Judgement("undecided", a.check) if isinstance(a.check, str) else a.check.judge(drive)) for a in assumptions
    )


def list_steps(tool: VerifyTool) -> tuple[VerifyStep, ...]:
    """Return all steps of a simulator's drive."""
    ahead, left, right = (partial(_hold_pace, tool, steer=steer) for steer in (0.0, tool.steer, -tool.steer))
    rest = VerifyStep(REST, "stand", 2.0, lambda state: STOP_CONTROLS)
    # To the left, twice as long to the right, back: heading and lane are then those of before.
    bends = (
        VerifyStep(LEFT, "bend to the left", 1.2, left),
        VerifyStep(RIGHT, "bend to the right", 2.4, right),
        VerifyStep(LEFT, "back to the left", 1.2, left),
    )
    return (
        rest,
        VerifyStep(START, f"drive off, to {tool.pace:g} m/s", 4.0, ahead),
        VerifyStep(STRAIGHT, "hold the speed", 1.5, ahead),
        *bends,
        *bends,
        VerifyStep(BRAKE, "brake to rest", 3.0, lambda state: Controls(brake=0.3)),
        rest,
        *tool.steps,
        *((rest,) if tool.steps else ()),
    )


def _hold_pace(tool: VerifyTool, state: CarState, steer: float) -> Controls:
    lack = 1.0 - abs(state.speed) / tool.pace  # NaN is too fast
    return Controls(steer=steer, throttle=tool.throttle * min(4.0 * lack, 1.0) if lack > 0.0 else 0.0)


class _SpeedGuard:
    """Ends a drive whose car is too fast, by the wire's speed or by its places, or shows no speed under throttle.

    Args:
        limit: m/s.
    """

    def __init__(self, limit: float) -> None:
        self._limit, self._pushed_s = limit, 0.0
        self._seen = (math.nan, math.nan, math.nan)  # x, y (m) and s of the clock

    def check(self, state: CarState, now: float) -> None:
        """Look at a sample; SimulatorError where the car must be stopped."""
        x, y, since = self._seen
        by_place = 0.0
        if not now - since < PLACE_INTERVAL_S:
            by_place = math.hypot(state.x - x, state.y - y) / (now - since)  # NaN without places
            self._seen = state.x, state.y, now
        if not abs(state.speed) <= self._limit or by_place > self._limit:
            raise SimulatorError("the car is too fast, or its speed is no number", where="verify",
                                 expected=f"up to {self._limit:g} m/s",
                                 got=f"{state.speed:.3g}, by places {by_place:.3g}")  # fmt: skip
        if self._pushed_s > PUSH_S:
            raise SimulatorError("the car does not move, or its speed does not show it", where="verify",
                                 expected=f"{STANDS:g} m/s within {PUSH_S:g} s of throttle",
                                 hint="put it on a free, flat road, in a car that drives off by itself")  # fmt: skip

    def count_push(self, controls: Controls, state: CarState, passed: float) -> None:
        """Count the s for which a car that stands gets throttle."""
        self._pushed_s = self._pushed_s + passed if controls.throttle > 0.0 and abs(state.speed) < STANDS else 0.0


def _drive_steps(
    car: SupervisedCar, steps: tuple[VerifyStep, ...], limit: float, clock: Clock, say: Say
) -> Iterator[Sample]:
    """Drive step after step; yield each sample. SimulatorError where the drive must end."""
    guard = _SpeedGuard(limit)
    for number, step in enumerate(steps, 1):
        say(f"{number:>2} of {len(steps)}: {step.text}")
        driven_s = waited_s = 0.0
        last, command = math.nan, None
        while driven_s < step.seconds:
            state, now = car.wait_for_state(), clock(car)
            passed, last = 0.0 if math.isnan(last) else now - last, now
            is_driven = state.phase is Phase.DRIVING
            if not is_driven or (step.name == REST and driven_s == 0.0 and abs(state.speed) > STANDS):
                waited_s += passed
                if waited_s > WAIT_S:
                    raise SimulatorError("the car does not stop" if is_driven else "no car is driven: close the menus",
                                         where="verify", expected=f"within {WAIT_S:g} s")  # fmt: skip
                car.write(STOP_CONTROLS)
                yield Sample("", now, state, STOP_CONTROLS)
                continue
            guard.check(state, now)
            if step.command is not None and command is None:
                command = step.command(state)
                car.send_command(command)
            driven_s += passed
            controls = step.answer(state)
            guard.count_push(controls, state, passed)
            car.write(controls)
            yield Sample(step.name, now, state, replace(controls, command=command) if command else controls)
