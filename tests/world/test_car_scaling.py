import numpy as np
import pytest

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.tracks.track_library import load_track
from trailbrake.units import G
from trailbrake.world.batch import Batch
from trailbrake.world.car_scaling import CarScaling, scale_car
from trailbrake.world.param_packing import pack_car
from trailbrake.world.row_layout import AxleRow, ControlRow, ParamRow, StateRow, WorkRow


@pytest.mark.parametrize("name", car_names())
@pytest.mark.parametrize("heat", [False, True])
def test_rows_are_those_of_a_file_with_the_scaled_values(name, heat):
    car = load_car(name)
    rng = np.random.default_rng(1)
    cars = np.array([1, 4, 9])
    mass, grip, stiffness = rng.uniform(0.7, 1.6, (3, len(cars)))
    batch = Batch(load_track("proving_ground"), [car], 10, tyre_heat=heat)
    before = pack_car(car, tyre_heat=heat)
    scaling = CarScaling(car, tyre_heat=heat)
    for _ in range(2):  # always from the nominal car, not from what was there before
        scaling.scale_cars(batch, cars, mass, grip, stiffness)
    rows = np.arange(WorkRow.COUNT, AxleRow.COUNT)
    found = np.stack([batch.get_param(int(row)) for row in rows])
    for k, c in enumerate(cars):
        wanted = pack_car(scale_car(car, mass[k], grip[k], stiffness[k]), tyre_heat=heat)
        assert found[:, c] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert (np.delete(found, cars, axis=1) == before[:, None]).all()


def test_what_a_scaled_car_is():
    car = load_car("gt3")
    other = scale_car(car, mass=1.1, grip=0.8, stiffness=1.25)
    assert other.body.mass == pytest.approx(1.1 * car.body.mass)
    assert other.tyre_front.mu_y == pytest.approx(0.8 * car.tyre_front.mu_y)
    assert np.tan(other.tyre_rear.peak_slip_angle) == pytest.approx(np.tan(car.tyre_rear.peak_slip_angle) / 1.25)
    assert scale_car(car) == car


def test_a_heavier_car_presses_harder_and_one_with_less_grip_brakes_longer():
    car, road = load_car("gt3"), load_track("proving_ground").road
    n = 3
    batch = Batch(load_track("proving_ground"), [car], n)
    cars = np.arange(n)
    CarScaling(car).scale_cars(batch, cars, np.array([1.0, 1.3, 1.0]), np.array([1.0, 1.0, 0.6]), np.ones(n))
    x, y, _, yaw = road.points(50.0)[0]
    batch.place_cars(cars, np.full(n, x), np.full(n, y), np.full(n, yaw), np.full(n, 30.0))
    batch.set_row(ControlRow.BRAKE, np.ones(n))
    slowest = np.full(n, np.inf)
    for _ in range(100):
        batch.step(0.001, 10)
        slowest = np.minimum(slowest, batch.get_row(StateRow.AX))
    assert batch.get_param(ParamRow.MASS)[1] == pytest.approx(1.3 * car.body.mass)
    stopped = 30.0 - batch.get_row(StateRow.VX)
    assert stopped[2] < 0.75 * stopped[0]
    for _ in range(600):
        batch.step(0.001, 10)
    load_sum = sum(batch.get_row(StateRow.LOAD + i) for i in range(4))
    assert load_sum[1] / load_sum[0] == pytest.approx(1.3, rel=0.02)
    assert load_sum[0] == pytest.approx(car.body.mass * G, rel=0.03)
