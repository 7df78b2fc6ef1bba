import math

import numpy as np
import pytest

from trailbrake.cars.car_library import car_names, load_car


def axle_moment(links, tyre, track, angle):
    """Return the moment (N m) that rolls an axle by `angle`: force balance of wheel and tyre, solved for its travel.

    Left side up by a = angle * track / 2. Per wheel: the spring's travel t and the tyre's deflection add up to a,
    spring and bar pull on the wheel what the tyre gives.
    """
    a = 0.5 * track * math.tan(angle)
    # Unknowns: travel left, travel right. Spring k t_l + bar (t_l - t_r) = tyre (a - t_l); right side: -a.
    k, b, c = links.spring_rate, links.anti_roll_rate, tyre.vertical_stiffness
    left, right = np.linalg.solve([[k + b + c, -b], [-b, k + b + c]], [c * a, -c * a])
    return 0.5 * track * (c * (a - left) - c * (-a - right))


@pytest.mark.parametrize("name", car_names())
def test_roll_stiffness_is_the_moment_that_rolls_an_axle(name):
    car = load_car(name)
    small = 1e-5
    front = axle_moment(car.suspension_front, car.tyre_front, car.body.track_front, small) / small
    rear = axle_moment(car.suspension_rear, car.tyre_rear, car.body.track_rear, small) / small
    assert car.roll_stiffness_front == pytest.approx(front, rel=1e-6)
    assert car.roll_stiffness_rear == pytest.approx(rear, rel=1e-6)
    assert car.roll_stiffness_front_share == pytest.approx(front / (front + rear))
