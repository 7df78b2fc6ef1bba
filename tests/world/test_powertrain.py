"""Differentials, torques from outside and brakes against conservation of angular momentum and Newton's law."""

import numpy as np
import pytest
from helpers.work_blocks import Block
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import Differential
from trailbrake.kernels import jit
from trailbrake.state import WheelTorque
from trailbrake.units import G
from trailbrake.world.powertrain import brake_wheel, drive_wheels
from trailbrake.world.row_layout import ControlRow, StateRow
from trailbrake.world.substep_inputs import prepare_differential, prepare_drivetrain, prepare_wheel

DT = 0.001


@jit
def _ready(block, dt):
    for i in range(4):
        prepare_wheel(block, i // 2, i, 1.0 - 2.0 * (i % 2), 0, dt)
    prepare_differential(block, 0, 0, 1, 0, dt)
    prepare_differential(block, 1, 2, 3, 0, dt)
    prepare_drivetrain(block, 0, dt)


@jit
def _wheels(block):
    drive_wheels(block, 0)


@jit
def _brakes(block):
    for i in range(4):
        brake_wheel(block, i, 0)


def turned(car, spins, torque, ratio=10.0):
    """Return the wheels' spins after DT of `torque` (N m) out of the gearbox."""
    block = Block(car)
    for i in range(4):
        block[StateRow.SPIN + i] = spins[i]
    block[StateRow.RATIO], block[StateRow.GEARBOX_IMPULSE] = ratio, torque * DT
    _ready(block.array, DT)
    _wheels(block.array)
    return block.four(StateRow.SPIN)


def driven(differential, layout="rwd", **more):
    car = load_car("sports_awd")
    ends = {"fwd": ("front",), "rwd": ("rear",), "awd": ("front", "rear")}[layout]
    both = {f"differential_{end}": differential if end in ends else None for end in ("front", "rear")}
    return replace(car, drive=replace(car.drive, layout=layout, centre=more.pop("centre", None), **both, **more))


OPEN = Differential(kind="open")


@pytest.mark.parametrize("layout", ["fwd", "rwd"])
@pytest.mark.parametrize("torque", [800.0, -300.0])
def test_an_open_differential_halves_the_torque_whatever_the_speeds(layout, torque):
    car = driven(OPEN, layout)
    spins = np.array([60.0, 75.0, 58.0, 80.0])
    tyre, on = (car.tyre_front, [0, 1]) if layout == "fwd" else (car.tyre_rear, [2, 3])
    expected = spins.copy()
    expected[on] += 0.5 * torque * DT / tyre.inertia
    assert turned(car, spins, torque) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["spool", "locked"])
def test_a_rigid_axle_turns_as_one_and_keeps_its_momentum(kind):
    car = driven(Differential(kind=kind))
    spins = np.array([60.0, 75.0, 58.0, 80.0])
    after = turned(car, spins, 500.0)
    assert after[2] == pytest.approx(after[3])
    inertia = car.tyre_rear.inertia
    assert inertia * (after[2:].sum() - spins[2:].sum()) == pytest.approx(500.0 * DT)
    assert after[:2].tolist() == [60.0, 75.0]


@pytest.mark.parametrize(("torque", "share"), [(900.0, 0.4), (-400.0, 0.25)])
def test_a_limited_slip_differential_moves_its_preload_and_share_to_the_slower_wheel(torque, share):
    car = driven(Differential(kind="lsd", preload=60.0, lock_power=0.4, lock_coast=0.25))
    spins = np.array([60.0, 60.0, 70.0, 50.0])
    after = turned(car, spins, torque)
    given = (after - spins)[2:] * car.tyre_rear.inertia / DT
    assert given.sum() == pytest.approx(torque)
    assert given[1] - given[0] == pytest.approx(60.0 + share * abs(torque))  # to the right one, which is slower


def test_a_limited_slip_differential_holds_equal_speeds_within_its_lock():
    car = driven(Differential(kind="lsd", preload=60.0, lock_power=0.4, lock_coast=0.25))
    after = turned(car, np.array([60.0, 60.0, 60.01, 59.99]), 900.0)
    assert after[2] == after[3]


