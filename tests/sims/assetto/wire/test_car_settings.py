"""Settings of a car, from a driver's targets to the world behind our host."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED
from trailbrake.state import Controls, SimCommand
from trailbrake.state.controls import SETTINGS

LEVELS = {name: 0.3 for name in SETTINGS if name != "brake_bias"}


def set_to(session, car=0):
    """The settings that the world was told of in the last step."""
    wanted = session.plant.bodies[car].controls
    return {name: getattr(wanted, name) for name in SETTINGS}


def test_settings_are_turned_by_their_buttons(session):
    link = session.connect()
    session.drive(link, Controls(throttle=0.1, gear=2), 50)
    assert all(map(math.isnan, set_to(session).values()))
    session.drive(link, Controls(throttle=0.1, gear=2, **LEVELS), 100)
    assert session.plant.bodies[0].gear == 2  # paddles and buttons beside each other
    found = set_to(session)
    assert math.isnan(found.pop("brake_bias"))
    assert found == pytest.approx(LEVELS)
    session.drive(link, Controls(abs_level=0.8), 100)
    assert set_to(session)["abs_level"] == pytest.approx(0.8)
    assert set_to(session)["tc_level"] == pytest.approx(1.0)  # wished for no more: the car's own
    link.release()
    assert session.sent_controls()[9:23] == ALL_RELEASED


def test_settings_that_the_game_tells_are_turned_until_they_stand_there(told_session):
    session = told_session
    link, second = session.connect(), session.connect(1)
    own = load_car("gt3").brakes.front_share
    wish = Controls(brake_bias=own - 0.05, engine_brake_level=0.4)
    for _ in range(400):
        second.read(session.now)
        second.write(wish)
        session.drive(link, wish, 1)
    assert set_to(session)["brake_bias"] == pytest.approx(own - 0.05, abs=0.005)
    assert set_to(session)["engine_brake_level"] == pytest.approx(0.4)
    # Of other cars than the player's the page tells nothing: the bias stays, the level is counted.
    assert math.isnan(set_to(session, 1)["brake_bias"])
    assert set_to(session, 1)["engine_brake_level"] == pytest.approx(0.4)
    session.drive(link, Controls(), 400)
    assert set_to(session)["brake_bias"] == pytest.approx(own, abs=0.005)


def test_a_restart_begins_with_the_car_s_own_settings(session):
    link = session.connect()
    session.drive(link, Controls(tc_level=0.5), 60)
    link.send_command(SimCommand(restart=True))
    session.drive(link, Controls(tc_level=0.5), 120)
    assert set_to(session)["tc_level"] == pytest.approx(0.5)


def test_a_command_lets_no_button_go(session):
    link = session.connect()
    pressed = []

    def act(state):
        pressed.append(session.sent_controls().abs_dn)
        if len(pressed) == 3:
            link.send_command(SimCommand(to_pits=True))
        return Controls(abs_level=0.9)

    session.drive(link, act, 60)
    assert set_to(session)["abs_level"] == 0.9
    assert sum(pressed) == 4  # one press, in one piece
