import numpy as np
import pytest
from trailbrake.kernels.lanes import LANES
from trailbrake.world.pack import pack

from trailbrake.cars.load import load as load_car
from trailbrake.cars.load import names
from trailbrake.tracks.load import load
from trailbrake.units import G
from trailbrake.world.batch import Batch
from trailbrake.world.layout import Axle, Control, Param, State
from trailbrake.world.randomise import Scaling, scaled


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("heat", [False, True])
def test_rows_are_those_of_a_file_with_the_scaled_values(name, heat):
    car = load_car(name)
    rng = np.random.default_rng(1)
    cars = np.array([1, 4, 9])
    mass, grip, stiffness = rng.uniform(0.7, 1.6, (3, len(cars)))
    blocks = np.zeros((2, Axle.COUNT * LANES)) if LANES == 8 else np.zeros((10, Axle.COUNT * LANES))
    before = pack(car, heat=heat)
    view = blocks.reshape(len(blocks), Axle.COUNT, LANES)
    view[:, Control.COUNT :] = before[None, :, None]
    scaling = Scaling(car, heat=heat)
    for _ in range(2):  # always from the nominal car, not from what was there before
        scaling.apply(blocks, cars, mass, grip, stiffness)
    for k, c in enumerate(cars):
        wanted = pack(scaled(car, mass[k], grip[k], stiffness[k]), heat=heat)
        assert view[c // LANES, Control.COUNT :, c % LANES] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    untouched = np.delete(np.arange(len(blocks) * LANES), cars)
    assert (view[untouched // LANES, Control.COUNT :, untouched % LANES] == before).all()


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
    Scaling(car).apply(batch.blocks, cars, np.array([1.0, 1.3, 1.0]), np.array([1.0, 1.0, 0.6]), np.ones(n))
    x, y, _, yaw = road.points(50.0)[0]
    batch.place(cars, np.full(n, x), np.full(n, y), np.full(n, yaw), np.full(n, 30.0))
    batch.set(Control.BRAKE, np.ones(n))
    slowest = np.full(n, np.inf)
    for _ in range(100):
        batch.step(0.001, 10)
        slowest = np.minimum(slowest, batch.get(State.AX))
    assert batch.get(Param.MASS)[1] == pytest.approx(1.3 * car.body.mass)
    stopped = 30.0 - batch.get(State.VX)
    assert stopped[2] < 0.75 * stopped[0]
    for _ in range(600):
        batch.step(0.001, 10)
    load_sum = sum(batch.get(State.LOAD + i) for i in range(4))
    assert load_sum[1] / load_sum[0] == pytest.approx(1.3, rel=0.02)
    assert load_sum[0] == pytest.approx(car.body.mass * G, rel=0.03)