def test_coasting_in_reverse_is_known_by_the_gear():
    """In reverse driving torque is negative at the wheels: the power ramp counts then."""
    car = driven(Differential(kind="lsd", preload=0.0, lock_power=0.5, lock_coast=0.0))
    spins = np.array([-5.0, -5.0, -9.0, -1.0])
    given = (turned(car, spins, -600.0, ratio=-10.0) - spins)[2:] * car.tyre_rear.inertia / DT
    assert given[0] - given[1] == pytest.approx(300.0)
    given = (turned(car, spins, 600.0, ratio=-10.0) - spins)[2:] * car.tyre_rear.inertia / DT
    assert given[0] - given[1] == pytest.approx(0.0, abs=1e-9)


def test_the_open_centre_splits_by_its_share():
    car = driven(OPEN, "awd", centre=OPEN, awd_front_share=0.35)
    spins = np.array([60.0, 62.0, 70.0, 75.0])
    after = turned(car, spins, 1000.0)
    front, rear = car.tyre_front.inertia, car.tyre_rear.inertia
    expected = spins + DT * 1000.0 * np.array([0.175 / front, 0.175 / front, 0.325 / rear, 0.325 / rear])
    assert after == pytest.approx(expected)


def test_the_locked_centre_makes_both_axles_turn_alike():
    car = driven(OPEN, "awd", centre=Differential(kind="locked"), awd_front_share=0.35)
    spins = np.array([60.0, 62.0, 70.0, 75.0])
    after = turned(car, spins, 1000.0)
    assert after[:2].mean() == pytest.approx(after[2:].mean())
    inertia = np.array([car.tyre_front.inertia] * 2 + [car.tyre_rear.inertia] * 2)
    assert inertia @ (after - spins) == pytest.approx(1000.0 * DT)
    assert np.diff(after)[[0, 2]] == pytest.approx(np.diff(spins)[[0, 2]])  # within the axles nothing is locked


def test_the_centre_s_lock_moves_no_more_than_it_can_carry():
    car = driven(
        OPEN, "awd", centre=Differential(kind="lsd", preload=80.0, lock_power=0.2, lock_coast=0.2), awd_front_share=0.5
    )
    spins = np.array([60.0, 60.0, 90.0, 90.0])
    given = (turned(car, spins, 1000.0) - spins) * DT**-1
    front, rear = given[:2].sum() * car.tyre_front.inertia, given[2:].sum() * car.tyre_rear.inertia
    assert front + rear == pytest.approx(1000.0)
    assert front - rear == pytest.approx(80.0 + 0.2 * 1000.0)  # as the axles' locks: a difference of torques


def bare(name="gt3"):
    """Return a car that only its torques move: no air, no rolling resistance, no assistants."""
    car = load_car(name)
    front, rear = (replace(tyre, rolling_resistance=0.0) for tyre in (car.tyre_front, car.tyre_rear))
    aero = replace(car.aero, drag_area=0.0, lift_area_front=0.0, lift_area_rear=0.0)
    brakes_ = replace(car.brakes, abs=False, tc=False)
    return replace(car, aero=aero, tyre_front=front, tyre_rear=rear, brakes=brakes_)


def accelerate(r, torques, seconds=0.5):
    """Give torques (4,) N m for `seconds`, half a millisecond a call; return the last tenth's acceleration."""
    for i in range(4):
        r.batch.set_row((ControlRow.DRIVE_TORQUE if torques[i] > 0.0 else ControlRow.BRAKE_TORQUE) + i, abs(torques[i]))
    calls = round(seconds / 0.0005)
    speed = 0.0
    for k in range(calls):
        if k == round(0.9 * calls):
            speed = r.vx
        r.batch.step(0.0005, 1)
    return (r.vx - speed) / (0.1 * seconds)


