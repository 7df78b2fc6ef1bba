"""The integrator as a whole: order, energy, and that its loops over lanes are vector code."""

import itertools
import math
import platform
import re

import numpy as np
import pytest
from helpers.work_blocks import Block
from msgspec.structs import replace

from trailbrake import kernels
from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import Differential
from trailbrake.kernels import BACKEND, jit, simd
from trailbrake.kernels.lane_blocks import CACHE_LINE_BYTES, LANES
from trailbrake.units import G
from trailbrake.world.batch import Batch
from trailbrake.world.integration import AIR_TEMPERATURE, advance_substep, heat_and_wear_tyre
from trailbrake.world.row_layout import AxleRow, ControlRow, StateRow

PERIOD = 0.004
OUTER_STEP_PERIOD = 0.003


def slalom(roads, name, substeps):
    """Return pose and speeds after a second of slalom at the limit of what is smooth, PERIOD a look."""
    batch = Batch(roads.straight(half_width=500.0), [load_car(name)])
    batch.place_cars(0, 100.0, 0.0, 0.0, 25.0)
    batch.set_row(ControlRow.GEAR, 3.0)
    batch.set_row(ControlRow.THROTTLE, 0.3)
    for k in range(250):
        batch.set_row(ControlRow.STEER, 0.12 * math.sin(2.0 * math.pi * k * PERIOD))
        batch.step(PERIOD / substeps, substeps)
    rows = [
        StateRow.X,
        StateRow.Y,
        StateRow.YAW,
        StateRow.VX,
        StateRow.VY,
        StateRow.YAW_RATE,
        StateRow.ROLL,
        StateRow.PITCH,
    ]
    return batch.view_car(0)[rows].copy()


@pytest.mark.parametrize("name", ["gt3", "hatchback"])
def test_half_the_step_halves_the_error(roads, name):
    truth = slalom(roads, name, 128)
    errors = [np.abs(slalom(roads, name, n) - truth) for n in (4, 8, 16)]
    for coarse, fine in itertools.pairwise(errors):
        # First order against the 128th part: (1 / n - 1 / 128) gives 2.07 and 2.14; some rows cross zero by chance.
        assert np.median(coarse / fine) == pytest.approx(2.1, abs=0.4)
    assert errors[0][:2].max() < 0.05  # m, in 25 m with a millisecond's step
    assert errors[0][3:5].max() < 0.05  # m/s


def lossless():
    """A car that loses nothing: no air, rolling resistance, dampers, engine or links, on grippy straight wheels."""
    car = load_car("gt3")
    small = 1e-9
    links = replace(car.suspension_front, bump_damping=small, rebound_damping=small, toe=0.0, camber=0.0,
                    camber_gain=0.0, anti_dive=0.0, anti_squat=0.0, roll_centre=0.0)  # fmt: skip
    tyre = replace(car.tyre_front, rolling_resistance=0.0, vertical_damping=0.0, camber_thrust=0.0, camber_loss=0.0)
    aero = replace(car.aero, drag_area=0.0, lift_area_front=0.0, lift_area_rear=0.0)
    drive = replace(car.drive, differential_rear=Differential(kind="open"))
    return replace(
        car, suspension_front=links, suspension_rear=links, tyre_front=tyre, tyre_rear=tyre, aero=aero, drive=drive
    )


def test_without_losses_energy_stays(rig, roads):
    """Rolling in neutral up and down a sine of hills, heaving on springs without dampers."""
    from trailbrake.tracks.road import Road
    from trailbrake.tracks.track import Track

    s = np.arange(600) * 2.0
    wave, height = 2.0 * math.pi / 200.0, 3.0
    road = Road.from_columns(
        2.0, False, s, 0 * s, 0 * s, 0 * s, z=height * np.sin(wave * s), grade=height * wave * np.cos(wave * s)
    )
    car = lossless()
    r = rig(car, Track("hills", "", (road,)), x=100.0)
    r.roll_at(25.0, gear=0)
    r.set("heave", 0.01)

    def energy():
        body, unsprung = car.body, car.suspension_front.unsprung_mass
        spins = car.tyre_front.inertia * (r.four("spin") ** 2).sum()
        swing = car.sprung_mass * r.heave_rate**2 + unsprung * (r.four("hop_rate") ** 2).sum()
        travel = r.four("hop") - r.heave + np.repeat([body.cg_to_front, -body.cg_to_rear], 2) * r.pitch
        squash = r.four("ground_height") - r.four("hop")
        held = (
            car.suspension_front.spring_rate * (travel**2).sum() + car.tyre_front.vertical_stiffness * (squash**2).sum()
        )
        return 0.5 * (body.mass * r.vx**2 + spins), body.mass * G * r.z, 0.5 * (swing + held)

    r.step(gear=0)
    begin, seen = sum(energy()[:2]), []
    springs = energy()[2]
    for _ in range(333 * 10):
        r.step(gear=0)
        seen.append(sum(energy()[:2]) - begin)
    assert r.vx > 20.0
    # The hills exchange 79 kJ; a thousandth of that is lost to what a moving plane does not know of its own springs.
    exchanged = 2.0 * height * car.body.mass * G
    assert np.abs(seen).max() < 2e-3 * 0.5 * car.body.mass * 25.0**2
    assert exchanged > 70e3
    assert springs > 5.0


