"""Our link in front of our host, in lockstep, on a clock of the test's own."""

import itertools
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strangers import pages

from trailbrake import roles
from trailbrake.cars.load import load
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.assetto import acpmf, codec, convert, spec
from trailbrake.sims.assetto.knobs import RELEASED
from trailbrake.sims.assetto.link import Link
from trailbrake.state import Controls, Phase, Pose, SimCommand
from trailbrake.state.controls import SETTINGS

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page is a file there")


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
    assert not link.fresh()
    session.tick()
    assert link.fresh()
    assert link.read(session.now).sequence == state.sequence + 1
    assert state.time == state.sequence / 333.0


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
        pressed.append(codec.decode_controls(link._written).gear_up)
        return Controls(gear=2)

    session.drive(link, act, 500)
    edges = [i for i in range(1, len(pressed)) if pressed[i] and not pressed[i - 1]]
    assert len(edges) == 5
    assert all(b - a == 117 for a, b in itertools.pairwise(edges))
    assert sum(pressed) in range(3 * 4, 3 * 5 + 1)


def test_silence_is_lost_by_the_clock_that_is_passed_in(session):
    link = session.connect()
    state = session.drive(link, Controls(throttle=1.0), 10)
    then = session.now
    assert link.read(then + 0.25).phase is Phase.DRIVING
    late = link.read(then + 0.26)
    assert late.phase is Phase.LOST
    assert late.age == pytest.approx(0.26)
    assert (late.sequence, late.x) == (state.sequence, state.x)
    assert link.read(then + 0.5).phase is Phase.LOST
    assert link.counters.stale == 1
    session.tick()
    assert link.read(then + 0.6).phase is Phase.DRIVING
    assert link.read(then + 0.9).phase is Phase.LOST
    assert link.counters.stale == 2


def test_missed_samples_are_counted(session):
    link = session.connect()
    session.drive(link, Controls(), 10)
    session.tick(5)
    link.read(session.now)
    assert link.counters.lost == 4


class Scribbled:
    """A page whose writer is in the middle of it for the first `times` reads."""

    def __init__(self, page, times):
        self.page, self.times = page, times

    def read(self, size, offset=0):
        data = self.page.read(size, offset)
        if size == codec.CAR_SIZE and self.times:
            self.times -= 1
            return int.to_bytes(1000 + self.times, 4, "little") + data[4:]
        return data

    def __getattr__(self, name):
        return getattr(self.page, name)


@pytest.mark.parametrize(("times", "torn"), [(1, 0), (2, 0), (3, 0), (9, 1)])
def test_torn_reads_are_tried_again_three_times(session, times, torn):
    link = session.connect()
    session.drive(link, Controls(), 2)
    session.tick()
    page = link._car
    link._car = Scribbled(page, times)
    state = link.read(session.now)
    assert link.counters.torn == torn
    assert (state.sequence < 1000) == (not torn)
    link._car = page


def test_pause_and_resume(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 20)
    link.command(SimCommand(pause=True))
    session.tick(20)  # the host looks for the page now and then
    steps, sequence = session.plant.steps, link.read(session.now).sequence
    state = session.drive(link, Controls(throttle=1.0), 333)
    assert session.plant.steps == steps
    assert session.host.paused
    assert (state.phase, state.sequence) == (Phase.PAUSED, sequence)
    link.command(SimCommand(pause=False))
    assert link.read(session.now).phase is Phase.DRIVING  # a pause that ends is no silence
    state = session.drive(link, Controls(throttle=1.0), 2)
    assert state.phase is Phase.DRIVING
    assert state.sequence == sequence + 2
    assert link.counters.stale == 0


def test_restart_is_one_pulse(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 50)
    link.command(SimCommand(restart=True))
    page = session.folder / spec.SIM_STATE_V1
    assert page.read_bytes()[:8] == bytes.fromhex("00010000 0000803f")  # the time scale is 1 from the first write
    session.drive(link, Controls(), 40)
    assert [c.restart for i, c in session.plant.heard if i == 0] == [True]
    assert page.read_bytes()[1] == 0


def test_time_scale(session):
    link = session.connect()
    assert session.host.time_scale == 1.0
    link.command(SimCommand(time_scale=10.0))
    session.tick(20)
    assert session.host.time_scale == 10.0
    link.release()
    session.tick(20)
    assert session.host.time_scale == 1.0


def test_teleport_is_held_and_let_go(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 50)
    link.command(SimCommand(teleport=Pose(100.0, 50.0, 1.0, 1.5)))
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
    link.command(SimCommand(to_pits=True))
    assert session.drive(link, Controls(), 10).x == 0.0
    assert {c.to_pits for _, c in session.plant.heard} == {True}


def test_the_other_cars(session):
    link = session.connect()
    other = session.connect(car=1)
    session.drive(other, Controls(throttle=1.0), 200)
    state = session.drive(link, Controls(), 333)
    assert [o.index for o in state.others] == [1]
    assert state.others[0].x == pytest.approx(session.plant.bodies[1].x, abs=0.5)  # two frame rates late
    assert state.others[0].y == 5.0


