"""The host in front of strangers: clients as the protocol page describes them, made of plain files."""

import math
import struct
import subprocess
import sys

import pytest
from strangers import let_go, mapped, pages, seen

from trailbrake import roles
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.host import Host
from trailbrake.state import Controls

from .conftest import FakePlant, Session  # noqa: TID252

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page is a file there")


def file_of(session, name, size=4096):
    """Make a page of `size` bytes as a stranger does."""
    return mapped(session.folder / name, size)


def put(page, **controls):
    data = codec.encode_controls(codec.CarControls(**controls))[: len(page)]
    page[: len(data)] = data


def published(session, car=0):
    return codec.decode_car((session.folder / spec.car_name(car)).read_bytes())


def test_is_a_host(session):
    assert isinstance(session.host, roles.Host)
    assert isinstance(session.plant, roles.Plant)


def test_public_pages_of_every_car_at_frame_rate(session):
    session.tick(333)
    for car in range(2):
        data = (session.folder / spec.public_name(car)).read_bytes()
        assert len(data) == 4096
        assert codec.decode_public(data).packet_id == 61  # one on opening, then 60 in a second
        assert not (session.folder / spec.car_name(car)).exists()  # nobody took it
    assert session.plant.bodies[0].controls == Controls(brake=1.0)


@pytest.mark.parametrize("size", [64, 68, 72, 76, 256, 4096])
def test_controls_of_any_size(session, size):
    page = file_of(session, spec.controls_name(0), size)
    put(page, gas=0.5, clutch=1.0, steer=0.25, gear_up=1)
    session.tick(100)
    controls = session.plant.bodies[0].controls
    assert (controls.throttle, controls.steer, controls.clutch, controls.gear) == (0.5, -0.25, 0.0, 1)
    assert published(session).packet_id > 80
    assert (session.folder / spec.car_name(0)).stat().st_size == 4096


def test_a_client_before_the_host(tmp_path):
    """F makes its controls before the game starts; B maps, and so makes, Car0 before the game does."""
    folder = pages(tmp_path)
    (folder / spec.controls_name(0)).write_bytes(codec.encode_controls(codec.CarControls(gas=0.5, clutch=1.0)))
    (folder / spec.car_name(0)).write_bytes(bytes(672))
    session = Session(tmp_path)
    car = seen(folder / spec.car_name(0), 672)
    session.tick(3)
    assert session.plant.bodies[0].controls.throttle == 0.5
    assert codec.decode_car(car[:]).packet_id == 3
    car.close()
    session.close()
    let_go()


def test_a_recreated_page_is_noticed(session):
    put(file_of(session, spec.controls_name(0)), gas=0.5, clutch=1.0)
    session.tick(20)
    (session.folder / spec.controls_name(0)).unlink()
    put(file_of(session, spec.controls_name(0)), gas=0.25, clutch=1.0)
    session.tick(20)
    assert session.plant.bodies[0].controls.throttle == 0.25
    (session.folder / spec.controls_name(0)).unlink()
    session.tick(20)
    assert session.plant.bodies[0].controls == Controls(brake=1.0)  # the client is gone
    stood = published(session).packet_id
    session.tick(20)
    assert published(session).packet_id == stood
    assert session.host.taken == [False, False]


def test_scribbling_into_car0_does_no_harm(session):
    put(file_of(session, spec.controls_name(0)), gas=0.5, clutch=1.0)
    session.tick(20)
    with (session.folder / spec.car_name(0)).open("r+b") as page:
        page.write(b"\xff" * 672)
    assert published(session).packet_id == -1
    session.tick()
    car = published(session)
    assert car.packet_id == 21
    assert car.gear == 1
    assert session.plant.bodies[0].controls.throttle == 0.5


@on_linux
def test_truncated_pages_do_not_kill_an_open_host(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    session = Session(tmp_path, private=False)
    put(file_of(session, spec.controls_name(0)), gas=0.5, clutch=1.0)
    (tmp_path / spec.SIM_STATE_V1).write_bytes(codec.encode_sim_v1(codec.SimState()))
    session.tick(20)
    for name in (spec.controls_name(0), spec.car_name(0), spec.public_name(0), spec.SIM_STATE_V1):
        with (tmp_path / name).open("w+b"):  # cuts it to nothing
            pass
    session.tick(20)
    assert session.plant.bodies[0].controls.throttle == 0.5  # the last good ones hold
    assert published(session).packet_id == 40
    assert session.host.counters()["rejected"] > 0
    session.close()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["gas", "steer", "clutch"])
