"""The host in front of strangers: clients as the protocol page describes them, made of plain files."""

import math
import os
import struct
import sys

import pytest
from helpers.assetto.circle_world import serve_circle
from helpers.assetto.client_pages import file_of, published, put
from helpers.assetto.foreign_pages import let_go, pages, seen
from helpers.assetto.small_world import FakePlant, Session
from helpers.roads import follow_circle

from trailbrake import roles
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.host import Host
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.state import Controls

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page is a file there")


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
    assert session.host.read_counters()["rejected"] > 0
    session.close()


def test_pause_freezes_packet_ids(session):
    put(file_of(session, spec.controls_name(0)), clutch=1.0)
    sim = file_of(session, spec.SIM_STATE_V0, 4)
    session.tick(20)
    sim[:4] = bytes([1, 0, 0, 0])
    before = published(session).packet_id
    session.tick(100)
    assert published(session).packet_id == before
    assert sum("a program requests a pause" in text for text in session.said) == 1
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


@pytest.mark.parametrize(("scale", "used"), [(1e-30, 1e-3), (1e-5, 1e-3), (1e30, 100.0)])
def test_a_time_scale_out_of_range_is_limited_and_said_once(session, scale, used):
    sim = file_of(session, spec.SIM_STATE_V1, 8)
    session.tick(20)
    sim[:8] = struct.pack("<4Bf", 0, 0, 0, 255, scale)
    session.tick()
    assert session.host.wall_period == pytest.approx(1 / 333 / used + 0.255)
    sim[:8] = struct.pack("<4Bf", 0, 0, 0, 0, scale)
    session.tick(2)
    assert session.said == [
        f"SimState: time_scale {scale:.4g} is out of range, expected 0.001 to 100: {used:g} is used"
    ]


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


def test_counters(session):
    page = file_of(session, spec.controls_name(0))
    put(page, clutch=1.0)
    session.tick(1)
    for i in range(10):
        put(page, clutch=1.0, gas=i / 10)
        session.tick()
    counts = session.host.read_counters()
    assert counts["messages_in"] == 10  # a message is a change
    assert counts["bytes_in"] == 720
    assert counts["bytes_out"] == acpmf.STATIC_SIZE + 11 * 672 + (counts["messages_out"] - 12) * 104
    assert (counts["rejected"], counts["torn"]) == (0, 0)


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


def test_traffic_drives_the_cars_without_a_client(tmp_path):
    seen = {0: [], 1: []}

    def traffic_driver(car):
        def drive(state, dt):
            seen[car].append((dt, [other.index for other in state.others]))
            return Controls(throttle=0.5, gear=1)

        return drive

    session = Session(tmp_path, cars=2, traffic=[traffic_driver(0), traffic_driver(1)])
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


@pytest.mark.skipif(sys.platform == "win32", reason="a section that is held cannot be removed there")
@pytest.mark.parametrize("name", [spec.public_name(1), "acpmf_graphics"])
def test_a_host_whose_pages_are_removed_says_so_and_ends(tmp_path, name):
    """As by a cleaner of /dev/shm: no client would find it, and it would serve nobody for ever."""
    session = Session(tmp_path, cars=2, classic=True)
    session.tick(20)
    (session.folder / name).unlink()
    with pytest.raises(
        SimulatorError, match=rf"{name}: another program has removed a page of this host; start it again"
    ):
        session.tick(20)
    session.close()


def test_a_pilot_per_car_or_none(tmp_path):
    with pytest.raises(ValueError, match="no traffic, or a driver for each of 1 cars, got 2"):
        Host(FakePlant(), doors=tmp_path).set_traffic([print, print])


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


def test_a_lap_after_a_teleport_begins_at_the_line(tmp_path):
    """A learner's environment puts the car before the line and takes completedLaps for the end of an episode."""
    served = serve_circle(tmp_path)
    page = file_of(served, spec.controls_name(0))
    road = served.world.track.road
    x, y, z, yaw = road.points(road.length - 60.0, 0.0)[0].tolist()
    put(page, teleport_to=2, teleport_pos=(y, z, x), teleport_dir=(math.sin(yaw), 0.0, math.cos(yaw)))
    served.tick(20)
    shown, crossings = [], []
    while len(crossings) < 2:
        before = published(served)
        state = served.world.car_state(0)
        wish = follow_circle(state, road)
        put(page, gas=wish.throttle, clutch=1.0, steer=-wish.steer, autoshift_active=1)
        served.tick()
        after = published(served)
        if after.spline_position < before.spline_position - 0.5:
            crossings.append(after.packet_id / 333.0)
            served.tick(10)
            graphics = acpmf.decode_graphics((served.folder / acpmf.GRAPHICS_NAME).read_bytes())
            shown.append((graphics.completed_laps, graphics.i_last_time, published(served).best_lap_time_ms))
        assert after.packet_id < 333 * 60
    assert shown[0] == (0, 0, 0)
    laps, last, best = shown[1]
    assert (laps, last) == (1, best)
    # The time of the lap is that between its two crossings of the spline, which is seen to a step.
    assert last * 1e-3 == pytest.approx(crossings[1] - crossings[0], abs=1.01 / 333)
    served.host.close()
    let_go()


