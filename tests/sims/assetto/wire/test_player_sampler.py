"""The player's car from the classic pages, against the state that our host published on them."""

import math
import random
import struct

import pytest
from helpers.assetto.circle_world import serve_circle
from helpers.assetto.client_pages import file_of, put
from helpers.assetto.foreign_pages import let_go
from helpers.roads import follow_circle

from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.player_sampler import PlayerSampler, state_from_pages
from trailbrake.state import Phase
from trailbrake.state.tables import STATE_COLUMNS, state_row
from trailbrake.transport.shm import SharedMemory


def test_any_bytes_are_a_state():
    rng = random.Random(0)
    for odd in (0.0, 1.0, 3e38, math.nan, math.inf, -math.inf, None):
        for _ in range(40):
            page = rng.randbytes(acpmf.PHYSICS_SIZE)
            if odd is not None:
                page = b"".join(
                    struct.pack("<f", odd) if rng.random() < 0.5 else page[k : k + 4] for k in range(0, len(page), 4)
                )
            state_from_pages(acpmf.decode_physics(page), acpmf.Graphics())


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
