"""The controls page is the same, encoded in part or as a whole."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import UsageError
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.wire.controls_encoder import (
    NO_TELEPORT,
    ControlsEncoder,
    PaddleShifter,
    Teleporter,
    TeleportRequest,
)
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED
from trailbrake.state import Controls, Pose, SimCommand

BUTTONS = st.sampled_from([ALL_RELEASED, (1, *ALL_RELEASED[1:]), (*ALL_RELEASED[:-1], 1)])


WISHES = st.builds(
    Controls, st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 0.5]), st.floats(0, 1),
    st.sampled_from([None, -1, 3]), st.sampled_from([math.nan, 0.0, 1.0]), st.sampled_from([math.nan, 1.0]),
)  # fmt: skip


TELEPORTS = st.sampled_from(
    [NO_TELEPORT, TeleportRequest(1), *(TeleportRequest(2, Pose(x, 2.0, 3.0, 0.5)) for x in (1.0, 9.0))]
)
TARGET = Pose(100.0, 50.0, 0.0, 1.5)
REQUEST = TeleportRequest(2, TARGET)
FAR, NEAR = (103.0, 50.0), (102.0, 52.0)  # 3 m, and less, from the target


@given(st.lists(st.tuples(WISHES, st.sampled_from([0, 1, -1]), BUTTONS, TELEPORTS), min_size=1, max_size=8))
def test_a_page_is_what_it_would_be_encoded_as_a_whole(wishes):
    encoder = ControlsEncoder(3, headlights=True)
    for controls, shift, buttons, teleport in wishes:
        message = convert.controls_to_wire(
            controls, shift=shift, buttons=buttons, mguh_mode=3, headlights=True, teleport_to=teleport.teleport_to,
            teleport=teleport.pose,
        )  # fmt: skip
        assert encoder.encode(controls, shift, buttons=buttons, teleport=teleport) == codec.encode_controls(message)


def test_lights_and_the_turbo_s_motor_are_options(session):
    link = Link(spec.LiveOptions(headlights=True, mguh_mode=3, wait=1.0), doors=session.doors, idle=session.tick)
    session.links.append(link)
    link.open(session.now)
    session.drive(link, Controls(), 20)
    sent = session.sent_controls()
    assert (sent.headlights, sent.mguh_mode) == (1, 3)
    with pytest.raises(UsageError, match=r"--mguh-mode: no such mode, expected 0 to 255, got 256"):
        spec.LiveOptions(mguh_mode=256)


@pytest.mark.parametrize(
    ("command", "change"),
    [
        (SimCommand(), {}),
        (SimCommand(headlights=True), {"headlights": 1}),
        (SimCommand(headlights=False), {"headlights": 0}),
        (SimCommand(mguh_mode=7), {"mguh_mode": 7}),
        (SimCommand(mguh_mode=0), {"mguh_mode": 0}),
        (SimCommand(autoblip=False), {"autoblip_active": 0}),
    ],
)
@pytest.mark.parametrize(("mode", "lights"), [(3, True), (0, False)])
def test_a_command_changes_the_page_from_then_on(command, change, mode, lights):
    encoder = ControlsEncoder(mode, headlights=lights)
    before = codec.decode_controls(encoder.encode(Controls(), 0))
    assert (before.mguh_mode, before.headlights, before.autoblip_active) == (mode, int(lights), 1)
    encoder.apply_command(command)
    for _ in range(2):
        assert codec.decode_controls(encoder.encode(Controls(), 0)) == before._replace(**change)


def test_each_change_behind_the_axes_makes_a_new_page():
    encoder = ControlsEncoder(0, headlights=False)
    for clutch, gear in ((0.0, None), (0.5, None), (0.0, None), (0.0, 3), (1.0, 3), (0.0, None)):
        message = codec.decode_controls(encoder.encode(Controls(clutch=clutch, gear=gear), 0))
        assert (message.autoclutch_on_start, message.autoclutch_on_change) == (clutch == 0.0, clutch == 0.0)
        assert message.autoshift_active == (gear is None)


def test_what_stays_the_same_is_encoded_once(monkeypatch):
    encoded = []
    encode_controls = codec.encode_controls
    monkeypatch.setattr(codec, "encode_controls", lambda message: encoded.append(message) or encode_controls(message))
    encoder = ControlsEncoder(0, headlights=False)
    for steer in (0.0, 0.1, 0.2):
        encoder.encode(Controls(steer=steer), 0)
    assert len(encoded) == 1
    encoder.apply_command(SimCommand(headlights=True))
    for steer in (0.0, 0.1):
        assert codec.decode_controls(encoder.encode(Controls(steer=steer), 0)).headlights == 1
    assert len(encoded) == 2


def presses(gears, wish, steps):
    """Return the steps at which a paddle went down; `gears(step)` is what the game reports."""
    shifter, down, edges = PaddleShifter(), 0, []
    for step in range(steps):
        paddle = shifter.choose_paddle(wish, gears(step), step)
        if paddle and not down:
            edges.append((step, paddle))
        down = paddle
    return edges


def test_one_press_per_gear_and_no_more():
    assert presses(lambda step: 1 if step < 20 else 2, 2, 400) == [(0, 1)]
    assert presses(lambda step: 3 if step < 20 else 2, 2, 400) == [(0, -1)]


def test_a_gear_that_does_not_come_is_asked_for_after_0_35_s():
    assert [step for step, _ in presses(lambda step: 1, 2, 400)] == [0, 117, 234, 351]


def test_several_gears_come_one_by_one():
    edges = presses(lambda step: min(4, 1 + step // 40), 4, 400)
    assert [paddle for _, paddle in edges] == [1, 1, 1]
    assert all(b - a >= 33 for (a, _), (b, _) in itertools.pairwise(edges))


def test_no_wish_no_press():
    assert presses(lambda step: 1, None, 100) == []
    assert presses(lambda step: None, 3, 100) == []


def test_a_clock_that_jumps_back_begins_anew():
    shifter = PaddleShifter()
    assert shifter.choose_paddle(2, 1, 1000) == 1
    assert shifter.choose_paddle(2, 1, 5) == 1


def test_a_paddle_is_held_for_three_steps_and_released_for_the_rest_of_a_tenth_of_a_second():
    shifter = PaddleShifter()
    held = [shifter.choose_paddle(3, 1 if step < 5 else 2, step) for step in range(40)]
    assert held == [1] * 3 + [0] * 30 + [1] * 3 + [0] * 4
    down = PaddleShifter()
    assert [down.choose_paddle(1, 2, step) for step in range(7, 12)] == [-1, -1, -1, 0, 0]


def test_a_paddle_is_held_though_the_gear_comes_at_once():
    shifter = PaddleShifter()
    assert [shifter.choose_paddle(2, gear, step) for gear, step in ((1, 10), (2, 10), (2, 12), (2, 13))] == [1, 1, 1, 0]


def test_a_clock_that_jumps_back_releases_the_paddle():
    shifter = PaddleShifter()
    assert shifter.choose_paddle(3, 2, 1000) == 1
    assert shifter.choose_paddle(2, 2, 999) == 0
    assert shifter.choose_paddle(1, 2, 1000) == -1


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
