"""A link that watches: it creates no page, and takes no car."""

import pytest

from trailbrake import roles
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.observing_link import ObservingLink, make_link
from trailbrake.state import Controls, Phase


def test_it_sees_the_player_and_leaves_no_trace(told_session):
    session = told_session
    made_by_clients = [spec.controls_name(0), spec.controls_name(1), spec.SIM_STATE_V0, spec.SIM_STATE_V1,
                       spec.DEBUG_LINES]  # fmt: skip
    link = make_link(spec.watch_options(spec.LiveOptions(wait=1.0)), doors=session.folder, idle=session.tick)
    assert isinstance(link, ObservingLink)
    assert isinstance(link, roles.Link)
    link.open(session.now)
    state = link.read(session.now)
    assert state.phase is Phase.DRIVING
    assert state.gear == session.plant.car_state(0).gear
    link.write(Controls(throttle=1.0))
    session.tick(20)
    assert session.host.cars_with_client == [False, False]
    assert not any((session.folder / name).exists() for name in made_by_clients)
    link.close()


def test_without_a_game_it_says_so(tmp_path):
    now = 0.0

    def idle():
        nonlocal now
        now += 0.1
        return now

    link = ObservingLink(spec.LiveOptions(wait=1.0), doors=tmp_path, idle=idle)
    with pytest.raises(SimulatorError, match="no game writes its standard pages"):
        link.open(0.0)
    link.close()


def test_the_pages_show_one_car_and_a_drive_takes_it():
    with pytest.raises(UsageError, match="show car 0 alone"):
        ObservingLink(spec.LiveOptions(car_index=2))
    assert isinstance(make_link(spec.LiveOptions()), Link)
