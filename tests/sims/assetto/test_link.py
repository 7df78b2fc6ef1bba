"""Our link in front of our host, in lockstep, on a clock of the test's own."""

import itertools
import math
import sys

import pytest
from helpers.assetto.foreign_pages import pages
from helpers.assetto.small_world import Session

from trailbrake import roles
from trailbrake.cars.car_library import load_car
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.link import Link
from trailbrake.state import Controls, DebugLine, Phase, Pose, SimCommand
from trailbrake.units import RPM


def test_handshake_and_drive(session):
    link = session.connect()
    assert isinstance(link, roles.Link)
    assert session.plant.bodies[0].controls.brake == 1.0  # held while nobody has driven yet
    state = session.drive(link, Controls(throttle=1.0), 333)
    assert state.phase is Phase.DRIVING
    assert state.age == 0.0
    assert state.x > 3.0
    assert state.gear == 1  # no gear wished: the automatic box found first
    assert (link.counters.lost, link.counters.torn, link.counters.stale, link.counters.resyncs) == (0, 0, 0, 0)
    assert not link.has_new_sample()
    session.tick()
    assert link.has_new_sample()
    assert link.read(session.now).sequence == state.sequence + 1
    assert state.time == state.sequence / 333.0


def test_the_limiter_is_that_of_the_player_s_car_alone(tmp_path):
    session = Session(tmp_path, cars=2)  # as in a drive: without the pages that move
    player, other = session.connect(0), session.connect(1)
    limiter = load_car("gt3").engine.limiter_rpm * RPM
    assert session.drive(player, Controls(), 3).max_engine_speed == pytest.approx(limiter)
    assert math.isnan(session.drive(other, Controls(), 3).max_engine_speed)
    assert {"max_engine_speed"} == spec.SUPPLIES - other.SUPPLIES
    assert not (session.folder / "acpmf_physics").exists()
    session.close()


def test_left_is_left(session):
    link = session.connect()
    state = session.drive(link, Controls(throttle=1.0, steer=0.5), 333)
    assert state.yaw > 0.01
    assert state.y > 0.01
    assert session.plant.bodies[0].controls.steer == 0.5
    assert state.steering_wheel_angle > 0.0


def test_gears_up_and_down_by_paddles(session):
    link = session.connect()
    seen = []

    def wish(gear):
        def act(state):
            if not seen or seen[-1] != state.gear:
                seen.append(state.gear)
            return Controls(throttle=0.1, gear=gear)

        return act

    session.drive(link, wish(4), 333)
    session.drive(link, wish(2), 333)
    session.drive(link, wish(-1), 333)
    assert seen == [1, 2, 3, 4, 3, 2, 1, 0, -1]
    assert session.plant.bodies[0].gear == -1


def test_a_gear_that_does_not_come_is_asked_for_again(session):
    link = session.connect()
    pressed = []

    def act(state):
        session.plant.bodies[0].gear = 1  # a box that refuses
        session.plant.bodies[0].shifting = 0
        pressed.append(session.sent_controls().gear_up)
        return Controls(gear=2)

    session.drive(link, act, 500)
    edges = [i for i in range(1, len(pressed)) if pressed[i] and not pressed[i - 1]]
    assert len(edges) == 5
    assert all(b - a == 117 for a, b in itertools.pairwise(edges))
    assert sum(pressed) in range(3 * 4, 3 * 5 + 1)


def test_a_rehearsal_has_no_effect(session):
    link = session.connect()
    state = session.drive(link, Controls(throttle=0.5, steer=0.25), 50)
    page, counters, received = session.folder / spec.controls_name(0), repr(link.counters), link.counters.received
    written = page.read_bytes()
    for _ in range(3):
        link.rehearse(Controls(throttle=0.75))
        assert link.read(session.now).sequence == state.sequence
    assert page.read_bytes() == written
    assert repr(link.counters) == counters
    session.tick()
    for _ in range(3):  # a sample that comes meanwhile is there for who reads next, and counted once
        link.rehearse(Controls(throttle=0.75))
        assert link.read(session.now).sequence == state.sequence + 1
    assert link.counters.received == received + 1
    assert link.counters.lost == 0


def test_release_and_close_leave_the_car_safe(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0, steer=0.3), 100)
    link.release()
    session.tick()
    held = session.plant.bodies[0].controls
    assert (held.brake, held.throttle, held.steer) == (1.0, 0.0, 0.0)
    link.close()
    session.tick(20)  # a section of Windows goes when the host lets go, too
    assert not (session.folder / spec.controls_name(0)).exists()
    assert session.host.cars_with_client == [False, False]
    assert session.plant.bodies[0].controls == Controls(brake=1.0)
    link = session.connect()  # and the car can be had again
    assert session.drive(link, Controls(throttle=1.0), 10).phase is Phase.DRIVING


