"""The player's car from the classic pages, against the state that our host published on them."""

import math

import pytest
from helpers.assetto.circle_world import serve_circle
from helpers.assetto.client_pages import file_of, put
from helpers.assetto.foreign_pages import let_go
from helpers.roads import follow_circle

from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.player_sampler import PlayerSampler, state_from_pages
from trailbrake.state import Controls, Phase
from trailbrake.state.tables import STATE_COLUMNS, state_row
from trailbrake.transport.shm import SharedMemory


def test_a_driven_car_is_seen_as_it_is_and_nobody_takes_it(tmp_path):
    """A client that is not ours drives round; what the pages show is what the world did."""
    served = serve_circle(tmp_path, cars=2)
    page = file_of(served, spec.controls_name(0))
    counters = LinkCounters()
    sampler = PlayerSampler(SharedMemory(tmp_path), counters)
    assert not sampler.has_new_sample()
    for _ in range(1500):
        wish = follow_circle(served.world.car_state(0), served.world.track.road)
        put(page, gas=wish.throttle, clutch=1.0, steer=-wish.steer, autoshift_active=1)
        served.tick()
    assert sampler.has_new_sample()
    shown, true = sampler.read_state(0.0), served.world.car_state(0)
    assert (counters.received, shown.phase) == (1, Phase.DRIVING)
    tolerances = {"x": 0.6, "y": 0.6, "z": 0.1, "lap_time": 1 / 60, "lap_progress": 0.01, "pitch": 1e-3, "roll": 1e-3}
    shown.max_engine_speed = sampler.reader.read_limiter()  # as the link does
    for column, was, now in zip(STATE_COLUMNS, state_row(true), state_row(shown), strict=True):
        name = "wheels." + column.path[10:] if column.path.startswith("wheels[") else column.name
        if name not in spec.OBSERVED or math.isnan(was) or name in ("time", "sequence", "age", "phase"):
            continue
        assert now == pytest.approx(was, rel=1e-4, abs=tolerances.get(name, 2e-3)), name
    assert shown.wheels[0].disc_temperature == pytest.approx(25.0, abs=1.0)
    assert [other.index for other in shown.others] == [1]
    assert not sampler.has_new_sample()
    served.tick(3)
    assert sampler.read_state(0.01).sequence == shown.sequence + 3
    assert (counters.received, counters.lost) == (2, 2)
    assert sampler.read_state(0.5).phase is Phase.LOST
    sampler.close()
    served.host.close()
    let_go()


def test_signs():
    physics = acpmf.Physics(
        packet_id=333, heading=-1.0, pitch=0.1, roll=0.2, steer_angle=0.5, clutch=1.0, gear=3, cg_height=0.5,
        local_velocity=(1.0, 2.0, 30.0), local_angular_vel=(0.1, 0.2, 0.3), acc_g=(0.5, 0.0, -1.0),
    )  # fmt: skip
    state = state_from_pages(physics, acpmf.Graphics(completed_laps=2, i_current_time=1500, i_best_time=0))
    assert (state.time, state.yaw, state.pitch, state.roll) == (1.0, 1.0, -0.1, 0.2)
    assert (state.steer, state.clutch, state.gear, state.z) == (-0.5, 0.0, 2, 0.5)
    assert (state.velocity_x, state.velocity_y) == (30.0, 1.0)
    assert state.yaw_rate == 0.2  # y of the wire is up
    assert state.acceleration_x == pytest.approx(-9.80665)
    assert (state.lap, state.lap_time) == (3.0, 1.5)
    assert math.isnan(state.best_lap_time)


