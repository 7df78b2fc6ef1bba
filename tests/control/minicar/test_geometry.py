import math

from trailbrake.control.minicar import geometry


def test_the_car_is_the_page_s():
    # Protocol page formula-trend, section 4: 40 degrees of lock, a wheelbase of some 0.2 m, stuck below 0.04 m/s.
    assert math.degrees(geometry.LOCK) == 40.0
    assert (geometry.WHEELBASE, geometry.STUCK_SPEED) == (0.2, 0.04)
    assert geometry.WHEELBASE < geometry.NOSE < 0.25
