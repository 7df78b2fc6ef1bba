"""Whether commands arrive: through the real wire, and by simulators that take them in wrong ways."""

import math
from dataclasses import replace

import pytest

from trailbrake.driving.loop.drive_loop import CarLoop, run_loop
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.options import PadCheckOptions
from trailbrake.driving.pad_check import LEVELS, PadProbe, check_pad, choose_pad
from trailbrake.errors import UsageError
from trailbrake.roles import LinkCounters
from trailbrake.sims.registry import find
from trailbrake.state import CarState, Controls, Phase


class Game:
    """A link and its pace: shows what `takes` makes of the steer, two samples late; in a menu nothing new."""

    SUPPLIES = frozenset({"steer", "throttle"})
    period = 1 / 60
    counters = LinkCounters()

    def __init__(self, takes, phase=Phase.DRIVING):
        self.takes, self.phase = takes, phase
        self.now, self.samples, self.held = 0.0, 0, [0.0, 0.0, 0.0]

    def wait_for_sample(self, link, rehearse=None):
        self.now += self.period
        return self.now

    def end_reason(self):
        return ""

    def read(self, now):
        if self.phase is not Phase.DRIVING:
            return CarState(age=now, phase=self.phase)
        self.samples += 1
        self.held = [*self.held[1:], self.held[-1]]
        return CarState(time=now, sequence=self.samples, age=0.0, steer=self.takes(self.held[0]), throttle=0.0)

    def write(self, controls: Controls):
        self.held[-1] = controls.steer


def found(takes, phase=Phase.DRIVING):
    game, said = Game(takes, phase), []
    probe = PadProbe(said.append)
    loop = CarLoop(game, probe, Supervisor(), [probe], probe.judge)
    run_loop(loop, probe.watch_pacer(game))
    assert len(said) == (len(LEVELS["steer"]) + len(LEVELS["throttle"]) if phase is Phase.DRIVING else 0)
    return probe.conclude()[0]


@pytest.mark.slow
def test_the_embedded_world_takes_what_is_sent():
    axes = check_pad(find("forza"), PadCheckOptions())
    assert [(a.axis, a.all_matched, a.verdict) for a in axes] == [("steer", True, "ok"), ("throttle", True, "ok")]
    assert max(a.worst for a in axes) < 1 / 127
    assert max(a.delay for a in axes) < 0.1


def test_a_late_and_coarse_echo_is_fine():
    axis = found(lambda steer: round(127 * steer) / 127)
    assert axis.all_matched
    assert 2 / 60 <= axis.delay < 5 / 60


@pytest.mark.parametrize(
    ("takes", "verdict"),
    [
        (lambda steer: 0.0, "nothing arrives"),
        (lambda steer: -steer, "inverted"),
        (lambda steer: 0.0 if abs(steer) <= 0.25 else steer, "a dead zone"),
        (lambda steer: 0.5 * steer, "not what was sent"),
        (lambda steer: math.nan, "no car is driven"),
    ],
)
def test_what_is_wrong_is_named(takes, verdict):
    axis = found(takes)
    assert not axis.all_matched
    assert axis.verdict.startswith(verdict)


def test_a_menu_is_no_drive():
    assert found(lambda steer: steer, Phase.PAUSED).verdict == "no car is driven: leave the menu"


def test_a_simulator_without_an_echo():
    with pytest.raises(UsageError, match="assetto does not tell what it took: steer"):
        check_pad(find("assetto"), PadCheckOptions(sim="assetto"))


def test_pad_and_address_go_to_the_options_that_have_them():
    forza, trend, assetto = find("forza"), find("trend"), find("assetto")
    there = PadCheckOptions(live=True, pad="none", listen="127.0.0.1:9")
    assert choose_pad(forza, there) == forza.live_options(pad="none", listen="127.0.0.1:9")
    assert choose_pad(forza, PadCheckOptions(live=True, pad="none")) == forza.live_options(pad="none")
    assert choose_pad(forza, replace(there, live=False)) == forza.live_options()
    assert choose_pad(trend, there) == trend.live_options(listen="127.0.0.1:9")
    assert choose_pad(assetto, there) == assetto.live_options()
