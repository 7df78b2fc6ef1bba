"""The link: in lockstep with our host, and against a game made of a plain socket."""

import math

import pytest
from helpers.waiting import wait_for

from trailbrake import roles
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.link import Link, parse_forward
from trailbrake.sims.forza.spec import LiveOptions
from trailbrake.state import Controls, Phase
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import NEUTRAL
from trailbrake.transport.udp import UdpSocket

DT = 1.0 / 60.0


def datagram(i, race_on=1):
    body = Sled(race_on, 1000 + int(i * DT * 1000), velocity_z=20.0)
    dash = Dash(position_z=20.0 * i * DT, speed=20.0, cur_race_time=5 + i * DT, gear=2)
    return codec.encode_packet(Packet(body, HorizonBlock(), dash, tail=b"\0"))


class Game:
    """A plain socket that sends, one that takes pad reports, and a link between them; time is a number."""

    def __init__(self, **options):
        self.pad, self.udp = UdpSocket(), UdpSocket()
        self.link = Link(LiveOptions(listen="127.0.0.1:0", pad=f"udp:127.0.0.1:{self.pad.port}", **options))
        self.link.open(0.0)
        self.to = ("127.0.0.1", self.link._udp.port)
        self.count = 0

    def send(self, number=1, race_on=1):
        for _ in range(number):
            self.udp.send(datagram(self.count, race_on), self.to)
            self.count += 1

    def reports(self):
        out = []
        while (got := self.pad.receive()) is not None:
            out.append(pad_report.decode_report(got[0]))
        return out

    def close(self):
        self.link.close()
        self.pad.close()
        self.udp.close()


@pytest.fixture
def game():
    made = Game()
    yield made
    made.close()


def test_it_plays_its_role(game):
    assert isinstance(game.link, roles.Link)


def test_the_newest_packet_is_read_and_the_older_ones_are_counted(game):
    assert not game.link.has_new_sample()
    game.send(10)
    assert game.link.has_new_sample()
    state = game.link.read(1.0)
    assert not game.link.has_new_sample()
    assert state.x == pytest.approx(20.0 * 9 * DT, rel=1e-6)
    assert (state.sequence, state.age, state.phase) == (10, 0.0, Phase.DRIVING)
    assert (game.link.counters.received, game.link.counters.lost) == (10, 0)
    assert game.link.read(1.2).age == pytest.approx(0.2)


def test_controls_go_to_the_pad_while_the_game_drives(game):
    game.send()
    game.link.read(0.0)
    game.link.write(Controls(steer=0.5, throttle=0.25, brake=0.0))
    assert game.reports()[-1] == (0, 0, 64, -16384, 0, 0, 0)


def test_nothing_stays_on_the_pad_in_a_pause(game):
    game.send()
    game.link.read(0.0)
    game.link.write(Controls(throttle=1.0))
    game.send(race_on=0)
    assert game.link.read(0.1).phase is Phase.PAUSED
    assert game.reports()[-1] == NEUTRAL
    game.link.write(Controls(throttle=1.0))  # whatever a driver says
    assert game.reports()[-1] == NEUTRAL
    game.send()
    game.link.read(0.2)
    game.link.write(Controls(throttle=1.0))
    assert game.reports()[-1].right_trigger == 255


def test_silence_brakes_until_the_car_must_stand_and_then_lets_go(game):
    game.send()
    game.link.read(0.0)
    game.link.write(Controls(steer=0.5, throttle=1.0))
    seen = {}
    for tenths in range(1, 80):
        now = 0.1 * tenths
        game.link.read(now)
        game.link.write(Controls(steer=0.5, throttle=1.0))  # whatever a driver says
        seen[tenths] = game.reports()[-1]
    assert seen[4].right_trigger == 255, "half a second is no silence yet; the supervisor brakes from 0.25 s on"
    brakes = [tenths for tenths, report in seen.items() if report.left_trigger == 153]
    assert brakes == list(range(6, 60)), "20 m/s at 4 m/s^2, and a second"
    assert seen[6] == (0, 153, 0, -16384, 0, 0, 0)
    assert all(seen[tenths] == NEUTRAL for tenths in range(60, 80))
    assert game.link.read(8.0).phase is Phase.LOST


def test_silence_after_a_pause_lets_go_at_once(game):
    game.send()
    game.link.read(0.0)
    game.link.write(Controls(throttle=1.0))
    game.send(race_on=0)
    game.link.read(0.1)
    game.link.read(3.0)
    assert game.reports()[-1] == NEUTRAL


def test_a_link_that_only_listens_or_is_released_does_not_brake(game):
    game.send()
    game.link.read(0.0)
    game.link.read(0.6)
    assert game.reports()[-1] == NEUTRAL
    game.send()
    game.link.read(0.7)
    game.link.write(Controls(throttle=1.0))
    game.link.release()
    game.link.read(1.4)
    assert game.reports()[-1] == NEUTRAL


