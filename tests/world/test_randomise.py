import numpy as np
import pytest

from trailbrake.cars.load import load as load_car
from trailbrake.cars.load import names
from trailbrake.tracks.load import load
from trailbrake.units import G
from trailbrake.world.batch import Batch
from trailbrake.world.layout import Axle, Control, Param, State, Work
from trailbrake.world.pack import pack
from trailbrake.world.randomise import Scaling, scaled


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("heat", [False, True])
def test_rows_are_those_of_a_file_with_the_scaled_values(name, heat):
    car = load_car(name)
    rng = np.random.default_rng(1)
    cars = np.array([1, 4, 9])
    mass, grip, stiffness = rng.uniform(0.7, 1.6, (3, len(cars)))
    batch = Batch(load("proving_ground"), [car], 10, heat=heat)
    before = pack(car, heat=heat)
    scaling = Scaling(car, heat=heat)
    for _ in range(2):  # always from the nominal car, not from what was there before
        scaling.apply(batch, cars, mass, grip, stiffness)
    rows = np.arange(Work.COUNT, Axle.COUNT)
    found = np.stack([batch.param(int(row)) for row in rows])
    for k, c in enumerate(cars):
        wanted = pack(scaled(car, mass[k], grip[k], stiffness[k]), heat=heat)
        assert found[:, c] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert (np.delete(found, cars, axis=1) == before[:, None]).all()


def test_what_a_scaled_car_is():
    car = load_car("gt3")
    other = scaled(car, mass=1.1, grip=0.8, stiffness=1.25)
    assert other.body.mass == pytest.approx(1.1 * car.body.mass)
    assert other.tyre_front.mu_y == pytest.approx(0.8 * car.tyre_front.mu_y)
    assert np.tan(other.tyre_rear.peak_slip_angle) == pytest.approx(np.tan(car.tyre_rear.peak_slip_angle) / 1.25)
    assert scaled(car) == car


def test_a_heavier_car_presses_harder_and_one_with_less_grip_brakes_longer():
    car, road = load_car("gt3"), load("proving_ground").road
    n = 3
    batch = Batch(load("proving_ground"), [car], n)
    cars = np.arange(n)
    Scaling(car).apply(batch, cars, np.array([1.0, 1.3, 1.0]), np.array([1.0, 1.0, 0.6]), np.ones(n))
    x, y, _, yaw = road.points(50.0)[0]
    batch.place(cars, np.full(n, x), np.full(n, y), np.full(n, yaw), np.full(n, 30.0))
    batch.set(Control.BRAKE, np.ones(n))
    slowest = np.full(n, np.inf)
    for _ in range(100):
        batch.step(0.001, 10)
        slowest = np.minimum(slowest, batch.get(State.AX))
    assert batch.param(Param.MASS)[1] == pytest.approx(1.3 * car.body.mass)
    stopped = 30.0 - batch.get(State.VX)
    assert stopped[2] < 0.75 * stopped[0]
    for _ in range(600):
        batch.step(0.001, 10)
    load_sum = sum(batch.get(State.LOAD + i) for i in range(4))
    assert load_sum[1] / load_sum[0] == pytest.approx(1.3, rel=0.02)
    assert load_sum[0] == pytest.approx(car.body.mass * G, rel=0.03)