# A number of section 6 of the page alone, and what it is to us.
READ = [
    ({"packet_id": 333}, "time", 1.0),
    ({"packet_id": 333}, "sequence", 333),
    ({"heading": 0.5}, "yaw", -0.5),
    ({"heading": 4.0}, "yaw", 2.0 * math.pi - 4.0),  # within half a turn
    ({"heading": math.inf}, "yaw", math.nan),
    ({"pitch": 0.5}, "pitch", -0.5),
    ({"roll": 0.5}, "roll", 0.5),
    ({"cg_height": 0.5}, "z", 0.5),
    ({"speed_kmh": 36.0}, "speed", 10.0),
    ({"local_velocity": (4.0, 0.0, 0.0)}, "velocity_y", 4.0),
    ({"local_velocity": (0.0, 4.0, 0.0)}, "velocity_z", 4.0),
    ({"local_velocity": (0.0, 0.0, 4.0)}, "velocity_x", 4.0),
    ({"acc_g": (1.0, 0.0, 0.0)}, "acceleration_y", 9.80665),
    ({"acc_g": (0.0, 1.0, 0.0)}, "acceleration_z", 9.80665),
    ({"acc_g": (0.0, 0.0, 1.0)}, "acceleration_x", 9.80665),
    ({"local_angular_vel": (0.5, 0.0, 0.0)}, "pitch_rate", 0.5),
    ({"local_angular_vel": (0.0, 0.5, 0.0)}, "yaw_rate", 0.5),
    ({"local_angular_vel": (0.0, 0.0, 0.5)}, "roll_rate", 0.5),
    ({"steer_angle": 0.25}, "steer", -0.25),
    ({"steer_angle": 1.5}, "steer", -1.0),
    ({"steer_angle": -1.5}, "steer", 1.0),
    ({"gas": 0.25}, "throttle", 0.25),
    ({"brake": 0.25}, "brake", 0.25),
    ({"clutch": 0.25}, "clutch", 0.75),
    ({"gear": 3}, "gear", 2),
    ({"rpms": 3000}, "engine_speed", 100.0 * math.pi),
    ({"fuel": 25.0}, "fuel_litres", 25.0),
    ({"car_damage": (1.0, 2.0, 9.0, 4.0, 3.0)}, "damage", 9.0),
    ({"abs": 0.1}, "abs_active", 1.0),
    ({"abs": 0.0}, "abs_active", 0.0),
    ({"tc": 0.1}, "tc_active", 1.0),
    ({"tc": 0.0}, "tc_active", 0.0),
    ({"completed_laps": 2}, "lap", 3.0),
    ({"i_current_time": 1500}, "lap_time", 1.5),
    ({"i_best_time": 1500}, "best_lap_time", 1.5),
    ({"i_best_time": 1}, "best_lap_time", 0.001),
    ({"i_best_time": 0}, "best_lap_time", math.nan),
    ({"i_best_time": 0x7FFFFFFF}, "best_lap_time", math.nan),
    ({"normalized_car_position": 0.25}, "lap_progress", 0.25),
]


@pytest.mark.parametrize(("sent", "field", "value"), READ)
def test_each_number_of_the_pages_has_a_field_of_ours(sent, field, value):
    physics = acpmf.Physics(**{name: v for name, v in sent.items() if name in acpmf.Physics._fields})
    graphics = acpmf.Graphics(**{name: v for name, v in sent.items() if name in acpmf.Graphics._fields})
    got = getattr(state_from_pages(physics, graphics), field)
    assert (got, type(got)) == (pytest.approx(value, nan_ok=True), type(value))


@pytest.mark.parametrize("wheel", range(4))
def test_each_wheel_has_its_own_numbers(wheel):
    def four(value, zero=0.0):
        return tuple(value if each == wheel else zero for each in range(4))

    physics = acpmf.Physics(
        tyre_contact_point=four((4.0, 8.0, 12.0), (0.0, 0.0, 0.0)), wheel_angular_speed=four(90.0),
        wheel_load=four(4000.0), camber_rad=four(0.05), wheels_pressure=four(26.0), tyre_core_temperature=four(80.0),
        brake_temp=four(400.0), tyre_wear=four(50.0, 100.0), cg_height=0.5,
    )  # fmt: skip
    state = state_from_pages(physics, acpmf.Graphics())
    assert (state.x, state.y, state.z) == (3.0, 1.0, 2.5), "the middle of the contact points, at the height of the mass"
    wanted = {
        "x": 12.0, "y": 4.0, "z": 8.0, "angular_velocity": 90.0, "load": 4000.0, "pressure": 26.0 * 6894.757293168,
        "camber": 0.05 if wheel % 2 else -0.05, "core_temperature": 80.0, "disc_temperature": 400.0, "wear": 0.5,
    }  # fmt: skip
    for name, value in wanted.items():
        assert [getattr(w, name) for w in state.wheels] == pytest.approx(four(value)), name