@pytest.mark.parametrize("paused", [False, True])
def test_a_program_that_hangs_brakes_too(game, paused):
    """The pad's own thread acts, without the loop."""
    game.send()
    game.link.read(0.0)
    game.link.write(Controls(steer=0.5, throttle=1.0))
    if paused:
        game.send(race_on=0)
        game.link.read(0.1)
    wait_for(lambda: game.link._pad.dead_man_releases)
    seen = []
    wait_for(lambda: seen.extend(game.reports()) or len(seen) >= (1 if paused else 3))
    assert (seen[-1] == NEUTRAL) if paused else (seen[-1] == (0, 153, 0, -16384, 0, 0, 0))


def test_release_and_close_let_go(game):
    game.send()
    game.link.read(0.0)
    for leave in (game.link.release, game.link.close):
        if leave == game.link.release:
            game.link.write(Controls(throttle=1.0))
        leave()
        assert game.reports()[-1] == NEUTRAL


def test_everything_that_comes_is_forwarded():
    a, b = UdpSocket(), UdpSocket()
    game = Game(forward=f"127.0.0.1:{a.port},127.0.0.1:{b.port}")
    game.send()
    game.udp.send(b"what is this", game.to)
    game.link.read(0.0)
    for receiver in (a, b):
        assert receiver.receive()[0] == datagram(0)
        assert receiver.receive()[0] == b"what is this"
        receiver.close()
    game.close()


@pytest.mark.parametrize("text", ["127.0.0.1:2560", "127.0.0.1:9,0.0.0.0:2560", "somewhere", "127.0.0.1"])
def test_forwarding_to_itself_or_nowhere_is_refused(text):
    with pytest.raises(UsageError, match="--forward"):
        parse_forward(text, 2560)
    assert parse_forward("", 2560) == []


def waiting(send=None):
    """Open a link that waits, on a clock of its own, for what `send` makes come; return the error's text."""
    udp, now = UdpSocket(), [0.0]
    link = Link(LiveOptions(listen="127.0.0.1:0", pad="none", wait=2.0), idle=lambda: idle())

    def idle():
        now[0] += 0.1
        if send is not None:
            udp.send(send(round(now[0] * 10)), ("127.0.0.1", link._udp.port))
        return now[0]

    try:
        link.open(0.0)
    except SimulatorError as error:
        return str(error)
    finally:
        link.close()
        udp.close()
    return "opened"


def test_open_waits_and_then_says_why():
    assert "no datagrams arrive" in waiting()
    assert "doctor forza" in waiting()
    assert "in a menu or a pause" in waiting(lambda i: datagram(i, race_on=0))
    assert "lengths 12, 13, not 232, 311" in waiting(lambda i: bytes(12 + i % 2))
    assert waiting(datagram) == "opened"


def test_a_taken_port_is_one_line():
    taken = UdpSocket()
    link = Link(LiveOptions(listen=f"127.0.0.1:{taken.port}", pad="none"))
    with pytest.raises(SimulatorError, match="--listen: cannot listen on"):
        link.open(0.0)
    taken.close()


def test_in_lockstep_the_state_is_the_plant_s_to_f32(lockstep):
    session = lockstep()
    state = session.drive(Controls(steer=0.02, throttle=1.0), 300)
    truth = session.plant.car_state(0)
    assert state.time == pytest.approx(truth.time, abs=1e-4)
    for name in ("x", "y", "z", "yaw", "velocity_x", "velocity_y", "yaw_rate", "acceleration_x", "engine_speed"):
        assert getattr(state, name) == pytest.approx(getattr(truth, name), rel=1e-5, abs=1e-6), name
    assert state.speed > 15.0
    assert state.gear == truth.gear
    assert session.link.counters.lost == session.link.counters.late == 0
    assert session.link.period == pytest.approx(DT, rel=0.03)


def test_our_own_steer_is_a_share_of_lock_in_lockstep(lockstep):
    session = lockstep()
    session.drive(Controls(steer=0.02, throttle=1.0), 200)
    assert session.plant.car_state(0).steer == pytest.approx(0.02, abs=1e-3)


def test_two_lockstep_drives_are_alike_to_the_bit(lockstep):
    a, b = (lockstep().drive(Controls(steer=0.03, throttle=0.8), 100) for _ in range(2))
    assert (a.x, a.y, a.yaw, a.time) == (b.x, b.y, b.yaw, b.time)


def test_a_bad_network_is_driven_through(lockstep):
    session = lockstep(loss=0.1, duplicate=0.05, reorder=0.05, jitter=0.002, rate=120.0)
    state = session.drive(Controls(throttle=0.5), 2000)
    c, made = session.link.counters, session.host.read_counters()
    assert state.phase is Phase.DRIVING
    assert state.time == pytest.approx(session.plant.car_state(0).time, abs=0.1)
    assert c.duplicates + c.late >= made["duplicated"] * 0.9
    assert c.late > 20
    # A late datagram counts as lost when its successor arrives.
    assert c.lost == pytest.approx(made["lost"] + c.late, rel=0.25)
    assert c.rejected == c.foreign == 0
    assert session.plant.car_state(0).speed > 20.0


def test_a_host_that_is_gone_is_told(tmp_path):
    link = Link(doors=tmp_path)
    link.open(0.0)
    with pytest.raises(SimulatorError, match="its host is gone"):
        link._open_pad()
    assert math.isnan(link.read(0.0).x)
    link.close()