def test_a_target_beyond_the_walls_is_said_once_and_an_absurd_one_refused(tmp_path):
    served = serve_circle(tmp_path)
    page = file_of(served, spec.controls_name(0))
    put(page, teleport_to=2, teleport_pos=(0.0, 0.0, 400.0), teleport_dir=(1.0, 0.0, 0.0))
    served.tick(100)
    (line,) = served.said
    assert "car 0: its client put it to x 400.0, y 0.0 (our world), beyond the walls: it stands" in line
    there = published(served).position
    for place in (1e30, math.nan, math.inf, -2e6):
        put(page, teleport_to=2, teleport_pos=(place, 0.0, 0.0), teleport_dir=(1.0, 0.0, 0.0))
        served.tick(2)
    assert published(served).position == pytest.approx(there, abs=0.05)
    assert served.host.read_counters()["rejected"] == 4
    assert len(served.said) == 2
    assert "controls of its client are not used, the last good ones stay: a teleport to nowhere" in served.said[1]
    served.host.close()
    let_go()


def test_a_target_far_off_the_track_is_said_once_and_not_obeyed(tmp_path):
    served = serve_circle(tmp_path)
    page = file_of(served, spec.controls_name(0))
    put(page, clutch=1.0)
    served.tick(20)
    there = published(served).position
    for _ in range(2):
        put(page, brake=1.0, clutch=1.0, teleport_to=2, teleport_pos=(0.0, 0.0, 9e5), teleport_dir=(1.0, 0.0, 0.0))
        served.tick(50)
        put(page, brake=1.0, clutch=1.0)
        served.tick(2)
    assert published(served).position == pytest.approx(there, abs=0.05)
    assert published(served).brake == 1.0  # the controls beside it are good
    (line,) = served.said
    assert line.endswith(
        "its client puts it to x 900000, y 0 (our world): expected a place within 1000 m of the track; the car stays "
        "where it is"
    )
    served.host.close()
    let_go()


@on_linux
@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
@pytest.mark.parametrize("name", [spec.controls_name(0), spec.SIM_STATE_V1, spec.DEBUG_LINES])
def test_a_page_that_is_no_page_is_said_once_and_the_host_serves_on(tmp_path, monkeypatch, kind, name):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    session = Session(tmp_path, cars=2, private=False)
    put(file_of(session, spec.controls_name(1)), gas=0.5, clutch=1.0)
    session.tick(20)
    place = tmp_path / name
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        (tmp_path / "elsewhere").write_bytes(bytes(4096))
        place.symlink_to(tmp_path / "elsewhere")
    session.tick(60)
    assert session.plant.bodies[1].controls.throttle == 0.5
    assert session.plant.bodies[0].controls == Controls(brake=1.0)
    (line,) = session.said
    assert name in line
    place.rmdir() if kind == "folder" else place.unlink()
    if name == spec.controls_name(0):
        put(file_of(session, name), gas=0.25, clutch=1.0)
        session.tick(20)
        assert session.plant.bodies[0].controls.throttle == 0.25
    session.close()


@pytest.mark.parametrize("refuse", ["disabled", "track"])
def test_a_session_without_custom_ai_has_no_page_of_it(tmp_path, refuse):
    served = serve_circle(tmp_path, refuse=refuse)
    put(file_of(served, spec.controls_name(0)), gas=1.0, clutch=1.0)
    sim = file_of(served, spec.SIM_STATE_V0, 4)
    sim[0] = 1
    served.tick(100)
    assert not served.host.paused
    assert not any((served.folder / name).exists() for name in (spec.car_name(0), spec.public_name(0)))
    graphics = acpmf.decode_graphics((served.folder / acpmf.GRAPHICS_NAME).read_bytes())
    assert graphics.status == acpmf.LIVE  # the game runs, and nothing else tells
    assert served.said == [f"car 0: a client requests it, and does not get it: {spec.REFUSALS[refuse]}"]
    served.host.close()
    let_go()


def test_a_remote_player_s_car_is_refused_and_the_player_s_is_not(tmp_path):
    served = serve_circle(tmp_path, refuse="remote", cars=2)
    for car in range(2):
        put(file_of(served, spec.controls_name(car)), gas=1.0, clutch=1.0)
    served.tick(100)
    assert [(served.folder / spec.car_name(car)).exists() for car in range(2)] == [True, False]
    assert (served.folder / spec.public_name(1)).exists()
    assert acpmf.decode_static((served.folder / acpmf.STATIC_NAME).read_bytes()).is_online == 1
    assert served.said == ["car 1: a client requests it, and does not get it: it is a remote player's"]
    served.host.close()
    let_go()
    with pytest.raises(UsageError, match="expected --cars 2 or more"):
        spec.ServeOptions(refuse="remote")


def test_an_old_patch_reads_the_first_version_of_sim_state_alone(tmp_path):
    served = serve_circle(tmp_path, old_patch=True)
    new, old = file_of(served, spec.SIM_STATE_V1, 8), file_of(served, spec.SIM_STATE_V0, 4)
    new[:8] = struct.pack("<4Bf", 1, 0, 0, 0, 10.0)
    served.tick(20)
    assert not served.host.paused
    assert served.host.time_scale == 1.0
    old[3] = 7
    served.tick(20)
    assert served.host.wall_period == pytest.approx(1 / 333 + 0.007)
    old[0] = 1
    served.tick()
    assert served.host.paused
    served.host.close()
    let_go()