def test_controls_that_are_no_numbers_are_rejected_whole(session, field, bad):
    page = file_of(session, spec.controls_name(0))
    put(page, **{field: bad})
    session.tick(20)
    assert session.plant.bodies[0].controls == Controls(brake=1.0)  # nothing good yet
    assert session.host.counters()["rejected"] == 1
    put(page, gas=0.5, clutch=1.0)
    session.tick()
    put(page, **{"gas": 1.0, "brake": 0.5, field: bad})
    session.tick(20)
    controls = session.plant.bodies[0].controls
    assert (controls.throttle, controls.brake) == (0.5, 0.0)
    assert session.host.counters()["rejected"] == 2  # once a message, not once a tick
    put(page, gas=0.25, clutch=1.0)
    session.tick()
    assert session.plant.bodies[0].controls.throttle == 0.25


def test_controls_are_clamped(session):
    put(file_of(session, spec.controls_name(0)), gas=5.0, brake=-3.0, steer=-9.0, clutch=2.0)
    session.tick(20)
    c = session.plant.bodies[0].controls
    assert (c.throttle, c.brake, c.steer, c.clutch) == (1.0, 0.0, 1.0, 0.0)


def test_paddles_act_on_the_rising_edge(session):
    page = file_of(session, spec.controls_name(0))
    body = session.plant.bodies[0]

    def press(times=4, **paddles):
        put(page, clutch=1.0, **paddles)
        session.tick(times)
        put(page, clutch=1.0)
        session.tick(40)
        return body.gear

    session.tick(20)
    assert press(gear_up=1) == 1
    assert press(300, gear_up=1) == 2  # held for a second: one shift
    assert press(gear_dn=1) == 1
    assert press(gear_up=1, gear_dn=1) == 1
    assert press(gear_dn=1) == 0
    assert press(gear_dn=1) == -1
    assert press(gear_dn=1) == -1
    for _ in range(10):
        press(gear_up=1)
    assert body.gear == session.plant.cars[0].gearbox.top_gear
    press(gear_dn=1)
    assert body.gear == session.plant.cars[0].gearbox.top_gear - 1  # presses at the top are not stored up


def test_autoshift(session):
    put(file_of(session, spec.controls_name(0)), clutch=1.0, gas=1.0, autoshift_active=1)
    session.tick(20)
    assert session.plant.bodies[0].controls.gear is None


def test_a_page_of_zeros_has_the_clutch_pressed(session):
    page = file_of(session, spec.controls_name(0))
    put(page, gas=1.0, gear_up=1)
    session.tick(100)
    assert session.plant.bodies[0].controls.clutch == 1.0
    assert session.plant.bodies[0].speed == 0.0
    put(page, gas=1.0, autoclutch_on_start=1)
    session.tick(100)
    assert session.plant.bodies[0].speed > 1.0


def test_teleport_is_a_level(session):
    page = file_of(session, spec.controls_name(0))
    put(
        page,
        gas=1.0,
        clutch=1.0,
        autoshift_active=1,
        teleport_to=2,
        teleport_pos=(5.0, 0.0, 30.0),
        teleport_dir=(0.7, 0.0, 0.0),
    )
    session.tick(333)
    body = session.plant.bodies[0]
    assert (body.x, body.y) == pytest.approx((30.0, 5.0), abs=0.01)
    assert body.yaw == pytest.approx(math.pi / 2)
    assert len(session.plant.heard) > 300
    assert page[40] == 2  # never cleared by us
    put(page, gas=1.0, clutch=1.0, autoshift_active=1)
    session.tick(100)
    assert body.y > 5.3
    put(page, clutch=1.0, teleport_to=1)
    session.tick()
    assert (body.x, body.y) == (0.0, 0.0)
    put(page, clutch=1.0, teleport_to=2, teleport_pos=(math.nan, 0.0, 0.0))
    session.tick()
    assert session.host.counters()["rejected"] == 1


def test_pause_freezes_packet_ids(session):
    put(file_of(session, spec.controls_name(0)), clutch=1.0)
    sim = file_of(session, spec.SIM_STATE_V0, 4)
    session.tick(20)
    sim[:4] = bytes([1, 0, 0, 0])
    before = published(session).packet_id
    session.tick(100)
    assert published(session).packet_id == before
    sim[:4] = bytes(4)
    session.tick(3)
    assert published(session).packet_id == before + 3


def test_restart_acts_on_the_rising_edge(session):
    sim = file_of(session, spec.SIM_STATE_V1, 8)
    sim[:8] = struct.pack("<4Bf", 0, 1, 0, 0, 1.0)
    session.tick(100)
    assert [i for i, c in session.plant.heard if c.restart] == [0, 1]
    sim[1] = 0
    session.tick()
    sim[1] = 1
    session.tick(5)
    assert len(session.plant.heard) == 4