def test_a_second_writer_of_ours_is_refused(session):
    session.connect()
    with pytest.raises(
        SimulatorError, match=r"CarControls0.v0: car 0 is driven already by another trailbrake; "
    ) as error:
        session.connect()
    assert "\n" not in str(error.value)
    session.connect(car=1)


def test_a_strange_second_writer_is_counted(session):
    link = session.connect()
    session.drive(link, Controls(), 5)
    assert link.foreign_writes == 0
    with (session.folder / spec.controls_name(0)).open("r+b") as page:
        page.write(codec.encode_controls(codec.CarControls(gas=0.9)))
    session.drive(link, Controls(), 5)
    assert link.foreign_writes == 1
    assert session.plant.bodies[0].controls.throttle == 0.0


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


def test_a_stranger_whom_a_rehearsal_has_seen_is_counted_once(session):
    link = session.connect()
    session.drive(link, Controls(), 5)
    stranger = codec.encode_controls(codec.CarControls(gas=0.9))
    with (session.folder / spec.controls_name(0)).open("r+b") as page:
        page.write(stranger)
    for _ in range(3):
        link.rehearse(Controls(throttle=0.75))
    session.drive(link, Controls(), 5)
    assert link.foreign_writes == 1


BUTTONS = st.sampled_from([RELEASED, (1, *RELEASED[1:]), (*RELEASED[:-1], 1)])
WISHES = st.builds(
    Controls, st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 0.5]), st.floats(0, 1),
    st.sampled_from([None, -1, 3]), st.sampled_from([math.nan, 0.0, 1.0]), st.sampled_from([math.nan, 1.0]),
)  # fmt: skip
TELEPORTS = st.sampled_from([(0, None), (1, None), (2, Pose(1.0, 2.0, 3.0, 0.5)), (2, Pose(9.0, 2.0, 3.0, 0.5))])


@given(st.lists(st.tuples(WISHES, st.sampled_from([0, 1, -1]), BUTTONS, TELEPORTS), min_size=1, max_size=8))
def test_a_page_is_what_it_would_be_encoded_as_a_whole(asked):
    link = Link(spec.LiveOptions(headlights=True, mguh_mode=3))
    for controls, shift, buttons, (to, pose) in asked:
        link._buttons, link._teleport_to, link._teleport = buttons, to, pose
        message = convert.controls_to_wire(
            controls, shift=shift, buttons=buttons, mguh_mode=3, headlights=True, teleport_to=to, teleport=pose
        )
        assert link._encoded(controls, shift) == codec.encode_controls(message)


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
    assert session.host.taken == [False, False]
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
    assert not link.fresh()
    state = link.read(session.now)
    assert (state.phase, state.sequence) == (Phase.LOST, -1)
    assert math.isnan(state.x)
    assert session.drive(link, Controls(), 2).phase is Phase.DRIVING


def test_a_host_that_comes_back_is_found_again(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 50)
    session.host.close()  # removes its pages
    session.now += 0.3
    assert link.read(session.now).phase is Phase.LOST
    session.start_host()
    session.tick(2)
    state = link.read(session.now)
    assert state.phase is Phase.DRIVING
    assert state.sequence <= 2
    assert link.counters.resyncs == 1
    assert session.drive(link, Controls(throttle=1.0), 20).phase is Phase.DRIVING


HOST = """
import sys
from types import SimpleNamespace
from trailbrake.cars.load import load
from trailbrake.sims.assetto.host import Host
from trailbrake.sims.assetto.spec import ServeOptions
from trailbrake.state import CarState
still = CarState(x=1.0, y=2.0, z=0.0, yaw=0.0, pitch=0.0, roll=0.0, speed=0.0, velocity_x=0.0, velocity_y=0.0,
                 velocity_z=0.0, gear=1)
plant = SimpleNamespace(period=1 / 333, track=None, cars=[load("gt3")], state=lambda i: still, step=lambda c: None)
host = Host(plant, ServeOptions(classic=False), doors=sys.argv[1])
host.open(0.0)
for line in sys.stdin:
    host.tick(0.0)
    print("ticked", flush=True)
"""


def test_a_killed_host(tmp_path):
    def start():
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", HOST, str(tmp_path)], stdin=pipe, stdout=pipe, bufsize=0)

    def tick(child):
        child.stdin.write(b"\n")
        assert child.stdout.readline().split() == [b"ticked"]

    now = 0.0

    def idle():
        nonlocal now
        now += 0.003
        tick(child)
        return now

    link = Link(spec.LiveOptions(wait=1.0), doors=tmp_path, idle=idle)
    with start() as child:
        link.open(now)
        assert link.read(now).phase is Phase.DRIVING
        child.kill()
    assert link.read(now + 0.3).phase is Phase.LOST  # the page of the dead reads fine, and stands
    now += 1.0
    with start() as child:  # a killed host's names are free again
        for _ in range(3):
            tick(child)
        state = link.read(now)
        assert (state.phase, state.sequence, state.x) == (Phase.DRIVING, 3, 1.0)
        child.stdin.close()
    link.close()


