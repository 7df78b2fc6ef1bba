"""What `verify` finds in stand-ins: nothing where nothing differs, and each difference that a drive can show."""

import pytest
from helpers.flipped_wires import FLIPS, Flip

from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, KeepSpec
from trailbrake.driving.verification import verify_wire
from trailbrake.sims.registry import find
from trailbrake.simulator import load_part

SIMULATORS = sorted(FLIPS)
SAME = Flip()
CASES = [(sim, id) for sim in SIMULATORS for id in FLIPS[sim]]


class WorldClock:
    """The embedded world's own time, which also goes on where a restart sets it back."""

    def __init__(self):
        self.now = self.last = 0.0

    def __call__(self, car):
        time = car.plant.car_state(0).time
        self.now += max(time - self.last, 0.0)
        self.last = time
        return self.now


def tool_of(sim):
    return load_part(find(sim).tools["verify"])


def verify(sim, flip=SAME, say=lambda text: None):
    tool = tool_of(sim)
    site = EmbeddedSite(sim=sim, host=flip.host)
    setup = make_setup(find(sim), DriveSpec(site=site, keep=KeepSpec(signals=tool.signals)))
    return verify_wire(tool, setup, WorldClock(), say)


def verdicts(result):
    return {assumption.id: judgement.verdict for assumption, judgement in result.judgements}


@pytest.mark.slow
@pytest.mark.parametrize("sim", SIMULATORS)
def test_nothing_is_reported_where_nothing_differs(sim):
    lines = []
    result = verify(sim, say=lines.append)
    expected = {a.id: "undecided" if isinstance(a.check, str) else "holds" for a in tool_of(sim).assumptions}
    assert verdicts(result) == expected
    assert result.end_reason == ""
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
@pytest.mark.parametrize(("sim", "id"), CASES)
def test_a_difference_is_found(sim, id, monkeypatch):
    flip = FLIPS[sim][id]
    flip.apply(monkeypatch)
    assert verdicts(verify(sim, flip))[id] == "does not hold"


@pytest.mark.parametrize("sim", SIMULATORS)
def test_every_assumption_with_a_check_is_flipped(sim):
    checked = [a.id for a in tool_of(sim).assumptions if not isinstance(a.check, str)]
    assert checked == list(FLIPS[sim])