def test_v1_wins_over_v0_and_a_time_scale_of_zero_is_one(session):
    file_of(session, spec.SIM_STATE_V0, 4)[0] = 1
    sim = file_of(session, spec.SIM_STATE_V1, 8)
    session.tick(20)
    assert not session.host.paused
    step = 1 / 333
    assert session.host.wall_period == pytest.approx(step)
    for scale, expected in ((10.0, step / 10), (-1.0, step), (math.nan, step), (math.inf, step), (0.5, 2 * step)):
        sim[4:8] = struct.pack("<f", scale)
        session.tick()
        assert session.host.wall_period == pytest.approx(expected)


def test_extra_sleep_is_a_sleep_after_every_step(session):
    sim = file_of(session, spec.SIM_STATE_V1, 8)
    sim[:8] = struct.pack("<4Bf", 0, 0, 0, 7, 2.0)
    session.tick()
    assert session.host.wall_period == pytest.approx(0.5 / 333 + 0.007)


def test_a_second_host_is_refused_in_one_line(session):
    with pytest.raises(SimulatorError, match="another Assetto Corsa host has these shared-memory names") as error:
        Host(FakePlant(), doors=session.doors).open(0.0)
    assert "\n" not in str(error.value)
    assert str(session.folder) in str(error.value)
    session.tick(20)  # the first one does not mind
    assert (session.folder / spec.public_name(0)).exists()


def test_a_world_of_another_rate_is_refused(tmp_path):
    plant = FakePlant()
    plant.period = 0.01
    with pytest.raises(SimulatorError, match="the world's period is not the game's"):
        Host(plant, doors=tmp_path).open(0.0)


CLIENT = """
import sys, time
from trailbrake.sims.assetto.link import Link
from trailbrake.state import Controls
link = Link(doors=sys.argv[1])
link.open(0.0)
link.write(Controls(throttle=0.75))
print("driving", flush=True)
time.sleep(60)
"""