@on_linux
def test_a_car_page_cut_short_is_no_sample(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    (tmp_path / spec.car_name(0)).write_bytes(codec.encode_car(codec.CarData(packet_id=5)))
    link = Link()
    link.open(0.0)
    link.read(0.0)
    page = tmp_path / spec.car_name(0)
    page.write_bytes(codec.encode_car(codec.CarData(packet_id=6))[:100])
    assert link.read(0.1).sequence == -1
    assert link.counters.torn == 1
    page.write_bytes(codec.encode_car(codec.CarData(packet_id=7)))
    assert link.read(0.2).sequence == 7
    link.close()
    link.close()  # twice does no harm
    with pytest.raises(SimulatorError, match="the link is not open"):
        link.write(Controls())


def test_a_teleport_that_did_not_come_about_is_asked_for_again(session):
    link = session.connect()
    session.drive(link, Controls(), 20)
    deaf = session.plant.command
    asked = []

    def refuse(car, command):
        asked.append(session.plant.steps)
        if len(asked) > 10:  # the third time it works
            deaf(car, command)

    session.plant.command = refuse
    link.command(SimCommand(teleport=Pose(100.0, 50.0, 0.0, 1.5)))
    state = session.drive(link, Controls(), 250)
    assert (state.x, state.y) == pytest.approx((100.0, 50.0), abs=1e-3)
    starts = [b for a, b in itertools.pairwise([-99, *asked]) if b - a > 5]
    assert len(starts) == 3
    session.plant.command = lambda car, command: asked.append(session.plant.steps)
    asked.clear()
    link.command(SimCommand(teleport=Pose(-100.0, 0.0, 0.0, 0.0)))
    session.drive(link, Controls(), 500)
    assert len([b for a, b in itertools.pairwise([-99, *asked]) if b - a > 5]) == 5  # and then it is given up


def test_a_pause_of_the_player_s_is_no_loss(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 10)
    (session.folder / acpmf.GRAPHICS_NAME).write_bytes(acpmf.encode_graphics(acpmf.Graphics(status=acpmf.PAUSE)))
    assert link.read(session.now + 0.3).phase is Phase.PAUSED
    (session.folder / acpmf.GRAPHICS_NAME).write_bytes(acpmf.encode_graphics(acpmf.Graphics(status=acpmf.LIVE)))
    assert link.read(session.now + 0.3).phase is Phase.LOST
    (session.folder / acpmf.GRAPHICS_NAME).unlink()


def test_the_game_may_shift(session):
    link = Link(spec.LiveOptions(shifts="game", wait=1.0), doors=session.doors, idle=session.tick)
    session.links.append(link)
    link.open(session.now)
    session.drive(link, Controls(throttle=0.5, gear=3), 20)
    assert codec.decode_controls(link._written).autoshift_active == 1
    assert codec.decode_controls(link._written).gear_up == 0


def test_collisions_between_cars(session):
    link = session.connect()
    for wanted in (False, True):
        link.command(SimCommand(collisions=wanted))
        session.drive(link, Controls(), 20)
    assert [c.collisions for _, c in session.plant.heard] == [False, True]


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
    assert codec.decode_controls(link._written)[9:23] == RELEASED


def test_settings_that_the_game_tells_are_turned_until_they_stand_there(told_session):
    session = told_session
    link, second = session.connect(), session.connect(1)
    own = load("gt3").brakes.front_share
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
    link.command(SimCommand(restart=True))
    session.drive(link, Controls(tc_level=0.5), 120)
    assert set_to(session)["tc_level"] == pytest.approx(0.5)


def test_a_command_lets_no_button_go(session):
    link = session.connect()
    pressed = []

    def act(state):
        pressed.append(codec.decode_controls(link._written).abs_dn)
        if len(pressed) == 3:
            link.command(SimCommand(to_pits=True))
        return Controls(abs_level=0.9)

    session.drive(link, act, 60)
    assert set_to(session)["abs_level"] == 0.9
    assert sum(pressed) == 4  # one press, in one piece


def test_lights_and_the_turbo_s_motor_are_options(session):
    link = Link(spec.LiveOptions(headlights=True, mguh_mode=3, wait=1.0), doors=session.doors, idle=session.tick)
    session.links.append(link)
    link.open(session.now)
    session.drive(link, Controls(), 20)
    sent = codec.decode_controls(link._written)
    assert (sent.headlights, sent.mguh_mode) == (1, 3)
    with pytest.raises(UsageError, match=r"--mguh-mode: no such mode, expected 0 to 255, got 256"):
        spec.LiveOptions(mguh_mode=256)