def test_nobody_there(tmp_path):
    clock = iter(range(100))
    link = Link(spec.LiveOptions(wait=7.0), doors=tmp_path, idle=lambda: float(next(clock)))
    with pytest.raises(SimulatorError, match=r"Car0.v0: car 0 is not published, expected an answer within 7 s; start"):
        link.open(0.0)
    assert list(tmp_path.iterdir()) == []
    page = pages(tmp_path) / spec.car_name(0)
    page.write_bytes(codec.encode_car(codec.CarData(packet_id=5)))
    with pytest.raises(SimulatorError, match="car 0 stands still: its packet_id does not advance"):
        link.open(0.0)  # a page proves nothing
    page.unlink()


def test_without_waiting_the_phase_tells(session):
    link = Link(doors=session.doors)
    session.links.append(link)
    link.open(session.now)
    assert not link.has_new_sample()
    state = link.read(session.now)
    assert (state.phase, state.sequence) == (Phase.LOST, -1)
    assert math.isnan(state.x)
    assert session.drive(link, Controls(), 2).phase is Phase.DRIVING


def test_the_game_may_shift(session):
    link = Link(spec.LiveOptions(shifts="game", wait=1.0), doors=session.doors, idle=session.tick)
    session.links.append(link)
    link.open(session.now)
    session.drive(link, Controls(throttle=0.5, gear=3), 20)
    assert session.sent_controls().autoshift_active == 1
    assert session.sent_controls().gear_up == 0


@pytest.mark.parametrize(
    ("refuse", "car", "line"),
    [
        ("disabled", 0, "car 0 is not published, expected an answer within 1 s; start a session with Custom AI"),
        ("track", 0, "`trailbrake doctor assetto` says what refuses it"),
        ("remote", 1, "car 1 is not handed over: it is a remote player's"),
        ("remote", 5, "car 5 is not there: the session has 2"),
    ],
)
def test_a_refusal_is_one_line(tmp_path, refuse, car, line):
    """As the game refuses: by silence. `serve assetto --refuse` lets an author rehearse it."""
    session = Session(tmp_path, cars=2, private=True, classic=True, refuse=refuse)
    session.tick(700)
    with pytest.raises(SimulatorError) as error:
        session.connect(car, wait=1.0)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
    session.close()


def test_requests_beside_driving_reach_the_pages(session):
    """Each field of a command, read back from the pages as the game reads them."""
    link = session.connect()
    line = DebugLine((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0x00FF00)
    link.send_command(SimCommand(headlights=True, mguh_mode=3, autoblip=False, extra_sleep=0.0065, lines=(line,)))
    session.drive(link, Controls(throttle=0.5), 20)
    sent = session.sent_controls()
    assert (sent.headlights, sent.mguh_mode, sent.autoblip_active, sent.gas) == (1, 3, 0, 0.5)
    assert session.host.wall_period == pytest.approx(1 / 333 + 0.007)
    lines = codec.decode_debug_lines((session.folder / spec.DEBUG_LINES).read_bytes()[: codec.DEBUG_SIZE])
    assert lines == (codec.LineRecord((2.0, 3.0, 1.0), (5.0, 6.0, 4.0), 0xFF00FF00),)
    link.send_command(SimCommand(headlights=False, autoblip=True, extra_sleep=0.0, lines=()))
    session.drive(link, Controls(), 20)
    sent = session.sent_controls()
    assert (sent.headlights, sent.mguh_mode, sent.autoblip_active) == (0, 3, 1)
    assert session.host.wall_period == pytest.approx(1 / 333)
    link.close()
    # A page of Windows lives as long as anybody has it open, here the host.
    assert sys.platform == "win32" or not (session.folder / spec.DEBUG_LINES).exists()


def test_a_drawing_of_the_plan_has_the_page_of_lines_for_itself():
    assert "lines" not in Link(spec.LiveOptions(draw=True)).ACCEPTS
    assert "lines" in Link(spec.LiveOptions()).ACCEPTS


def test_a_teleport_without_a_height_takes_the_car_s_own(session):
    link = session.connect()
    session.drive(link, Controls(), 5)
    link.send_command(SimCommand(teleport=Pose(30.0, 7.0)))
    assert session.sent_controls().teleport_pos == (7.0, 0.0, 30.0)  # finite: the game would lose the car else
    session.drive(link, Controls(), 60)
    assert (session.plant.bodies[0].x, session.plant.bodies[0].y) == pytest.approx((30.0, 7.0))
