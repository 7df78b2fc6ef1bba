"""A car of our host and its client, by the bytes of the client's page."""

import math
import subprocess
import sys

import pytest
from helpers.assetto.client_pages import file_of, published, put
from helpers.waiting import HANG

from trailbrake.sims.assetto import codec, spec
from trailbrake.state import Controls
from trailbrake.transport.client_notices import MOST_LINES

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page is a file there")


@pytest.mark.parametrize("size", [64, 68, 72, 76, 256, 4096])
def test_controls_of_any_size(session, size):
    page = file_of(session, spec.controls_name(0), size)
    put(page, gas=0.5, clutch=1.0, steer=0.25, gear_up=1)
    session.tick(100)
    controls = session.plant.bodies[0].controls
    assert (controls.throttle, controls.steer, controls.clutch, controls.gear) == (0.5, -0.25, 0.0, 1)
    assert published(session).packet_id > 80
    assert (session.folder / spec.car_name(0)).stat().st_size == 4096


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
    assert session.host.cars_with_client == [False, False]


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


@pytest.mark.parametrize(("field", "bad"), [("gas", math.nan), ("steer", math.inf), ("clutch", -math.inf)])
def test_controls_that_are_no_numbers_are_rejected_whole(session, field, bad):
    page = file_of(session, spec.controls_name(0))
    put(page, **{field: bad})
    session.tick(20)
    assert session.plant.bodies[0].controls == Controls(brake=1.0)  # nothing good yet
    assert session.host.read_counters()["rejected"] == 1
    put(page, gas=0.5, clutch=1.0)
    session.tick()
    put(page, **{"gas": 1.0, "brake": 0.5, field: bad})
    session.tick(20)
    controls = session.plant.bodies[0].controls
    assert (controls.throttle, controls.brake) == (0.5, 0.0)
    assert session.host.read_counters()["rejected"] == 2  # once a message, not once a tick
    put(page, gas=0.25, clutch=1.0)
    session.tick()
    assert session.plant.bodies[0].controls.throttle == 0.25


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
    assert session.host.read_counters()["rejected"] == 1


CLIENT = f"""
import sys
from trailbrake.sims.assetto.link import Link
from trailbrake.state import Controls
link = Link(doors=sys.argv[1])
link.open(0.0)
link.write(Controls(throttle=0.75))
print("driving", flush=True)
{HANG}
"""


@pytest.mark.slow
def test_a_killed_client_of_ours_hands_the_car_back(session):
    with subprocess.Popen([sys.executable, "-c", CLIENT, str(session.folder)], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline().split() == [b"driving"]
        session.tick(20)
        assert session.plant.bodies[0].controls.throttle == 0.75
        child.kill()
    session.tick(20)  # within 0.1 s
    assert session.plant.bodies[0].controls == Controls(brake=1.0)
    assert session.host.cars_with_client == [False, False]
    session.host.close()
    session.start_host()  # a host that comes later does not wake the dead either
    session.tick(20)
    assert session.host.cars_with_client == [False, False]
    if sys.platform != "win32":  # a section dies with its holder
        # A stranger who takes over the page that was left behind is alive as soon as he writes.
        with (session.folder / spec.controls_name(0)).open("r+b") as page:
            page.write(codec.encode_controls(codec.CarControls(gas=0.25, clutch=1.0)))
        session.tick()
        assert session.plant.bodies[0].controls.throttle == 0.25
    link = session.connect()
    session.drive(link, Controls(throttle=0.5), 20)
    assert session.plant.bodies[0].controls.throttle == 0.5


STRANGER = f"""
import mmap, sys
with open(sys.argv[1], "w+b") as file:
    file.truncate(72)
    page = mmap.mmap(file.fileno(), 72)
page[0:4] = bytes.fromhex("0000003f")  # gas 0.5
page[8:12] = bytes.fromhex("0000803f")  # clutch released
print("driving", flush=True)
{HANG}
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
    assert session.host.cars_with_client == [False, False]
    assert session.said == ["car 0: its client is gone without a word; the car is taken from it"]
    assert name.exists()
    with start() as child:  # the same again, with the same controls to the bit
        session.tick(20)
        assert session.host.cars_with_client == [True, False]
        assert session.plant.bodies[0].controls.throttle == 0.5
        child.kill()


VISITOR = """
import sys
for line in sys.stdin:
    with open(sys.argv[1], "r+b"):
        print("here", flush=True)
        sys.stdin.readline()
    print("gone", flush=True)
"""


@on_linux
def test_a_stranger_who_comes_and_goes_is_no_endless_log(session):
    name = session.folder / spec.controls_name(0)
    file_of(session, spec.controls_name(0)).close()
    with subprocess.Popen([sys.executable, "-c", VISITOR, str(name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          bufsize=0) as child:  # fmt: skip
        for _ in range(3 * MOST_LINES):
            for answer in (b"here", b"gone"):
                child.stdin.write(b"\n")
                assert child.stdout.readline().split() == [answer]
                session.tick(20)
        child.stdin.close()
    assert MOST_LINES <= len(session.said) <= MOST_LINES + 10
    assert set(session.said) == {"car 0: its client is gone without a word; the car is taken from it"}


def test_a_client_who_holds_still_is_alive(session):
    page = file_of(session, spec.controls_name(0))
    put(page, gas=0.5, clutch=1.0)
    session.tick(2000)
    assert session.host.cars_with_client == [True, False]
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
    assert session.host.read_counters()["ignored"] == ["car 0: mguh_mode", "car 0: headlights"]
