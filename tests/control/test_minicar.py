import math

from trailbrake.control import minicar


def test_the_car_is_the_page_s():
    # Protocol page formula-trend, section 4: 40 degrees of lock, a wheelbase of some 0.2 m, stuck below 0.04 m/s.
    assert math.degrees(minicar.LOCK) == 40.0
    assert (minicar.WHEELBASE, minicar.STUCK_SPEED) == (0.2, 0.04)
    assert minicar.WHEELBASE < minicar.NOSE < 0.25
