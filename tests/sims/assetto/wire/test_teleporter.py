"""Teleports, from our link to our host."""

import itertools
import math

import pytest

from trailbrake.state import Controls, Pose, SimCommand


def test_teleport_is_held_and_let_go(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 50)
    link.send_command(SimCommand(teleport=Pose(100.0, 50.0, 1.0, 1.5)))
    state = session.drive(link, Controls(), 10)
    assert (state.x, state.y, state.yaw) == pytest.approx((100.0, 50.0, 1.5), abs=1e-3)
    poses = [c.teleport for _, c in session.plant.heard if c.teleport]
    assert 2 <= len(poses) <= 6
    assert poses[0].z == 1.0
    state = session.drive(link, Controls(throttle=1.0), 100)
    assert math.hypot(state.x - 100.0, state.y - 50.0) > 0.1  # and drives on from there
    assert len([c for _, c in session.plant.heard if c.teleport]) == len(poses)


def test_to_the_pits(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 50)
    link.send_command(SimCommand(to_pits=True))
    assert session.drive(link, Controls(), 10).x == 0.0
    assert {c.to_pits for _, c in session.plant.heard} == {True}


def test_a_teleport_that_did_not_come_about_is_asked_for_again(session):
    link = session.connect()
    session.drive(link, Controls(), 20)
    deaf = session.plant.execute_command
    asked = []

    def refuse(car, command):
        asked.append(session.plant.steps)
        if len(asked) > 10:  # the third time it works
            deaf(car, command)

    session.plant.execute_command = refuse
    link.send_command(SimCommand(teleport=Pose(100.0, 50.0, 0.0, 1.5)))
    state = session.drive(link, Controls(), 250)
    assert (state.x, state.y) == pytest.approx((100.0, 50.0), abs=1e-3)
    starts = [b for a, b in itertools.pairwise([-99, *asked]) if b - a > 5]
    assert len(starts) == 3
    session.plant.execute_command = lambda car, command: asked.append(session.plant.steps)
    asked.clear()
    link.send_command(SimCommand(teleport=Pose(-100.0, 0.0, 0.0, 0.0)))
    session.drive(link, Controls(), 500)
    assert len([b for a, b in itertools.pairwise([-99, *asked]) if b - a > 5]) == 5  # and then it is given up
