"""The body's attitude in steady driving, from force and moment balance solved by hand."""

import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.units import G


@pytest.mark.parametrize("name", ["gt3", "hatchback", "sports_awd"])
def test_roll_and_load_transfer_in_steady_cornering(rig, roads, name):
    """Roll angle and each axle's load transfer: springs, bars, tyres and roll centres in one linear system."""
    car = load_car(name)
    car = replace(car, aero=replace(car.aero, lift_area_front=0.0, lift_area_rear=0.0))
    # A differential drives the wheels of an axle unlike, and squat links would make roll of that.
    front, rear = (
        replace(links, anti_squat=0.0, anti_dive=0.0) for links in (car.suspension_front, car.suspension_rear)
    )
    car = replace(car, suspension_front=front, suspension_rear=rear)
    r = rig(car, roads.straight(half_width=2000.0), x=1000.0)
    r.roll_at(20.0)
    for _ in range(333 * 5):
        r.step(steer=0.12 * 0.3 / r.car.steering.max_angle, throttle=min(max(0.3 * (20.0 - r.vx) + 0.1, 0.0), 1.0))
    body = car.body
    assert r.ay > 3.0
    assert np.all(r.four("load") > 200.0)
    # Unknown: roll of the body, and of each axle on its tyres.
    lateral = r.four("fy") + r.four("fx") * np.sin([r.steer, r.steer, 0.0, 0.0])  # small steer: cos is 1 to 1e-3
    shove = np.array([lateral[:2].sum(), lateral[2:].sum()])
    axles = (
        (car.suspension_front, car.tyre_front, body.track_front),
        (car.suspension_rear, car.tyre_rear, body.track_rear),
    )
    springs = [(links.spring_rate + 2.0 * links.anti_roll_rate) * track**2 / 2.0 for links, _, track in axles]
    tyres = [tyre.vertical_stiffness * track**2 / 2.0 for _, tyre, track in axles]
    centres = np.array([links.roll_centre for links, _, _ in axles])
    axis = (centres[0] * body.cg_to_rear + centres[1] * body.cg_to_front) / body.wheelbase
    weight = car.sprung_mass * G * (body.cg_height - axis)
    matrix = np.array([
        [sum(springs) - weight, -springs[0], -springs[1]],
        [springs[0], -(springs[0] + tyres[0]), 0.0],
        [springs[1], 0.0, -(springs[1] + tyres[1])],
    ])  # fmt: skip
    moments = np.array([shove.sum() * body.cg_height - shove @ centres, *(-shove * centres)])
    roll, *on_tyres = np.linalg.solve(matrix, moments)
    assert r.roll == pytest.approx(roll, rel=0.01)
    loads = r.four("load")
    for a, (_, _, track) in enumerate(axles):
        moved = 0.5 * (loads[2 * a + 1] - loads[2 * a])
        assert moved == pytest.approx(tyres[a] * on_tyres[a] / track, rel=0.01)


@pytest.mark.parametrize("anti", [None, 0.0, 1.0])
def test_pitch_in_braking_by_the_share_that_links_carry(rig, roads, anti):
    car = load_car("hatchback")
    if anti is not None:
        front, rear = (replace(links, anti_dive=anti) for links in (car.suspension_front, car.suspension_rear))
        car = replace(car, suspension_front=front, suspension_rear=rear)
    tyres = [replace(tyre, rolling_resistance=0.0) for tyre in (car.tyre_front, car.tyre_rear)]
    aero = replace(car.aero, lift_area_front=0.0, lift_area_rear=0.0, drag_area=0.0)
    car = replace(car, aero=aero, tyre_front=tyres[0], tyre_rear=tyres[1])
    r = rig(car, roads.straight())
    r.roll_at(40.0, gear=0)
    r.run(2.5, gear=0, brake=0.4)
    body = car.body
    pushed = -r.four("fx")[:2].sum(), -r.four("fx")[2:].sum()  # their shares are not quite the brakes': wheels turn too
    moved = sum(pushed) * body.cg_height / body.wheelbase
    assert moved > 500.0
    loads = r.four("load")
    assert loads[:2].sum() == pytest.approx(body.mass * G * body.front_share + moved, rel=2e-3)
    # Travel of each axle's tyres and springs under the load moved to or from it; links carry their share past springs.
    lowered = []
    share = car.brakes.front_share
    for links, tyre, push, part, sign in (
        (car.suspension_front, car.tyre_front, pushed[0], share, 1.0),
        (car.suspension_rear, car.tyre_rear, pushed[1], 1.0 - share, -1.0),
    ):
        change = 0.5 * sign * moved
        carried = 0.5 * sign * links.anti_dive * push / part * body.cg_height / body.wheelbase
        lowered.append(change / tyre.vertical_stiffness + (change - carried) / links.spring_rate)
    pitch = (lowered[0] - lowered[1]) / body.wheelbase
    heave = -(lowered[0] * body.cg_to_rear + lowered[1] * body.cg_to_front) / body.wheelbase
    assert r.pitch == pytest.approx(pitch, rel=0.02)
    assert r.heave == pytest.approx(heave, rel=0.02, abs=2e-5)


def test_a_load_ahead_of_the_middle_makes_no_pitch_of_its_own(rig, roads):
    """Wheels of different weight front and rear: the car still stands level."""
    car = load_car("hatchback")
    heavy = replace(car.suspension_front, unsprung_mass=60.0)
    r = rig(replace(car, suspension_front=heavy), roads.straight(), x=50.0)
    r.run(2.0)
    assert (r.heave, r.pitch) == pytest.approx((0.0, 0.0), abs=1e-9)