def test_a_killed_client_of_ours_hands_the_car_back(session):
    with subprocess.Popen([sys.executable, "-c", CLIENT, str(session.folder)], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline().split() == [b"driving"]
        session.tick(20)
        assert session.plant.bodies[0].controls.throttle == 0.75
        child.kill()
    session.tick(20)  # within 0.1 s
    assert session.plant.bodies[0].controls == Controls(brake=1.0)
    assert session.host.taken == [False, False]
    session.host.close()
    session.start_host()  # a host that comes later does not wake the dead either
    session.tick(20)
    assert session.host.taken == [False, False]
    if sys.platform != "win32":  # a section dies with its holder
        # A stranger who takes over the page that was left behind is alive as soon as he writes.
        with (session.folder / spec.controls_name(0)).open("r+b") as page:
            page.write(codec.encode_controls(codec.CarControls(gas=0.25, clutch=1.0)))
        session.tick()
        assert session.plant.bodies[0].controls.throttle == 0.25
    link = session.connect()
    session.drive(link, Controls(throttle=0.5), 20)
    assert session.plant.bodies[0].controls.throttle == 0.5


def test_counters(session):
    page = file_of(session, spec.controls_name(0))
    put(page, clutch=1.0)
    session.tick(1)
    for i in range(10):
        put(page, clutch=1.0, gas=i / 10)
        session.tick()
    counts = session.host.counters()
    assert counts["messages_in"] == 10  # a message is a change
    assert counts["bytes_in"] == 720
    assert counts["bytes_out"] == 11 * 672 + (counts["messages_out"] - 11) * 104
    assert (counts["rejected"], counts["torn"]) == (0, 0)


STRANGER = """
import mmap, sys, time
with open(sys.argv[1], "w+b") as file:
    file.truncate(72)
    page = mmap.mmap(file.fileno(), 72)
page[0:4] = bytes.fromhex("0000003f")  # gas 0.5
page[8:12] = bytes.fromhex("0000803f")  # clutch released
print("driving", flush=True)
time.sleep(60)
"""


@on_linux  # the stranger is a file's
def test_a_killed_stranger_hands_the_car_back_and_gets_it_again(session):
    name = session.folder / spec.controls_name(0)

    def start():
        child = subprocess.Popen([sys.executable, "-c", STRANGER, str(name)], stdout=subprocess.PIPE)
        assert child.stdout.readline().split() == [b"driving"]
        return child

    with start() as child:
        session.tick(20)
        assert session.plant.bodies[0].controls.throttle == 0.5
        child.kill()
    session.tick(20)  # 60 ms
    assert session.plant.bodies[0].controls == Controls(brake=1.0)
    assert session.host.taken == [False, False]
    assert session.said == ["car 0: its client is gone without a word; the car is taken from it"]
    assert name.exists()
    with start() as child:  # the same again, with the same controls to the bit
        session.tick(20)
        assert session.host.taken == [True, False]
        assert session.plant.bodies[0].controls.throttle == 0.5
        child.kill()


def test_a_client_who_holds_still_is_alive(session):
    page = file_of(session, spec.controls_name(0))
    put(page, gas=0.5, clutch=1.0)
    session.tick(2000)
    assert session.host.taken == [True, False]
    assert session.plant.bodies[0].controls.throttle == 0.5
    assert session.said == []


def test_buttons_reach_the_car(session):
    page = file_of(session, spec.controls_name(0))
    own = session.plant.cars[0].brakes.front_share
    put(page, clutch=1.0, brake_balance_dn=1, abs_dn=1, tc_dn=1, engine_brake_dn=1)
    session.tick(20)
    put(page, clutch=1.0)
    session.tick()
    put(page, clutch=1.0, abs_dn=1)
    session.tick(20)
    c = session.plant.bodies[0].controls
    assert (c.brake_bias, c.abs_level) == (pytest.approx(own - 0.01), 0.8)
    assert (c.tc_level, c.engine_brake_level) == (0.9, 0.9)
    assert math.isnan(c.turbo_level)
    assert (c.drs, c.boost) == (0.0, 0.0)
    put(page, clutch=1.0, drs=1, kers=1)
    session.tick()
    c = session.plant.bodies[0].controls
    assert (c.drs, c.boost, c.abs_level) == (1.0, 1.0, 0.8)


def test_what_a_car_has_not_is_said_once(session):
    page = file_of(session, spec.controls_name(0))
    for _ in range(3):
        put(page, clutch=1.0, headlights=1, mguh_mode=2)
        session.tick(20)
        put(page, clutch=1.0)
        session.tick(20)
    assert session.said == [
        "car 0: its client asks for mguh_mode, which gt3 has not: ignored",
        "car 0: its client asks for headlights, which gt3 has not: ignored",
    ]
    assert session.host.counters()["ignored"] == ["car 0: mguh_mode", "car 0: headlights"]


def test_collisions_are_a_level(session):
    sim = file_of(session, spec.SIM_STATE_V0, 4)
    sim[2] = 1
    session.tick(30)
    sim[2] = 0
    session.tick(30)
    assert [c.collisions for _, c in session.plant.heard] == [False, True]


def test_a_restart_takes_settings_back(session):
    page, sim = file_of(session, spec.controls_name(0)), file_of(session, spec.SIM_STATE_V0, 4)
    put(page, clutch=1.0, abs_dn=1)
    session.tick(20)
    assert session.plant.bodies[0].controls.abs_level == 0.9
    sim[1] = 1
    session.tick()
    assert math.isnan(session.plant.bodies[0].controls.abs_level)


def test_pilots_drive_what_nobody_has_taken(tmp_path):
    seen = {0: [], 1: []}

    def pilot(car):
        def drive(state, dt):
            seen[car].append((dt, [other.index for other in state.others]))
            return Controls(throttle=0.5, gear=1)

        return drive

    session = Session(tmp_path, cars=2, pilots=[pilot(0), pilot(1)])
    session.tick(100)
    assert [body.speed > 0.5 for body in session.plant.bodies] == [True, True]
    assert [dt for dt, _ in seen[0]] == [0.0, *[1 / 333] * 99]
    assert seen[0][50][1] == [1]
    page = file_of(session, spec.controls_name(0))
    put(page, brake=1.0)
    session.tick(20)
    assert session.plant.bodies[0].controls.brake == 1.0
    assert session.plant.bodies[1].controls.throttle == 0.5
    page.close()
    (session.folder / spec.controls_name(0)).unlink()
    session.tick(20)
    assert session.plant.bodies[0].controls.throttle == 0.5  # given back to its pilot,
    assert [dt for dt, _ in seen[0]].count(0.0) == 2  # who is told that time has passed
    session.close()


def test_a_pilot_per_car_or_none(tmp_path):
    with pytest.raises(ValueError, match="no pilots, or one for each of 1 cars, got 2"):
        Host(FakePlant(), doors=tmp_path, pilots=[print, print])


def test_what_a_client_has_mapped_reads_on_after_the_host_has_gone(session):
    put(file_of(session, spec.controls_name(0)), gas=0.5, clutch=1.0)
    session.tick(50)
    car = seen(session.folder / spec.car_name(0))
    last = car[:672]
    assert codec.decode_car(last).packet_id == 50
    session.host.close()
    assert car[:672] == last  # stale: judged by packet_id alone
    session.start_host()  # a new start finds the controls and hijacks the car at once
    session.tick(20)
    assert session.plant.bodies[0].controls.throttle == 0.5
    assert published(session).packet_id == 20


def test_frames_follow_the_wall_clock(session):
    session.plant.period = 1 / 333
    for step in range(333):  # time scale 10: the wall clock goes a tenth as far
        session.host.tick(step / 3330)
    data = (session.folder / spec.public_name(0)).read_bytes()
    assert codec.decode_public(data).packet_id == pytest.approx(1 + 6, abs=1)