def test_springs_without_dampers_swing_on(rig, roads):
    """Semi-implicit Euler neither feeds nor damps: the swing's height after a hundred swings is that of the first."""
    r = rig(lossless(), roads.straight(), x=100.0)
    r.set("heave", 0.008)
    tops = []
    for part in range(2):
        top = 0.0
        for _ in range(333 * 2):
            r.step(gear=0, brake=1.0)
            top = max(top, r.heave)
        tops.append(top)
        if part == 0:
            r.run(26.0, gear=0, brake=1.0)
    assert tops[1] == pytest.approx(tops[0], rel=0.02)


def step(block, dt):
    """A substep, by itself."""
    advance_substep(block, LANES, dt)


@pytest.mark.slow
@pytest.mark.skipif(
    BACKEND != "numba" or platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 machine code"
)
def test_a_substep_is_vector_code(monkeypatch):
    """Packed double arithmetic, and hardly any scalar: an edit that breaks it costs a factor of three in speed."""
    monkeypatch.setattr(kernels, "CACHE", None)  # code out of the cache cannot be read
    kernel = kernels.lane_jit(step)
    kernel(np.zeros(AxleRow.COUNT * LANES), 0.001)
    code = kernel.inspect_asm(kernel.signatures[0])
    packed = len(re.findall(r"\bv?(?:add|sub|mul|fn?m(?:add|sub)\d+)pd\b", code))
    scalar = len(re.findall(r"\bv?(?:add|sub|mul|fn?m(?:add|sub)\d+)sd\b", code))
    assert packed > 400 * (CACHE_LINE_BYTES // simd.WIDTH)
    assert packed > 100 * scalar


@jit
def _heat(block, period, looks):
    for _ in range(looks):
        heat_and_wear_tyre(block, 1, 2, 0, period)


def test_a_tyre_that_does_not_slide_cools_to_the_air():
    car = load_car("gt3")
    thermal = car.tyre_rear.thermal
    block = Block(car, heat=True)
    block[StateRow.VX], block[StateRow.FX + 2], block[StateRow.FY + 2] = 40.0, 0.0, 0.0
    assert block[StateRow.TEMPERATURE + 2] == thermal.start_temperature
    looks = 20_000
    _heat(block.array, OUTER_STEP_PERIOD, looks)
    rate = (thermal.cooling + thermal.cooling_speed * 40.0) / thermal.heat_capacity
    expected = AIR_TEMPERATURE + (thermal.start_temperature - AIR_TEMPERATURE) * math.exp(
        -rate * OUTER_STEP_PERIOD * looks
    )
    assert block[StateRow.TEMPERATURE + 2] == pytest.approx(expected, abs=0.02)
    assert block[StateRow.WEAR + 2] == 0.0


def test_steady_sliding_warms_and_wears_by_its_power():
    car = load_car("gt3")
    tyre, thermal = car.tyre_rear, car.tyre_rear.thermal
    block = Block(car, heat=True)
    speed, fy, angle = 50.0, -3000.0, 0.05
    block[StateRow.VX], block[StateRow.FY + 2], block[StateRow.FX + 2] = speed, fy, 500.0
    block[StateRow.SLIP_Y + 2] = math.tan(angle) / math.tan(tyre.peak_slip_angle)
    block[StateRow.SLIP_X + 2] = 0.02 / tyre.peak_slip_ratio
    power = (3000.0 * math.tan(angle) + 500.0 * 0.02) * speed
    looks = 10_000
    _heat(block.array, OUTER_STEP_PERIOD, looks)
    cooling = thermal.cooling + thermal.cooling_speed * speed
    steady = AIR_TEMPERATURE + power / cooling
    decay = math.exp(-cooling / thermal.heat_capacity * OUTER_STEP_PERIOD * looks)
    assert block[StateRow.TEMPERATURE + 2] == pytest.approx(
        steady + (thermal.start_temperature - steady) * decay, abs=0.05
    )
    assert block[StateRow.WEAR + 2] == pytest.approx(
        power * OUTER_STEP_PERIOD * looks * thermal.wear_per_joule, rel=1e-9
    )


def test_grip_is_that_of_the_declared_law():
    car = load_car("gt3")
    thermal = car.tyre_rear.thermal
    for temperature, wear in ((thermal.optimal_temperature, 0.0), (40.0, 0.2), (150.0, 0.9), (-20.0, 1.0)):
        block = Block(car, heat=True)
        block[StateRow.TEMPERATURE + 2], block[StateRow.WEAR + 2], block[StateRow.GRIP + 2] = temperature, wear, 0.8
        _heat(block.array, 0.0, 1)
        assert block[StateRow.GRIP + 2] == pytest.approx(0.8 * thermal.grip_factor(temperature, wear))


def test_wear_ends_at_worn_out():
    block = Block(load_car("gt3"), heat=True)
    block[StateRow.WEAR + 2], block[StateRow.VX], block[StateRow.FX + 2], block[StateRow.SLIP_X + 2] = (
        1.0,
        60.0,
        9000.0,
        20.0,
    )
    _heat(block.array, OUTER_STEP_PERIOD, 100)
    assert block[StateRow.WEAR + 2] == 1.0


def slide(roads, heat, car):
    batch = Batch(roads.straight(half_width=500.0), [car], tyre_heat=heat)
    batch.place_cars(0, 500.0, 0.0, 0.0, 40.0)
    batch.set_row(ControlRow.STEER, 0.3)
    batch.set_row(ControlRow.THROTTLE, 0.6)
    grips = []
    for _ in range(500):
        batch.step(0.001, 3)
        grips.append(batch.get_row(StateRow.GRIP, 4)[:, 0])
    return batch, np.array(grips)


def test_heat_is_off_unless_asked_for(roads):
    car = load_car("gt3")
    cold, grips = slide(roads, False, car)
    assert np.all(grips == 1.0)
    warm, grips = slide(roads, True, car)
    thermal = car.tyre_front.thermal
    seen = [
        thermal.grip_factor(t, w)
        for t, w in zip(warm.get_row(StateRow.TEMPERATURE, 4)[:, 0], warm.get_row(StateRow.WEAR, 4)[:, 0], strict=True)
    ]
    assert grips[-1] == pytest.approx(seen)
    assert grips.max() < 1.0
    assert warm.get_row(StateRow.TEMPERATURE, 4).max() > thermal.start_temperature
    assert warm.get_row(StateRow.WEAR, 4).min() > 0.0
    assert warm.get_row(StateRow.VX) != cold.get_row(StateRow.VX)


def test_a_car_without_the_section_keeps_its_grip_with_heat_on(roads):
    car = load_car("gt3")
    bare = replace(
        car, tyre_front=replace(car.tyre_front, thermal=None), tyre_rear=replace(car.tyre_rear, thermal=None)
    )
    _, grips = slide(roads, True, bare)
    assert np.all(grips == 1.0)


def test_a_worn_car_slides_wider(roads):
    def speed_held(wear):
        batch = Batch(roads.straight(half_width=500.0), [load_car("gt3")], tyre_heat=True)
        batch.place_cars(0, 500.0, 0.0, 0.0, 30.0)
        for i in range(4):
            batch.set_row(StateRow.WEAR + i, wear)
            batch.set_row(StateRow.TEMPERATURE + i, 85.0)
        batch.set_row(ControlRow.STEER, 0.35)
        most = 0.0
        for _ in range(300):
            batch.step(0.001, 3)
            most = max(most, float(batch.get_row(StateRow.AY)[0]))
        return most

    loss = load_car("gt3").tyre_front.thermal.wear_loss
    assert speed_held(1.0) / speed_held(0.0) == pytest.approx(1.0 - loss, abs=0.02)