@pytest.mark.parametrize(
    "torques", [(0, 0, 400, 400), (300, 300, 300, 300), (150, 150, 0, 0), (-500, -500, -300, -300)]
)
def test_torques_from_outside_are_held_and_move_the_car_by_newton_s_law(rig, roads, torques):
    r = rig(bare(), roads.straight(), x=100.0)
    r.roll_at(20.0, gear=0)
    r.batch.set_row(ControlRow.GEAR, 0.0)
    car = r.car
    radii = np.array([car.tyre_front.radius] * 2 + [car.tyre_rear.radius] * 2)
    inertias = np.array([car.tyre_front.inertia] * 2 + [car.tyre_rear.inertia] * 2)
    mass = car.body.mass + (inertias / radii**2).sum()
    expected = (np.array(torques) / radii).sum() / mass
    assert accelerate(r, torques) == pytest.approx(expected, rel=0.01)
    assert abs(r.y) < 1e-9


def test_each_wheel_takes_its_own_torque(rig, roads):
    r = rig(bare(), roads.straight(half_width=500.0), x=100.0)
    r.roll_at(20.0, gear=0)
    r.batch.set_row(ControlRow.GEAR, 0.0)
    accelerate(r, (0.0, 0.0, 0.0, 500.0), 0.4)
    assert r.yaw_rate > 0.01  # the right rear wheel pushes: the car turns left
    fx = r.four("fx")
    assert fx[3] * r.car.tyre_rear.radius == pytest.approx(500.0, rel=0.03)
    assert np.abs(fx[:3]).max() < 30.0


def test_nan_gives_the_wheels_back_to_the_car(rig, roads):
    r = rig("gt3", roads.straight(), x=100.0)
    r.roll_at(20.0, gear=2)
    r.run(0.3, gear=2, throttle=1.0, wheels=(WheelTorque(drive_torque=0.0),) * 4)
    assert r.ax < 0.1  # asked for no torque, whatever the pedal says
    r.run(0.3, gear=2, throttle=1.0)
    assert r.ax > 4.0


def test_controls_bring_torques_to_their_wheels(rig, roads):
    r = rig(bare(), roads.straight(half_width=500.0), x=100.0)
    r.roll_at(20.0, gear=0)
    wheels = [WheelTorque() for _ in range(4)]
    wheels[2:] = WheelTorque(0.0, 300.0), WheelTorque(0.0)  # no torque over the differential
    r.run(0.4, gear=0, wheels=tuple(wheels))
    fx = r.four("fx")
    assert fx[2] * r.car.tyre_rear.radius == pytest.approx(-300.0, rel=0.05)
    assert np.abs(fx[[0, 1, 3]]).max() < 30.0
    assert r.yaw_rate > 0.005  # the left rear wheel holds: the car turns left


def test_brakes_stop_wheels_and_never_turn_them_round():
    car = load_car("gt3")
    block = Block(car)
    spins = [50.0, -50.0, 0.01, 0.0]
    for i in range(4):
        block[StateRow.SPIN + i], block[ControlRow.BRAKE_TORQUE + i], block[StateRow.ABS_FACTOR + i] = (
            spins[i],
            900.0,
            1.0,
        )
        block[StateRow.ROLLING_ARM + i] = 0.005
    _ready(block.array, DT)
    _brakes(block.array)
    front, rear = block[StateRow.LOAD], block[StateRow.LOAD + 2]
    step = DT * (900.0 + 0.005 * front) / car.tyre_front.inertia
    assert rear > front > 2000.0
    assert block.four(StateRow.SPIN) == pytest.approx([50.0 - step, -50.0 + step, 0.0, 0.0])


def test_a_locked_wheel_drags_by_friction_alone(rig, roads):
    """Torques beyond the tyres' grip: all four wheels stand, and deceleration is sliding friction over mass."""
    r = rig(bare(), roads.straight(), x=100.0)
    r.roll_at(25.0, gear=0)
    r.batch.set_row(ControlRow.GEAR, 0.0)
    slowing = -accelerate(r, (-4000.0,) * 4, 0.8)
    assert r.four("spin").tolist() == [0.0] * 4
    tyre = r.car.tyre_front
    assert 0.6 * tyre.mu_x < slowing / G < tyre.mu_x