def test_a_sampler_counts_samples_losses_and_restarts(tmp_path):
    counters = LinkCounters()
    sampler = PlayerSampler(SharedMemory(tmp_path), counters)
    assert not sampler.has_new_sample()
    empty = sampler.read_state(1.0)
    assert (empty.age, empty.phase, empty.sequence) == (0.0, Phase.LOST, -1)
    page = SharedMemory(tmp_path).create_page(acpmf.PHYSICS_NAME)

    def publish(packet_id):
        page.write(acpmf.encode_physics(acpmf.Physics(packet_id=packet_id)))
        return sampler.has_new_sample()

    page.write(acpmf.encode_physics(acpmf.Physics(packet_id=100)))
    assert not sampler.has_new_sample(), "the page of a dead game looks alike"
    assert publish(103)
    state = sampler.read_state(2.0)
    assert (state.sequence, state.age, state.phase) == (103, 0.0, Phase.DRIVING)
    assert (counters.received, counters.lost, counters.resyncs) == (1, 0, 0), "the first is no loss"
    for packet_id, lost, resyncs in (
        (104, 0, 0),
        (107, 2, 0),
        (50, 2, 1),
        (51, 2, 1),
        (900_000, 2, 2),
        (900_001, 2, 2),
    ):
        assert publish(packet_id)
        assert sampler.read_state(3.0).sequence == packet_id
        assert (counters.lost, counters.resyncs) == (lost, resyncs)
    assert counters.received == 7
    for now, age, phase in ((3.1, 0.1, Phase.DRIVING), (3.25, 0.25, Phase.DRIVING), (3.3, 0.3, Phase.LOST)):
        state = sampler.read_state(now)
        assert (state.age, state.phase, counters.received) == (pytest.approx(age), phase, 7)
    sampler.close()
    page.close(remove=True)
    let_go()


@pytest.mark.parametrize(
    ("packet_ids", "resyncs"), [((100, 900_000), 0), ((100, 101, 900_000), 1), ((100, 101, 50), 1)]
)
def test_a_jump_is_a_restart_from_the_second_sample_on(tmp_path, packet_ids, resyncs):
    page = SharedMemory(tmp_path).create_page(acpmf.PHYSICS_NAME)
    counters = LinkCounters()
    sampler = PlayerSampler(SharedMemory(tmp_path), counters)
    for packet_id in packet_ids:
        page.write(acpmf.encode_physics(acpmf.Physics(packet_id=packet_id)))
        sampler.read_state(1.0)
    assert (counters.received, counters.lost, counters.resyncs) == (len(packet_ids) - 1, 0, resyncs)
    sampler.close()
    page.close(remove=True)
    let_go()


@pytest.mark.parametrize(("status", "phase"), [(acpmf.PAUSE, Phase.PAUSED), (acpmf.LIVE, Phase.LOST)])
def test_a_silence_is_a_pause_where_the_frame_says_so(tmp_path, status, phase):
    memory = SharedMemory(tmp_path)
    written = [memory.create_page(acpmf.PHYSICS_NAME), memory.create_page(acpmf.GRAPHICS_NAME)]
    sampler = PlayerSampler(memory, LinkCounters())
    for packet_id in (1, 2):
        written[0].write(acpmf.encode_physics(acpmf.Physics(packet_id=packet_id)))
        written[1].write(acpmf.encode_graphics(acpmf.Graphics(status=status, completed_laps=4)))
        sampler.has_new_sample()
    state = sampler.read_state(1.0)
    assert (state.lap, sampler.graphics.completed_laps) == (5.0, 4)
    assert sampler.read_state(1.5).phase is phase
    sampler.close()
    for page in written:
        page.close(remove=True)
    let_go()


def test_the_other_cars(session):
    link = session.connect()
    other = session.connect(car=1)
    session.drive(other, Controls(throttle=1.0), 200)
    state = session.drive(link, Controls(), 333)
    assert [o.index for o in state.others] == [1]
    assert state.others[0].x == pytest.approx(session.plant.bodies[1].x, abs=0.5)  # two frame rates late
    assert state.others[0].y == 5.0
