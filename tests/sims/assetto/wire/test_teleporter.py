"""Teleports, from our link to our host."""

import itertools
import math

import pytest

from trailbrake.sims.assetto.wire.teleporter import NO_TELEPORT, Teleporter, TeleportRequest
from trailbrake.state import Controls, Pose, SimCommand

TARGET = Pose(100.0, 50.0, 0.0, 1.5)
REQUEST = TeleportRequest(2, TARGET)
FAR, NEAR = (103.0, 50.0), (102.0, 52.0)  # 3 m, and less, from the target


def test_a_request_is_held_for_four_steps():
    teleporter = Teleporter()
    assert (teleporter.request, teleporter.is_active) == (NO_TELEPORT, False)
    teleporter.start_teleport(TARGET, 1000)
    held = []
    for step in range(1000, 1010):
        teleporter.update_request(step, *FAR)
        held.append(teleporter.request == REQUEST)
        assert teleporter.is_active
    assert held == [True] * 4 + [False] * 6


def test_a_car_that_has_arrived_after_forty_steps_is_not_moved_again():
    teleporter = Teleporter()
    teleporter.start_teleport(TARGET, 1000)
    for step, place, active in ((1005, NEAR, True), (1039, FAR, True), (1040, NEAR, False), (1200, FAR, False)):
        teleporter.update_request(step, *place)
        assert (teleporter.request, teleporter.is_active) == (NO_TELEPORT, active)


def test_a_teleport_is_requested_five_times_forty_steps_apart():
    teleporter = Teleporter()
    teleporter.start_teleport(TARGET, 1000)
    begun, held = [1000], True
    for step in range(1000, 2000):
        teleporter.update_request(step, *FAR)
        if teleporter.request == REQUEST and not held:
            begun.append(step)
        held = teleporter.request == REQUEST
    assert begun == [1000, 1040, 1080, 1120, 1160]
    assert not teleporter.is_active
    teleporter.start_teleport(TARGET, 3000)
    teleporter.update_request(3040, *FAR)
    assert teleporter.request == REQUEST, "a new one begins anew"


@pytest.mark.parametrize("place", [(103.0, 50.0), (97.0, 50.0), (100.0, 53.0), (100.0, 47.0)])
def test_three_metres_off_in_any_direction_is_not_there(place):
    teleporter = Teleporter()
    teleporter.start_teleport(TARGET, 1000)
    teleporter.update_request(1040, *place)
    assert teleporter.request == REQUEST


def test_a_return_to_the_pits_is_not_checked_and_a_restart_ends_a_request():
    teleporter = Teleporter()
    for step, active in ((1003, True), (1004, False), (1100, False)):
        if step == 1003:
            teleporter.start_teleport(None, 1000)
        teleporter.update_request(step, *FAR)
        assert (teleporter.request.teleport_to, teleporter.is_active) == (int(active), active)
    teleporter.start_teleport(None, 1000)
    assert teleporter.request == TeleportRequest(1, None)
    teleporter.update_request(999, *FAR)
    assert teleporter.request == NO_TELEPORT


def test_a_request_that_is_cancelled_is_over():
    teleporter = Teleporter()
    teleporter.start_teleport(TARGET, 1000)
    teleporter.cancel_request()
    assert (teleporter.request, teleporter.is_active) == (NO_TELEPORT, False)
    teleporter.update_request(1040, *FAR)
    assert (teleporter.request, teleporter.is_active) == (NO_TELEPORT, False)


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
