"""The classic pages of our host, read by the independent decoder of `acpmf`."""

import math

import pytest
from helpers.assetto.foreign_pages import let_go
from helpers.assetto.small_world import Session

from trailbrake.cars.car_library import load_car
from trailbrake.race_control import CarProgress, RaceControl
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.tracks.track import DrsZone


@pytest.fixture
def session(tmp_path):
    made = Session(tmp_path, cars=2, classic=True)
    yield made
    made.close()
    for name in ("physics", "graphics", "static"):
        assert not (made.folder / f"acpmf_{name}").exists()
    let_go()


def page(session, name, decode):
    return decode((session.folder / name).read_bytes())


def physics(session):
    return page(session, "acpmf_physics", acpmf.decode_physics)


def graphics(session):
    return page(session, "acpmf_graphics", acpmf.decode_graphics)


def put(session, **controls):
    (session.folder / spec.controls_name(0)).write_bytes(codec.encode_controls(codec.CarControls(**controls)))


def test_what_stays_the_same(session):
    static, car = page(session, "acpmf_static", acpmf.decode_static), load_car("gt3")
    assert (session.folder / "acpmf_static").stat().st_size == 4096
    assert (static.sm_version, static.num_cars, static.car_model, static.track) == ("1.7", 2, "gt3", "nowhere")
    assert static.max_rpm == round(car.engine.limiter_rpm)
    assert static.max_power == pytest.approx(car.engine.peak_power)
    assert static.tyre_radius == pytest.approx((car.tyre_front.radius,) * 2 + (car.tyre_rear.radius,) * 2)
    assert static.track_spline_length == 1000.0


def test_physics_at_every_step_and_graphics_at_every_frame(session):
    session.tick(333)
    assert physics(session).packet_id == 333  # taken or not
    assert graphics(session).packet_id == 61
    assert graphics(session).status == acpmf.LIVE


def test_physics_say_what_the_car_s_own_page_says(session):
    put(session, gas=0.75, clutch=1.0, steer=0.5, autoshift_active=1)
    session.tick(200)
    told = physics(session)
    car = codec.decode_car((session.folder / spec.car_name(0)).read_bytes())
    assert (told.gas, told.steer_angle, told.gear) == (0.75, 0.5, 2)
    assert told.speed_kmh == car.speed_kmh > 10.0
    assert (told.velocity, told.acc_g, told.local_velocity) == (car.velocity, car.acc_g, car.local_velocity)
    assert told.heading == pytest.approx(-session.plant.bodies[0].yaw)
    assert told.heading > 0.0  # turned right
    assert told.number_of_tyres_out == 0
    assert told.auto_shifter_on == 1
    assert told.is_ai_controlled == 0
    assert told.brake_bias == pytest.approx(load_car("gt3").brakes.front_share)
    assert told.engine_brake == 10
    x, _, z = graphics(session).car_coordinates
    assert (z, x) == pytest.approx((session.plant.bodies[0].x, session.plant.bodies[0].y), abs=0.5)  # a frame ago


def test_tyres_and_sectors_read_as_the_game_s_readers_expect(session):
    """100 is a new tyre for them (a bar turns yellow below 98), a sector's time is its own, and no field is empty."""
    session.tick(40)
    told, shown = physics(session), graphics(session)
    assert told.tyre_wear == (100.0,) * 4
    assert told.tyre_temp_i == told.tyre_temp_m == told.tyre_temp_o == told.tyre_core_temperature
    assert told.road_temp > 0.0
    assert (shown.last_sector_time, shown.split) == (0, "-:--:---")
    assert shown.tyre_compound == "Standard"
    session.host._slots[0].trip_log.last_sector = 33.123
    session.host._slots[0].state.wheels[0].wear = 0.25
    session.tick(40)
    assert (graphics(session).last_sector_time, graphics(session).split) == (33123, "0:33:123")


def test_a_setting_shows(session):
    put(session, clutch=1.0, engine_brake_dn=1, brake_balance_up=1)
    session.tick(20)
    assert physics(session).engine_brake == 9
    assert physics(session).brake_bias == pytest.approx(load_car("gt3").brakes.front_share + 0.01)


def test_pause_is_told_and_freezes_the_steps(session):
    session.tick(20)
    (session.folder / spec.SIM_STATE_V0).write_bytes(b"\1\0\0\0")
    session.tick(20)
    stood = physics(session).packet_id
    session.tick(100)
    assert physics(session).packet_id == stood
    assert graphics(session).status == acpmf.PAUSE
    (session.folder / spec.SIM_STATE_V0).write_bytes(bytes(4))
    session.tick(20)
    assert graphics(session).status == acpmf.LIVE
    assert physics(session).packet_id == stood + 20


def test_in_the_pits_until_it_drives_off(session):
    put(session, clutch=1.0, teleport_to=1)
    session.tick(30)
    assert graphics(session).is_in_pit == 1
    put(session, clutch=1.0, gas=1.0, autoshift_active=1)
    session.tick(200)
    assert session.plant.bodies[0].speed > 3.0
    assert graphics(session).is_in_pit == 0


def test_a_race_shows_its_laps_the_player_s_position_and_flag(session):
    session.plant.race = race = RaceControl(1000.0, 2, laps=1, slots=(1, 0))
    session.host._races = session.plant
    session.tick(10)
    shown = graphics(session)
    assert (acpmf.SESSIONS[shown.session], shown.number_of_laps, shown.position, shown.flag) == ("race", 1, 2, 0)
    for way, laps, flag in ((900.0, 0, 2), (1001.0, 1, 5)):  # yellow before car 1, which has all but stopped
        for speed in (30.0, 2.0):
            race.update(
                9.0, [CarProgress(way, 30.0, laps, 9.0 if laps else math.nan), CarProgress(950.0, speed, 0, math.nan)]
            )
        session.tick(10)
        assert graphics(session).flag == flag
    assert graphics(session).position == 1


def test_rear_wing_and_store_read_as_the_game_s_readers_expect(session):
    put(session, clutch=1.0, drs=1, kers=1)
    session.tick(20)
    car = session.plant.cars[0] = load_car("f1")
    session.host._slots[0].params = car
    session.plant.race = race = RaceControl(1000.0, 2, zones=[DrsZone(0.0, 100.0, 900.0)], hybrids=[car.hybrid] * 2)
    session.host._races = session.plant
    for place, wanted, expected in ((50.0, True, (0, 0, 0.0)), (500.0, False, (1, 0, 0.0)), (500.0, True, (1, 1, 1.0))):
        race.open_wing(0, place, is_wanted=wanted)
        session.tick()
        shown = physics(session)
        assert (shown.drs_available, shown.drs_enabled, shown.drs) == expected
    assert (shown.kers_charge, shown.kers_current_kj, shown.ers_is_charging) == (1.0, 0.0, 0)
    for charge, is_charging in ((2e6, 0), (3e6, 1)):
        race.meters[0].update(charge)
        session.tick()
        shown = physics(session)
        assert (shown.kers_charge, shown.kers_current_kj) == (charge / 4e6, 2000.0)
        assert shown.ers_is_charging == is_charging


def test_lap_times_that_are_not_there_yet(session):
    session.tick(10)
    shown = graphics(session)
    assert (shown.last_time, shown.best_time, shown.i_last_time, shown.completed_laps) == ("-:--:---", "-:--:---", 0, 0)
    assert shown.position == 1
